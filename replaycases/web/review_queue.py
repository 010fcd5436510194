"""The review queue: cases in which a decision waits, what expires first at the top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from replaycases.accounts import access
from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import DECIDES_EXPECTATION, DECIDES_REDACTION, Role
from replaycases.cases import claims, decisions, policies
from replaycases.cases.models import (
    Case,
    Control,
    Decision,
    DecisionOutcome,
    ReviewComment,
    Stage,
)

_SOONEST = (F("evidence_expires_at").asc(nulls_last=True), "stage_since", "number")
DECIDERS = DECIDES_REDACTION | DECIDES_EXPECTATION


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A case in the queue. `what` are the decisions that wait, `mine` those that the reader may make; `why_not` says
    why the others are not theirs."""

    case: Case
    what: tuple[str, ...]
    mine: tuple[str, ...]
    why_not: str
    own_work: bool
    expires_at: datetime | None
    comments: int

    @property
    def held_by(self) -> User | None:
        """Who has its redaction now."""
        return self.case.reviewer if claims.is_held(self.case) else None


Controls = Mapping[UUID, int]
"""{revision: how many of its controls are not approved}, where any is"""


def open_controls() -> Controls:
    """One query. Asked of each case, the database would read the controls of every case that there is."""
    approved = Decision.objects.filter(control=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None)
    unapproved = Control.objects.filter(~Exists(approved)).order_by()
    return dict(unapproved.values_list("revision_id").annotate(count=Count("pk")))


def waiting_cases(user: User, controls: Controls) -> QuerySet[Case]:
    """Every case that the user may see in which a decision waits, soonest expiry first."""
    open_comments = ReviewComment.objects.filter(revision__case=OuterRef("pk"), resolved_at=None)
    counted = open_comments.order_by().values("revision__case").annotate(count=Count("pk")).values("count")
    return (
        Case.objects.visible_to(user)
        .filter(stage__in=policies.REVIEWED, current_revision__isnull=False)
        .annotate(comments_count=Coalesce(Subquery(counted), 0))
        .filter(Q(stage=Stage.IN_REVIEW) | Q(expectation_approved=False) | _has_open(controls))
        # Their revisions apart: joined, the database reads all that there are before it takes a page of them.
        .select_related("project", "reviewer")
        .prefetch_related("current_revision")
        .order_by(*_SOONEST)
    )


def _has_open(controls: Controls) -> Q:
    return Q(current_revision__in=list(controls))


def of_reader(cases: QuerySet[Case], user: User, controls: Controls) -> QuerySet[Case]:
    """Of the waiting cases, those in which the user's roles decide something that waits, and their own work."""
    redactions, expectations = (
        Membership.objects.filter(user=user, role__in=roles).values("project")
        for roles in (DECIDES_REDACTION, DECIDES_EXPECTATION)
    )
    return cases.filter(
        Q(project__in=redactions) & (Q(stage=Stage.IN_REVIEW) | _has_open(controls))
        | Q(project__in=expectations, expectation_approved=False)
        | decisions.is_work_of(user)
    )


def redactions_for(user: User) -> list[str]:
    """The cases whose redaction waits for the user, by their readable ids, in the order of the queue. One query."""
    return [f"{key}-{number}" for key, number in _redactions(user).values_list("project__key", "number")]


def free_redactions(user: User) -> QuerySet[Case]:
    """Those of them that nobody else has."""
    return _redactions(user).filter(claims.free_for(user)).select_related("project")


def _redactions(user: User) -> QuerySet[Case]:
    """What was returned waits for its author."""
    theirs = Membership.objects.filter(user=user, role__in=DECIDES_REDACTION).values("project")
    waiting = Case.objects.filter(
        stage=Stage.IN_REVIEW, current_revision__isnull=False, redaction_returned=False, project__in=theirs
    )
    return waiting.exclude(decisions.is_work_of(user)).order_by(*_SOONEST)


def rows(cases: Sequence[Case], user: User, controls: Controls) -> list[Waiting]:
    """What waits in each of the cases, in their order. Two queries."""
    held = access.roles_by_project(user, {case.project for case in cases})
    own = decisions.own_work_of(user, cases)
    return [
        _row(case, user, held[case.project_id], own[case.pk], controls.get(case.current_revision_id, 0))
        for case in cases
        if case.current_revision_id is not None
    ]


def _row(case: Case, user: User, held: frozenset[Role], own: str, controls: int) -> Waiting:
    asked = _asked(case, controls)
    refusals = {
        what: policies.why_not_allowed(name, case, user, held=held, own_work=own) or own for what, name in asked.items()
    }
    return Waiting(
        case=case,
        what=tuple(asked),
        mine=tuple(what for what, why_not in refusals.items() if not why_not),
        why_not=own if own and not held.isdisjoint(DECIDERS) else next(iter(refusals.values()), ""),
        own_work=bool(own),
        expires_at=case.evidence_expires_at,
        comments=case.comments_count,  # type: ignore[attr-defined]
    )


def _asked(case: Case, controls: int) -> dict[str, policies.ActionName]:
    """The decisions that wait, in words, with the action that makes each."""
    found: dict[str, policies.ActionName] = {}
    if case.stage == Stage.IN_REVIEW:
        found["redaction"] = "approve_redaction"
    if not case.expectation_approved:
        found["expectation"] = "approve_expectation"
    if controls:
        found[f"{controls} control{'' if controls == 1 else 's'}"] = "approve_control"
    return found
