"""Rows as JSON, and the shapes that requests must have. No rule of the domain is decided here."""

from __future__ import annotations

from typing import Any

import orjson
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replaycases.accounts.models import Project
from replaycases.cases.intake import INCIDENT_CAP, NAME_CAP, TEXT_CAP, TITLE_CAP
from replaycases.cases.jobs import MAX_SET_SIZE, REASON_CAP
from replaycases.cases.models import (
    Case,
    Comparison,
    Control,
    FixtureRevision,
    Implementation,
    OutcomeType,
    Run,
    RunSet,
)
from replaycases.verdict.sides import FEWEST_RESULTS


class ScopedField(serializers.PrimaryKeyRelatedField[Any]):
    """A reference to a row that the user may see; any other one does not exist."""

    def get_queryset(self) -> Any:
        queryset: Any = super().get_queryset()
        user = self.context["request"].user
        return queryset.visible_to(user) if user.is_authenticated else queryset.none()


class ScopedProjectField(serializers.SlugRelatedField[Project]):
    """A project by its key."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(slug_field="key", queryset=Project.objects.all(), **kwargs)

    def get_queryset(self) -> Any:
        user = self.context["request"].user
        return Project.objects.visible_to(user) if user.is_authenticated else Project.objects.none()

    def to_internal_value(self, data: Any) -> Project:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class DocumentField(serializers.Field[bytes, Any, Any, Any]):
    """A JSON document, in a JSON body or as an uploaded file, given on as bytes. A file's bytes are kept exactly; a
    document in a body is written anew, which keeps its canonical digests."""

    default_error_messages = {"not_a_document": "Send a JSON object or a file."}
    kind: type = dict

    def to_internal_value(self, data: Any) -> bytes:
        if hasattr(data, "read"):
            return bytes(data.read())
        if not isinstance(data, self.kind):
            self.fail("not_a_document")
        return orjson.dumps(data)


@extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": {}}})
class PatchField(DocumentField):
    """A document that is a list of operations."""

    default_error_messages = {"not_a_document": "Send a JSON list of operations or a file."}
    kind = list


class CaseSerializer(serializers.ModelSerializer[Case]):
    project = serializers.SlugRelatedField[Project](slug_field="key", read_only=True)

    class Meta:
        model = Case
        fields = [
            "id",
            "readable_id",
            "project",
            "number",
            "title",
            "incident_id",
            "case_id",
            "trigger",
            "prohibited_outcome",
            "deciding_evidence",
            "stage",
            "current_revision",
            "created_by",
            "created_at",
        ]
        read_only_fields = fields


class NewCaseSerializer(serializers.Serializer[Any]):
    """A failure statement in three parts and a fixture."""

    project = ScopedProjectField()
    title = serializers.CharField(max_length=TITLE_CAP)
    incident_id = serializers.CharField(max_length=INCIDENT_CAP)
    trigger = serializers.CharField(max_length=TEXT_CAP)
    prohibited_outcome = serializers.CharField(max_length=TEXT_CAP)
    deciding_evidence = serializers.CharField(max_length=TEXT_CAP)
    fixture = DocumentField()
    detect = DocumentField(required=False)


class RevisionSerializer(serializers.ModelSerializer[FixtureRevision]):
    size = serializers.IntegerField(source="payload.size", read_only=True)
    classification = serializers.CharField(source="payload.classification", read_only=True)

    class Meta:
        model = FixtureRevision
        fields = [
            "id",
            "case",
            "number",
            "schema_version",
            "fixture_case_id",
            "content_hash",
            "fixture_hash",
            "checks_hash",
            "size",
            "classification",
            "created_by",
            "created_at",
        ]
        read_only_fields = fields


class ControlSerializer(serializers.ModelSerializer[Control]):
    """`mutated_hash` is empty for a control without a mutation: no verdict counts that one as passed."""

    size = serializers.IntegerField(source="payload.size", read_only=True)
    classification = serializers.CharField(source="payload.classification", read_only=True)

    class Meta:
        model = Control
        fields = [
            "id",
            "revision",
            "name",
            "outcome_type",
            "fixture_hash",
            "checks_hash",
            "mutated_hash",
            "size",
            "classification",
        ]
        read_only_fields = fields


class NewControlSerializer(serializers.Serializer[Any]):
    """A neighbouring fixture on which the new version must hold, and the mutation under which it must turn red."""

    revision = ScopedField(queryset=FixtureRevision.objects.select_related("case__project"))
    name = serializers.CharField(max_length=NAME_CAP)
    outcome_type = serializers.ChoiceField(choices=OutcomeType.choices)
    fixture = DocumentField()
    mutation = PatchField(help_text="A JSON Patch (RFC 6902) on recorded answers of the fixture.")
    detect = DocumentField(required=False)


class ImplementationSerializer(serializers.ModelSerializer[Implementation]):
    project = serializers.SlugRelatedField[Project](slug_field="key", read_only=True)

    class Meta:
        model = Implementation
        fields = ["id", "project", "name", "version", "commit", "digest", "spec", "created_by", "created_at"]
        read_only_fields = fields


class NewImplementationSerializer(serializers.Serializer[Any]):
    project = ScopedProjectField()
    archive = serializers.FileField(help_text="A .tar.gz or .zip of the source tree.")
    spec_path = serializers.CharField(max_length=400, default="implementation.json")


class RunSetSerializer(serializers.ModelSerializer[RunSet]):
    class Meta:
        model = RunSet
        fields = [
            "id",
            "revision",
            "implementation",
            "control",
            "mutated",
            "comparison",
            "mode",
            "size",
            "fixture_hash",
            "checks_hash",
            "requested_by",
            "created_at",
            "voided_at",
            "void_reason",
        ]
        read_only_fields = fields


class NewRunSetSerializer(serializers.Serializer[Any]):
    revision = ScopedField(queryset=FixtureRevision.objects.select_related("case__project"))
    implementation = ScopedField(queryset=Implementation.objects.all())
    size = serializers.IntegerField(min_value=1, max_value=MAX_SET_SIZE)
    control = ScopedField(queryset=Control.objects.all(), required=False, allow_null=True, default=None)
    mutated = serializers.BooleanField(default=False)


class RunSerializer(serializers.ModelSerializer[Run]):
    """`status` and `boundary_passed` stay empty until the run is finished; null is not a pass."""

    project = serializers.SlugRelatedField[Project](slug_field="key", read_only=True)
    has_manifest = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = [
            "id",
            "project",
            "number",
            "run_set",
            "index",
            "state",
            "attempts",
            "status",
            "boundary_passed",
            "observation_hash",
            "matching_policy",
            "reason",
            "has_manifest",
            "created_at",
            "started_at",
            "finished_at",
        ]
        read_only_fields = fields

    def get_has_manifest(self, run: Run) -> bool:
        return run.manifest_id is not None


class ComparisonSerializer(serializers.ModelSerializer[Comparison]):
    """`label` is empty while `state` is "waiting". Only `verified_red_to_green` is a pass."""

    project = serializers.SlugRelatedField[Project](slug_field="key", read_only=True)
    state = serializers.ChoiceField(choices=["waiting", "computed"], read_only=True)

    class Meta:
        model = Comparison
        fields = [
            "id",
            "project",
            "number",
            "revision",
            "old",
            "new",
            "with_controls",
            "state",
            "label",
            "reason",
            "requested_by",
            "created_at",
            "computed_at",
        ]
        read_only_fields = fields


class NewComparisonSerializer(serializers.Serializer[Any]):
    revision = ScopedField(queryset=FixtureRevision.objects.select_related("case__project"))
    old = ScopedField(queryset=Implementation.objects.all(), required=False, allow_null=True, default=None)
    new = ScopedField(queryset=Implementation.objects.all(), required=False, allow_null=True, default=None)
    size = serializers.IntegerField(min_value=FEWEST_RESULTS, max_value=MAX_SET_SIZE, default=FEWEST_RESULTS)
    with_controls = serializers.BooleanField(default=True)


class CancelledSerializer(serializers.Serializer[Any]):
    cancelled = serializers.IntegerField(help_text="How many runs were cancelled or asked to stop.")


class VoidingSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=REASON_CAP, help_text="Why no verdict shall read it; stays shown.")
