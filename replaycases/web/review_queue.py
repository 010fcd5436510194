"""The review queue: cases in which a decision waits, what expires first at the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from replaycases.accounts import access
from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import DECIDES_EXPECTATION, DECIDES_REDACTION, Role
from replaycases.cases import decisions, policies
from replaycases.cases.models import (
    Case,
    Control,
    Decision,
    DecisionOutcome,
    ReviewComment,
    Stage,
)

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


def waiting_cases(user: User) -> QuerySet[Case]:
    """Every case that the user may see in which a decision waits, soonest expiry first."""
    unapproved = _unapproved().filter(revision=OuterRef("current_revision"))
    open_comments = ReviewComment.objects.filter(revision__case=OuterRef("pk"), resolved_at=None)
    return (
        Case.objects.visible_to(user)
        .filter(stage__in=policies.REVIEWED, current_revision__isnull=False)
        .annotate(
            controls_count=_counted(unapproved, "revision"),
            comments_count=_counted(open_comments, "revision__case"),
        )
        .filter(Q(stage=Stage.IN_REVIEW) | Q(expectation_approved=False) | _control_waits())
        .select_related("project", "current_revision")
        .order_by(F("evidence_expires_at").asc(nulls_last=True), "stage_since", "number")
    )


def _unapproved() -> QuerySet[Control]:
    approved = Decision.objects.filter(control=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None)
    return Control.objects.filter(~Exists(approved))


def _control_waits() -> Q:
    """A control of the current revision is not approved. One list of revisions: asked of each case, the database reads
    the controls of every case that there is."""
    return Q(current_revision__in=_unapproved().values("revision"))


def of_reader(cases: QuerySet[Case], user: User) -> QuerySet[Case]:
    """Of the waiting cases, those in which the user's roles decide something that waits, and their own work."""
    redactions, expectations = (
        Membership.objects.filter(user=user, role__in=roles).values("project")
        for roles in (DECIDES_REDACTION, DECIDES_EXPECTATION)
    )
    return cases.filter(
        Q(project__in=redactions) & (Q(stage=Stage.IN_REVIEW) | _control_waits())
        | Q(project__in=expectations, expectation_approved=False)
        | decisions.is_work_of(user)
    )


def _counted(rows: QuerySet[Control] | QuerySet[ReviewComment], by: str) -> Coalesce:
    counted = rows.order_by().values(by).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)


def rows(cases: Sequence[Case], user: User) -> list[Waiting]:
    """What waits in each of the cases, in their order. Two queries."""
    held = access.roles_by_project(user, {case.project for case in cases})
    own = decisions.own_work_of(user, cases)
    return [_row(case, user, held[case.project_id], own[case.pk]) for case in cases]


def _row(case: Case, user: User, held: frozenset[Role], own: str) -> Waiting:
    asked = _asked(case)
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


def _asked(case: Case) -> dict[str, policies.ActionName]:
    """The decisions that wait, in words, with the action that makes each."""
    found: dict[str, policies.ActionName] = {}
    if case.stage == Stage.IN_REVIEW:
        found["redaction"] = "approve_redaction"
    if not case.expectation_approved:
        found["expectation"] = "approve_expectation"
    count = case.controls_count  # type: ignore[attr-defined]
    if count:
        found[f"{count} control{'' if count == 1 else 's'}"] = "approve_control"
    return found
