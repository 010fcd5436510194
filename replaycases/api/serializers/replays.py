"""Implementations, run sets, runs and comparisons as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from replaycases.accounts.models import Project
from replaycases.api.serializers.fields import ScopedField, ScopedProjectField
from replaycases.cases.declaring import MAX_SET_SIZE
from replaycases.cases.jobs import REASON_CAP
from replaycases.cases.models import Comparison, Control, FixtureRevision, Implementation, Run, RunSet
from replaycases.verdict.sides import FEWEST_RESULTS


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
