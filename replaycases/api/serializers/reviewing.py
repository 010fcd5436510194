"""Decisions, comments, proposals, flags, closing steps and grader findings as JSON."""

from __future__ import annotations

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replaycases.accounts.models import Team, User
from replaycases.api.serializers.cases import LARGEST_NUMBER
from replaycases.api.serializers.fields import DigestField, EnumField, ScopedField, TextField
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases import decisions, gates, redaction_rows
from replaycases.cases.comments import POINTER_CAP
from replaycases.cases.models import (
    Acceptance,
    Case,
    ClosingItem,
    ClosingStep,
    Decision,
    DecisionOutcome,
    DependencyStatement,
    FixtureRevision,
    FlagReason,
    GraderFinding,
    Proposal,
    ProposalKind,
    ReviewComment,
    ReviewFlag,
)
from replaycases.cases.proposals import why_not_decide
from replaycases.cases.texts import NAME_CAP

ApprovedRedaction = shape(
    "ApprovedRedaction",
    "What an approval names beside the bytes: under which policy (0 is the built-in one) and by which detectors "
    "they were looked through, and the waivers that held.",
    id=serializers.UUIDField(read_only=True),
    policy=serializers.CharField(read_only=True),
    policy_version=serializers.IntegerField(read_only=True),
    detectors=serializers.CharField(read_only=True),
    waivers=serializers.ListField(child=serializers.UUIDField(), read_only=True),
)


class DecisionSerializer(
    row(  # type: ignore[misc]
        "Decisions",
        Decision,
        "id case revision control kind outcome content_hash fixture_hash checks_hash redaction note decided_by "
        "decided_at voided_at void_reason",
    )
):
    """An approval stands until it is voided, for exactly the bytes with these hashes. `redaction` is null for what
    approves none."""

    redaction = serializers.SerializerMethodField()

    @extend_schema_field(ApprovedRedaction(allow_null=True))
    def get_redaction(self, given: Decision) -> dict[str, Any] | None:
        looked = given.redaction
        if looked is None:
            return None
        return {"id": looked.pk, **redaction_rows.named_with(looked, decisions.waivers_of(given))}


_DECIDED = {
    "outcome": EnumField(DecisionOutcome),
    "revision": serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER),
    "note": TextField(required=False, allow_blank=True, default=""),
}
RedactionDecision = shape(
    "RedactionDecision", "For what was seen. A return says why.", **_DECIDED, content_hash=DigestField()
)
ExpectationDecision = shape(
    "ExpectationDecision",
    "For what was seen. A return says why.",
    **_DECIDED,
    fixture_hash=DigestField(),
    checks_hash=DigestField(),
)
ControlDecision = shape(
    "ControlDecision",
    "Approves exactly this control.",
    fixture_hash=DigestField(),
    note=TextField(required=False, allow_blank=True),
)
SeenFixture = shape("SeenFixture", "The fixture hash that was seen.", fixture_hash=DigestField())
Reason = shape("Reason", reason=TextField())
NonReplayable = shape("NonReplayable", "Why, and which evidence is missing.", reason=TextField(), missing=TextField())
Note = shape("Note", note=TextField())

CommentSerializer = row(
    "CommentSerializer",
    ReviewComment,
    "id revision pointer text author created_at resolved_by resolved_at resolution",
    "Unresolved until `resolved_at`.",
)
NewComment = shape(
    "NewComment",
    "About one place of a revision; an empty pointer is the whole of it.",
    revision=ScopedField(queryset=FixtureRevision.objects.select_related("case__project", "payload", "detect")),
    pointer=serializers.CharField(
        max_length=POINTER_CAP, required=False, allow_blank=True, default="", trim_whitespace=False
    ),
    text=TextField(),
)
Resolution = shape("Resolution", resolution=TextField(required=False, allow_blank=True, default=""))


class ProposalSerializer(
    row(  # type: ignore[misc]
        "Proposals",
        Proposal,
        "id case kind state revision gate lane_entry reason owner owner_team until proposed_by proposed_at decided_by "
        "decided_at note",
    )
):
    """What one person asks for and another one must confirm."""


class ProposalInFullSerializer(ProposalSerializer):
    """`why_not_decide` says why the user cannot be the second person; empty if they can."""

    why_not_decide = serializers.SerializerMethodField()

    class Meta(ProposalSerializer.Meta):  # type: ignore[misc,name-defined]
        fields = [*ProposalSerializer.Meta.fields, "why_not_decide"]
        read_only_fields = fields

    def get_why_not_decide(self, proposal: Proposal) -> str:
        return why_not_decide(self.context["request"].user, proposal)


