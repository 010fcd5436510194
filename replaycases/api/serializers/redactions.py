"""Redaction policies, what was found in revisions, rules of people, waivers: as JSON, and never a value."""

from __future__ import annotations

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import READS_QUARANTINED_EVIDENCE, SETS_REDACTION_POLICY
from replaycases.api.serializers.cases import LARGEST_NUMBER
from replaycases.api.serializers.fields import EnumField, ScopedField, ScopedProjectField, TextField
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases import redaction_rows, waivers
from replaycases.cases.comments import POINTER_CAP
from replaycases.cases.models import FixtureRevision, Redaction, RedactionPolicy, RedactionRule, RuleAction, Waiver
from replaycases.cases.models.redaction import MAC_LENGTH
from replaycases.redaction.manual import LONGEST_SURROGATE
from replaycases.redaction.places import Kind

MOST_AT_ONCE = 5000
KINDS = [kind for kind in get_args(Kind) if kind != "blind"]


@extend_schema_field({"type": "object", "additionalProperties": {}})
class PolicyField(serializers.Field[Any, Any, Any, Any]):
    """A policy without name and version: these are the project's key and the number of the version."""

    default_error_messages = {"not_a_policy": "A policy is a JSON object."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("not_a_policy")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class RedactionPolicySerializer(
    row(  # type: ignore[misc]
        "RedactionPolicies", RedactionPolicy, "id project number policy allowed digest note created_by created_at"
    )
):
    """One version; the one with the highest number is in force. `policy` holds the values that it lets stand only for
    people who set policies or read raw evidence; `allowed` says how many there are."""

    policy = serializers.SerializerMethodField()
    allowed = serializers.SerializerMethodField()

    def get_allowed(self, policy: RedactionPolicy) -> int:
        return len(policy.data.get("allowed", ()))

    @extend_schema_field(PolicyField)
    def get_policy(self, policy: RedactionPolicy) -> dict[str, Any]:
        seen: dict[Any, bool] = self.context.setdefault("sees_allowed", {})
        user: User = self.context["request"].user
        if policy.project_id not in seen:
            readers = SETS_REDACTION_POLICY | READS_QUARANTINED_EVIDENCE
            seen[policy.project_id] = user.token is None and access.has_any(user, policy.project, readers)
        return {key: value for key, value in policy.data.items() if key != "allowed" or seen[policy.project_id]}


NewRedactionPolicy = shape(
    "NewRedactionPolicy",
    "The next version. `seen` is the number of the one that was edited, 0 for the built-in policy.",
    project=ScopedProjectField(),
    policy=PolicyField(source="data"),
    note=TextField(),
    seen=serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER),
)
TriedPolicy = shape("TriedPolicy", "A policy that is kept nowhere.", policy=PolicyField(source="data"))


def _counts() -> serializers.DictField:
    return serializers.DictField(child=serializers.IntegerField(), read_only=True)


PolicyPreviewSerializer = shape(
    "PolicyPreviewSerializer",
    "Values replaced, by kind, and open findings: under the policy in force, and under the one that was sent.",
    now=_counts(),
    then=_counts(),
    open_now=serializers.IntegerField(read_only=True),
    open_then=serializers.IntegerField(read_only=True),
)

OpenFindingSerializer = shape(
    "OpenFindingSerializer",
    "`finding` names it to a waiver, under a key of the case that is destroyed with the approval.",
    finding=serializers.CharField(read_only=True),
    kind=serializers.CharField(read_only=True),
    detector=serializers.CharField(read_only=True),
)
RedactionSerializer = row(
    "RedactionSerializer",
    Redaction,
    "id revision source policy policy_digest detectors counts open lost facts spans rules made_by made_at",
    "What the detectors said of a revision; of several of a revision the newest counts. `policy` is null for the "
    "built-in one, `source` for a revision that was only read.",
    counts=_counts(),
    open=OpenFindingSerializer(many=True, read_only=True),
)


