"""The review queue: cases in which a decision waits, what expires first at the top."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import DECIDES_EXPECTATION, DECIDES_REDACTION, Role
from replaycases.cases import decisions, policies
from replaycases.cases.models import (
    Case,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
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
    standing = Decision.objects.filter(case=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None)
    unapproved = Control.objects.filter(revision=OuterRef("current_revision")).exclude(
        Exists(Decision.objects.filter(control=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None))
    )
    open_comments = ReviewComment.objects.filter(revision__case=OuterRef("pk"), resolved_at=None)
    return (
        Case.objects.visible_to(user)
        .filter(stage__in=policies.REVIEWED, current_revision__isnull=False)
        .annotate(
            has_expectation=Exists(standing.filter(kind=DecisionKind.EXPECTATION)),
            controls_waiting=Exists(unapproved),
            controls_count=_counted(unapproved, "revision"),
            comments_count=_counted(open_comments, "revision__case"),
        )
        .filter(Q(stage=Stage.IN_REVIEW) | Q(has_expectation=False) | Q(controls_waiting=True))
        .select_related("project", "current_revision")
        .order_by(F("evidence_expires_at").asc(nulls_last=True), "stage_since", "number")
    )


def of_reader(cases: QuerySet[Case], user: User) -> QuerySet[Case]:
    """Of the waiting cases, those in which the user's roles decide something that waits, and their own work."""
    redactions, expectations = (
        Membership.objects.filter(user=user, role__in=roles).values("project")
        for roles in (DECIDES_REDACTION, DECIDES_EXPECTATION)
    )
    edited = FixtureRevision.objects.filter(Q(created_by=user) | Q(on_behalf_of=user), case=OuterRef("pk"))
    return cases.filter(
        Q(project__in=redactions) & (Q(stage=Stage.IN_REVIEW) | Q(controls_waiting=True))
        | Q(project__in=expectations, has_expectation=False)
        | Q(created_by=user)
        | Q(on_behalf_of=user)
        | Exists(edited)
    )


def _counted(rows: QuerySet[Control] | QuerySet[ReviewComment], by: str) -> Coalesce:
    counted = rows.order_by().values(by).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)


def rows(cases: Sequence[Case], user: User) -> list[Waiting]:
    """What waits in each of the cases, in their order. Two queries."""
    held = _held(user)
    authors = _authors(cases)
    return [_row(case, user, held.get(case.project_id, frozenset()), authors[case.pk]) for case in cases]


def _held(user: User) -> Mapping[UUID, frozenset[Role]]:
    found: dict[UUID, set[Role]] = defaultdict(set)
    for project, role in Membership.objects.filter(user=user).values_list("project_id", "role"):
        found[project].add(Role(role))
    return {project: frozenset(roles) for project, roles in found.items()}


def _authors(cases: Sequence[Case]) -> Mapping[UUID, list[tuple[int, UUID, UUID | None]]]:
    found: dict[UUID, list[tuple[int, UUID, UUID | None]]] = defaultdict(list)
    made = FixtureRevision.objects.filter(case__in=[case.pk for case in cases]).order_by("number")
    for case, number, author, behalf in made.values_list("case_id", "number", "created_by_id", "on_behalf_of_id"):
        found[case].append((number, author, behalf))
    return found


def _row(case: Case, user: User, held: frozenset[Role], authors: list[tuple[int, UUID, UUID | None]]) -> Waiting:
    own = decisions.own_work(user, case, authors)
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
    if not case.has_expectation:  # type: ignore[attr-defined]
        found["expectation"] = "approve_expectation"
    count = case.controls_count  # type: ignore[attr-defined]
    if count:
        found[f"{count} control{'' if count == 1 else 's'}"] = "approve_control"
    return found