class NewProposal(serializers.Serializer[Any]):
    """An override names a gate and an end, a demotion an end and who owns what must be mended, an extension the new
    end."""

    case = ScopedField(queryset=Case.objects.select_related("project"))
    kind = serializers.ChoiceField(choices=ProposalKind.choices)
    reason = TextField()
    gate = serializers.ChoiceField(choices=get_args(gates.GateName), required=False)
    until = serializers.DateTimeField(required=False)
    owner = ScopedField(queryset=User.objects.all(), required=False)
    owner_team = ScopedField(queryset=Team.objects.all(), required=False)

    NEEDED = {"override": {"gate", "until"}, "demotion": {"until"}, "retirement": set(), "extension": {"until"}}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        needed = self.NEEDED[attrs["kind"]]
        missing = sorted(needed - attrs.keys())
        if missing:
            raise serializers.ValidationError(dict.fromkeys(missing, f"A {attrs['kind']} needs it."))
        owners = attrs.keys() & {"owner", "owner_team"}
        if attrs["kind"] == "demotion" and len(owners) != 1:
            raise serializers.ValidationError({"owner": "A demotion names one owner: a person or a team."})
        spare = sorted(
            attrs.keys() - {"case", "kind", "reason"} - needed - (owners if attrs["kind"] == "demotion" else set())
        )
        if spare:
            raise serializers.ValidationError(dict.fromkeys(spare, f"A {attrs['kind']} has none."))
        return attrs


Decided = shape("Decided", note=TextField(required=False, allow_blank=True, default=""))

FlagSerializer = row(
    "FlagSerializer",
    ReviewFlag,
    "id case reason detail raised_by raised_at cleared_by cleared_at clearing_note",
    "A reason to look again. It changes neither stage nor lane.",
)
_CASE = ScopedField(queryset=Case.objects.select_related("project"))
NewFlag = shape("NewFlag", case=_CASE, reason=EnumField(FlagReason), detail=TextField())

ClosingItemSerializer = row("ClosingItemSerializer", ClosingItem, "id case step note done_by done_at")
NewClosingItem = shape("NewClosingItem", case=_CASE, step=EnumField(ClosingStep), note=TextField())

FindingRowSerializer = row(
    "GraderFindingSerializer",
    GraderFinding,
    "id case grader version label result recorded_by recorded_at confirmed_by confirmed_at",
    "Evidence, never an oracle.",
)
NewGraderFinding = shape(
    "NewGraderFinding",
    case=_CASE,
    grader=serializers.CharField(max_length=NAME_CAP),
    version=serializers.CharField(max_length=NAME_CAP),
    label=serializers.CharField(max_length=NAME_CAP),
    result=TextField(required=False, allow_blank=True, default=""),
)

DependencyStatementSerializer = row(
    "DependencyStatementSerializer",
    DependencyStatement,
    "id case revision acceptance authored_confirmed no_effect_confirmed note said_by said_at",
    "What a dependency owner said. The newest of a revision counts.",
)
NewDependencyStatement = shape(
    "NewDependencyStatement",
    "For the revision that was seen, by its number.",
    revision=serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER, source="revision_number"),
    fixture_hash=DigestField(),
    acceptance=EnumField(Acceptance),
    authored_confirmed=serializers.BooleanField(required=False, default=False),
    no_effect_confirmed=serializers.BooleanField(required=False, default=False),
    note=TextField(required=False, allow_blank=True, default=""),
)


@extend_schema_field({"description": "Any JSON value; null where there is none on this side.", "nullable": True})
class AnyField(serializers.Field[Any, Any, Any, Any]):
    """A part of a document, as it is."""

    def to_representation(self, value: Any) -> Any:
        return value


DifferenceSerializer = shape(
    "DifferenceSerializer",
    "One place that differs. `pointer` is the place in the new document, in the old one for what was removed.",
    pointer=serializers.CharField(read_only=True, allow_blank=True),
    old_pointer=serializers.CharField(read_only=True, allow_blank=True),
    kind=serializers.ChoiceField(choices=["changed", "removed", "added"], read_only=True),
    old=AnyField(read_only=True, allow_null=True),
    new=AnyField(read_only=True, allow_null=True),
)
DifferencesSerializer = shape(
    "DifferencesSerializer",
    "`approved`: somebody approved the redaction of `before`. Where nobody did, a reviewer reads all of `after`.",
    before=serializers.UUIDField(read_only=True),
    after=serializers.UUIDField(read_only=True),
    approved=serializers.BooleanField(read_only=True),
    differences=DifferenceSerializer(many=True, read_only=True),
)