class RedactionInFullSerializer(RedactionSerializer):  # type: ignore[misc,valid-type]
    """`left_open` are the findings that no waiver covers now."""

    left_open = serializers.SerializerMethodField()

    class Meta(RedactionSerializer.Meta):  # type: ignore[misc,name-defined]
        fields = [*RedactionSerializer.Meta.fields, "left_open"]
        read_only_fields = fields

    @extend_schema_field(OpenFindingSerializer(many=True))
    def get_left_open(self, redaction: Redaction) -> list[Any]:
        return redaction_rows.left_open(redaction)


SeenRevision = shape(
    "SeenRevision",
    "The number of the revision that was seen as the current one.",
    seen_revision=serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER),
)
SeenPlaces = shape(
    "SeenPlaces",
    "Places of the redaction that the user looked at, by number.",
    spans=serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER), max_length=MOST_AT_ONCE
    ),
)
PlacesSeenSerializer = shape(
    "PlacesSeenSerializer",
    "All that the user has seen of it, and how many there are.",
    seen=serializers.ListField(child=serializers.IntegerField(), read_only=True),
    spans=serializers.IntegerField(read_only=True),
)

_PLACE = {
    "pointer": serializers.CharField(max_length=POINTER_CAP, allow_blank=True, trim_whitespace=False),
    "in_key": serializers.BooleanField(required=False, default=False),
    "path": serializers.ListField(
        child=serializers.CharField(max_length=100), max_length=8, required=False, default=list
    ),
    "start": serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST_NUMBER),
    "end": serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST_NUMBER),
}
PlaceOfRule = shape(
    "PlaceOfRule",
    "A span of a value, in the reading to which `path` leads; the whole value where start and end are 0.",
    **_PLACE,
)
NewRedactionRule = shape(
    "NewRedactionRule",
    "A mark says of which `kind` the place is, a join names the `other` place, a surrogate the text that stands there.",
    source=ScopedField(queryset=FixtureRevision.objects.select_related("case__project", "payload", "detect")),
    action=EnumField(RuleAction),
    place=PlaceOfRule(),
    reason=TextField(),
    kind=serializers.ChoiceField(choices=KINDS, required=False),
    other=PlaceOfRule(required=False),
    surrogate=serializers.CharField(max_length=LONGEST_SURROGATE, required=False, trim_whitespace=False),
)
RedactionRuleSerializer = row(
    "RedactionRuleSerializer",
    RedactionRule,
    "id source action kind place reason added_by added_at withdrawn_by withdrawn_at",
    "What a person decided of one place of a raw revision; it holds for every redaction of it until it is taken back.",
)

WaiverSerializer = row(
    "WaiverSerializer",
    Waiver,
    "id case redaction finding kind detector place reason until asked_by asked_at confirmed_by confirmed_at ended_by "
    "ended_at",
    "A finding that may stand until then, once a second person agreed.",
)


class WaiverInFullSerializer(WaiverSerializer):  # type: ignore[misc,valid-type]
    """`why_not_confirm` says why the user cannot be the second person; empty if they can."""

    why_not_confirm = serializers.SerializerMethodField()

    class Meta(WaiverSerializer.Meta):  # type: ignore[misc,name-defined]
        fields = [*WaiverSerializer.Meta.fields, "why_not_confirm"]
        read_only_fields = fields

    def get_why_not_confirm(self, waiver: Waiver) -> str:
        return waivers.why_not_confirm(self.context["request"].user, waiver)


NewWaivers = shape(
    "NewWaivers",
    "Of the newest redaction of a case's current revision: findings as its `open` names them. A secret, and what could "
    "not be read, is asked for alone.",
    redaction=ScopedField(queryset=Redaction.objects.select_related("revision__case__project")),
    open=serializers.ListField(
        child=serializers.RegexField(rf"^[0-9a-f]{{{MAC_LENGTH}}}$"),
        min_length=1,
        max_length=MOST_AT_ONCE,
        source="findings",
    ),
    reason=TextField(),
    until=serializers.DateTimeField(),
)
WaiversSerializer = shape("WaiversSerializer", waivers=WaiverSerializer(many=True, read_only=True))
