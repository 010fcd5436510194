"""Redaction: policies, what was found, rules of people, waivers. People write, no program does."""

from __future__ import annotations

from typing import Any

from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.filters import RedactionFilter, RedactionPolicyFilter, RedactionRuleFilter, WaiverFilter
from replaycases.api.serializers import redactions as shown
from replaycases.api.views import deeds
from replaycases.cases import redaction_policies, redaction_rules, waivers
from replaycases.cases.models import Redaction, RedactionPolicy, RedactionRule, Waiver


@with_acts(
    Act(
        does=redaction_policies.save,
        takes=shown.NewRedactionPolicy,
        gives=shown.RedactionPolicySerializer,
        status=201,
        says="Save the next version of a project's policy, in force from then on. 409 if another version came since.",
    ),
)
class RedactionPolicyViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Versions are immutable. A project without any has the built-in policy."""

    queryset = RedactionPolicy.objects.select_related("project")
    serializer_class = shown.RedactionPolicySerializer
    filterset_class = RedactionPolicyFilter


@with_acts(
    Act(
        noun="seen",
        does=deeds.see,
        takes=shown.SeenPlaces,
        gives=shown.PlacesSeenSerializer,
        subject="redaction",
        says="The user has looked at these places. Nobody approves what they have not seen all of.",
    ),
)
class RedactionViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """What was found in revisions: kinds, counts and policy, no place and no value."""

    queryset = Redaction.objects.all()
    serializer_class = shown.RedactionSerializer
    filterset_class = RedactionFilter
    pagination_class = ordered("-made_at")

    def get_queryset(self) -> Any:
        found = super().get_queryset()
        return found.select_related("revision__case__project") if self.action in ("retrieve", "seen") else found

    def get_serializer_class(self) -> Any:
        return shown.RedactionInFullSerializer if self.action == "retrieve" else self.serializer_class


@with_acts(
    Act(
        does=deeds.add_rule,
        takes=shown.NewRedactionRule,
        gives=shown.RedactionRuleSerializer,
        status=201,
        says="Decide about one place of a raw revision, from its next redaction on.",
    ),
    Act(
        noun="withdrawal",
        does=redaction_rules.withdraw,
        gives=shown.RedactionRuleSerializer,
        subject="rule",
        says="Take the rule back, from the next redaction on.",
    ),
)
class RedactionRuleViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = RedactionRule.objects.select_related("source__case__project")
    serializer_class = shown.RedactionRuleSerializer
    filterset_class = RedactionRuleFilter
    pagination_class = ordered("-added_at")


@with_acts(
    Act(
        does=deeds.ask_waivers,
        takes=shown.NewWaivers,
        gives=shown.WaiversSerializer,
        status=201,
        says="Ask that open findings may stand until then. A second person agrees, or they stay in the way.",
    ),
    Act(
        noun="confirmation",
        does=waivers.confirm,
        gives=shown.WaiverSerializer,
        subject="waiver",
        says="As a second person: the finding may stand.",
    ),
    Act(
        noun="ending",
        does=waivers.end,
        gives=shown.WaiverSerializer,
        subject="waiver",
        says="Refuse it, take it back or end it: the finding is in the way again.",
    ),
)
class WaiverViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Findings that two people let stand."""

    queryset = Waiver.objects.select_related("case__project")
    serializer_class = shown.WaiverSerializer
    filterset_class = WaiverFilter
    pagination_class = ordered("-asked_at")

    def get_serializer_class(self) -> Any:
        return shown.WaiverInFullSerializer if self.action == "retrieve" else self.serializer_class
