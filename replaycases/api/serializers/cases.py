"""Cases, revisions and controls as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replaycases.accounts import access
from replaycases.accounts.models import Team, User
from replaycases.accounts.roles import Role
from replaycases.api.serializers.fields import (
    DigestField,
    DocumentField,
    EnumField,
    PatchField,
    ScopedField,
    ScopedProjectField,
    SwitchField,
    TextField,
)
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases import closing, details, reading
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Classification,
    Control,
    FixtureRevision,
    Implementation,
    OutcomeType,
    Provenance,
    Stage,
)
from replaycases.cases.texts import NAME_CAP, TITLE_CAP
from replaycases.fixture.timeouts import TimeoutKind

STATEMENT = "title trigger prohibited_outcome deciding_evidence reported_symptom"
MOST_DAYS = 32767
LARGEST_NUMBER = 2**31 - 1

CaseSerializer = row(
    "CaseSerializer",
    Case,
    f"id readable_id project number {STATEMENT} incident_id case_id stage stage_since lane verdict last_verdict "
    "previous_verdict verdict_since latest_comparison flagged security_incident contained_at contained_by "
    "containment_note evidence_expires_at review_due_at current_revision created_by on_behalf_of created_at",
    "`verdict` is that of the newest comparison, empty while it waits. `lane` is not the stage: it holds a revision.",
    stage=serializers.ChoiceField(choices=Stage.choices, read_only=True),
)
OwnerSerializer = row("OwnerSerializer", CaseOwner, "boundary user team", "Who answers: a person or a team.")
StatedPart = shape(
    "StatedPart",
    "What is known of one part of the run record, and by whom.",
    value=serializers.CharField(),
    source=serializers.ChoiceField(choices=["trace", "declared"]),
)
MissingParts = shape(
    "MissingParts",
    "Parts of the run record that nobody stated, by what they are about, and what that costs.",
    name=serializers.CharField(),
    cost=serializers.CharField(),
)
ProvenanceSerializer = row(
    "ProvenanceSerializer",
    Provenance,
    "incident_url trace_id trace_url affected fixed covering_test run_record run_record_missing",
    "Where the case comes from. `run_record` is what is known around its recorded run, by part; {} for a case that was "
    "made of no capture.",
    run_record=serializers.DictField(child=StatedPart(), read_only=True),
    run_record_missing=MissingParts(many=True, read_only=True),
    incident_url=serializers.CharField(read_only=True, allow_blank=True),
    trace_url=serializers.CharField(read_only=True, allow_blank=True),
)

WhyNonReplayable = shape(
    "WhyNonReplayable",
    "What was said when the case was marked.",
    reason=serializers.CharField(read_only=True),
    missing=serializers.CharField(read_only=True),
)


class CaseInFullSerializer(CaseSerializer):  # type: ignore[misc,valid-type]
    """A case with its owners and links. `statement_hash` names the failure statement that was seen. `non_replayable`
    says why the case cannot be replayed and which evidence is missing, null for one that is not closed so."""

    owners = OwnerSerializer(many=True, read_only=True)
    provenance = serializers.SerializerMethodField()
    statement_hash = serializers.SerializerMethodField()
    non_replayable = serializers.SerializerMethodField()

    class Meta(CaseSerializer.Meta):  # type: ignore[misc,name-defined]
        fields = [*CaseSerializer.Meta.fields, "statement_hash", "non_replayable", "owners", "provenance"]
        read_only_fields = fields

    def get_provenance(self, case: Case) -> dict[str, Any]:
        kept = case.provenance if hasattr(case, "provenance") else Provenance(case=case)
        shown: dict[str, Any] = ProvenanceSerializer(kept).data
        return shown

    def get_statement_hash(self, case: Case) -> str:
        return details.statement_hash(case)

    @extend_schema_field(WhyNonReplayable(allow_null=True))
    def get_non_replayable(self, case: Case) -> Mapping[str, str] | None:
        return closing.why_non_replayable(case) or None


NewCase = shape(
    "NewCase",
    "A failure statement in three parts, and a fixture if there is one already.",
    project=ScopedProjectField(),
    title=serializers.CharField(max_length=TITLE_CAP),
    incident_id=serializers.CharField(max_length=NAME_CAP),
    trigger=TextField(),
    prohibited_outcome=TextField(),
    deciding_evidence=TextField(),
    reported_symptom=TextField(required=False, allow_blank=True),
    fixture=DocumentField(required=False),
    detect=DocumentField(required=False),
    security_incident=serializers.BooleanField(required=False),
    on_behalf_of=ScopedField(queryset=User.objects.all(), required=False),
    evidence_days=serializers.IntegerField(required=False, min_value=1, max_value=MOST_DAYS),
)
StatementChange = shape(
    "StatementChange",
    "What is left out stays. `seen` is the statement_hash of the case that was read.",
    seen=DigestField(),
    title=serializers.CharField(max_length=TITLE_CAP, required=False),
    trigger=TextField(required=False),
    prohibited_outcome=TextField(required=False),
    deciding_evidence=TextField(required=False),
    reported_symptom=TextField(required=False, allow_blank=True),
)
_ProvenanceParts = shape(
    "ProvenanceParts",
    "",
    incident_url=serializers.CharField(max_length=details.URL_CAP, required=False, allow_blank=True),
    trace_id=serializers.CharField(max_length=NAME_CAP, required=False, allow_blank=True),
    trace_url=serializers.CharField(max_length=details.URL_CAP, required=False, allow_blank=True),
    affected=ScopedField(queryset=Implementation.objects.all(), required=False, allow_null=True),
    fixed=ScopedField(queryset=Implementation.objects.all(), required=False, allow_null=True),
    covering_test=serializers.CharField(max_length=details.TEST_CAP, required=False, allow_blank=True),
)


class ProvenanceChange(_ProvenanceParts):  # type: ignore[misc,valid-type]
    """What is left out stays."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"detail": "Say what to change."})
        return attrs


