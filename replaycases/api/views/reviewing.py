"""Decisions, proposals, flags, closing steps and grader findings."""

from __future__ import annotations

from typing import Any

from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from replaycases.accounts.models import Scope
from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.filters import (
    ClosingFilter,
    DecisionFilter,
    DependencyStatementFilter,
    FlagFilter,
    GraderFindingFilter,
    ProposalFilter,
)
from replaycases.api.serializers import reviewing as shown
from replaycases.api.views import deeds
from replaycases.cases import closing, details, flags, proposals
from replaycases.cases.models import ClosingItem, Decision, DependencyStatement, GraderFinding, Proposal, ReviewFlag


class DecisionViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Who approved or returned exactly which bytes. Immutable, but that an approval can become void."""

    queryset = Decision.objects.select_related("redaction__policy", "case").prefetch_related("case__waivers")
    serializer_class = shown.DecisionSerializer
    filterset_class = DecisionFilter
    pagination_class = ordered("-decided_at")


class DependencyStatementViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """What dependency owners said of revisions; the newest of a revision counts. POST to the case's own makes one."""

    queryset = DependencyStatement.objects.all()
    serializer_class = shown.DependencyStatementSerializer
    filterset_class = DependencyStatementFilter
    pagination_class = ordered("-said_at")


@with_acts(
    Act(
        does=deeds.propose,
        takes=shown.NewProposal,
        gives=shown.ProposalSerializer,
        status=201,
        says="Propose an override, a demotion, a retirement or a longer life of raw evidence.",
    ),
    Act(
        noun="confirmation",
        does=proposals.confirm,
        takes=shown.Decided,
        gives=shown.ProposalSerializer,
        subject="proposal",
        says="As a second person: what was proposed happens now.",
    ),
    Act(
        noun="refusal",
        does=proposals.decline,
        takes=shown.Note,
        gives=shown.ProposalSerializer,
        subject="proposal",
        says="As a second person: it does not happen.",
    ),
    Act(
        noun="withdrawal",
        does=proposals.withdraw,
        gives=shown.ProposalSerializer,
        subject="proposal",
        says="Whoever proposed it takes it back.",
    ),
)
class ProposalViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """What needs two people."""

    queryset = Proposal.objects.select_related("case__project", "lane_entry__lane")
    serializer_class = shown.ProposalSerializer
    filterset_class = ProposalFilter
    pagination_class = ordered("-proposed_at")

    def get_serializer_class(self) -> Any:
        return shown.ProposalInFullSerializer if self.action == "retrieve" else self.serializer_class


@with_acts(
    Act(
        does=flags.raise_flag,
        takes=shown.NewFlag,
        gives=shown.FlagSerializer,
        status=201,
        scope=Scope.CASES,
        says="Ask for a re-review.",
    ),
)
class FlagViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Reasons to look at a case again. POST to the case's `re-reviews` clears them."""

    queryset = ReviewFlag.objects.all()
    serializer_class = shown.FlagSerializer
    filterset_class = FlagFilter
    pagination_class = ordered("-raised_at")


@with_acts(
    Act(
        does=closing.note_step,
        takes=shown.NewClosingItem,
        gives=shown.ClosingItemSerializer,
        status=201,
        says="Somebody looked at it and says how they know.",
    ),
)
class ClosingItemViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """What a green replay does not show, noted before an incident is closed."""

    queryset = ClosingItem.objects.all()
    serializer_class = shown.ClosingItemSerializer
    filterset_class = ClosingFilter
    pagination_class = ordered("-done_at")


@with_acts(
    Act(
        does=details.record_grader_finding,
        takes=shown.NewGraderFinding,
        gives=shown.FindingRowSerializer,
        status=201,
        scope=Scope.CASES,
        says="Keep a grader's label as evidence. It decides nothing.",
    ),
    Act(
        noun="confirmation",
        does=details.confirm_grader_finding,
        gives=shown.FindingRowSerializer,
        subject="finding",
        says="An incident owner says that it shows the boundary being crossed.",
    ),
)
class GraderFindingViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = GraderFinding.objects.select_related("case__project")
    serializer_class = shown.FindingRowSerializer
    filterset_class = GraderFindingFilter
    pagination_class = ordered("-recorded_at")