OwnerChange = shape(
    "OwnerChange",
    "A person or a team; neither names nobody.",
    boundary=EnumField(Boundary),
    user=ScopedField(queryset=User.objects.all(), required=False, allow_null=True),
    team=ScopedField(queryset=Team.objects.all(), required=False, allow_null=True),
)
OwnerChanges = shape("OwnerChanges", "Boundaries that are not named stay.", owners=OwnerChange(many=True))
OwnersSerializer = shape("OwnersSerializer", owners=OwnerSerializer(many=True, read_only=True, source="*"))
SecurityMark = shape("SecurityMark", flagged=SwitchField())

EvidenceSerializer = shape(
    "EvidenceSerializer",
    "Where one can look.",
    kind=serializers.CharField(read_only=True),
    label=serializers.CharField(read_only=True),
    number=serializers.IntegerField(read_only=True, allow_null=True),
)
GateSerializer = shape(
    "GateSerializer",
    "What must be true, what was found, and how to mend it. `unsatisfied` and `error` block.",
    name=serializers.CharField(read_only=True),
    title=serializers.CharField(read_only=True),
    state=serializers.ChoiceField(
        choices=["satisfied", "unsatisfied", "not_applicable", "overridden", "error"], read_only=True
    ),
    detail=serializers.CharField(read_only=True, allow_blank=True),
    remedy=serializers.CharField(read_only=True, allow_blank=True),
    evidence=EvidenceSerializer(many=True, read_only=True),
    override=serializers.UUIDField(read_only=True, allow_null=True, source="override.id", default=None),
)
GatesSerializer = shape("GatesSerializer", gates=GateSerializer(many=True, read_only=True))
ActionSerializer = shape(
    "ActionSerializer",
    "Something that can be done with the case; `why_not` says why the user cannot do it now.",
    name=serializers.CharField(read_only=True),
    label=serializers.CharField(read_only=True),
    allowed=serializers.BooleanField(read_only=True),
    why_not=serializers.CharField(read_only=True, allow_blank=True),
)
ActionsSerializer = shape("ActionsSerializer", actions=ActionSerializer(many=True, read_only=True))

_STORED: dict[str, Any] = {
    "size": serializers.IntegerField(source="payload.size", read_only=True),
    "classification": serializers.ChoiceField(
        choices=Classification.choices, source="payload.classification", read_only=True
    ),
}
TimeoutSerializer = shape(
    "TimeoutSerializer",
    "A call that ran out of time: whose time it was by the recorded evidence, why, which boundary's owner acts, and "
    "the mitigation that cannot help.",
    seq=serializers.IntegerField(read_only=True),
    pointer=serializers.CharField(read_only=True),
    tool=serializers.CharField(read_only=True),
    kind=serializers.ChoiceField(choices=[kind.value for kind in TimeoutKind], read_only=True),
    reasons=serializers.ListField(child=serializers.CharField(), read_only=True),
    owner=serializers.ChoiceField(choices=["workflow", "dependency"], read_only=True),
    cannot_help=serializers.CharField(read_only=True),
)


class RevisionSerializer(
    row(  # type: ignore[misc]
        "Revisions",
        FixtureRevision,
        "id case number schema_version fixture_case_id content_hash fixture_hash checks_hash effectful_tools "
        "unstated_tools said_to_read non_replayable timeouts changed size classification created_by on_behalf_of "
        "created_at",
        **_STORED,
        effectful_tools=serializers.ListField(child=serializers.CharField(), read_only=True),
        unstated_tools=serializers.ListField(child=serializers.CharField(), read_only=True, allow_null=True),
        said_to_read=serializers.ListField(child=serializers.CharField(), read_only=True, allow_null=True),
        timeouts=TimeoutSerializer(many=True, read_only=True),
    )
):
    """`changed` is empty for whom the revision is not open to: what was redacted may be told there."""

    changed = serializers.SerializerMethodField()

    def get_changed(self, revision: FixtureRevision) -> str:
        if not reading.is_quarantined(revision):
            return revision.changed
        held: dict[UUID, frozenset[Role]] = self.context.setdefault("held", {})
        user, project = self.context["request"].user, revision.case.project
        if project.pk not in held:
            held[project.pk] = access.roles_of(user, project)
        if "open_cases" not in self.context:
            self.context["open_cases"] = set(reading.live_cases(user))
        is_open = reading.reads_quarantined(held[project.pk]) and revision.case_id in self.context["open_cases"]
        return revision.changed if is_open else ""


NewRevision = shape(
    "NewRevision",
    "`seen_revision` is the number of the revision that was edited, 0 for none.",
    case=ScopedField(queryset=Case.objects.select_related("project")),
    fixture=DocumentField(),
    detect=DocumentField(required=False),
    changed=TextField(required=False, allow_blank=True),
    on_behalf_of=ScopedField(queryset=User.objects.all(), required=False),
    seen_revision=serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER),
)
ControlSerializer = row(
    "ControlSerializer",
    Control,
    "id revision name outcome_type tool fixture_hash checks_hash mutated_hash size classification created_by "
    "created_at",
    "`mutated_hash` is empty for a control without a mutation: no verdict counts that one as passed.",
    **_STORED,
)
NewControl = shape(
    "NewControl",
    "A neighbouring fixture on which the new version must hold, and the mutation under which it must turn red. "
    "`seen_revision` is the number of the current revision from which it was written.",
    revision=ScopedField(queryset=FixtureRevision.objects.select_related("case__project")),
    name=serializers.CharField(max_length=NAME_CAP),
    outcome_type=EnumField(OutcomeType),
    tool=serializers.CharField(max_length=NAME_CAP, required=False, allow_blank=True),
    fixture=DocumentField(),
    mutation=PatchField(help_text="A JSON Patch (RFC 6902) on recorded answers of the fixture."),
    detect=DocumentField(required=False),
    seen_revision=serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER, required=False),
)
