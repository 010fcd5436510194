"""The lists of cases that need a person, each only for who may act on it.

Every list is one arm of one query, so that they cost the same however many there are; each arm reads a partial index
and stops after `MOST` rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import models
from django.db.models import (
    BooleanField,
    CharField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Cast, Now
from django.utils import timezone

from replaycases.accounts import roles as may
from replaycases.accounts.models import Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, kept_queries, needed_windows
from replaycases.cases.expiry import WARNINGS
from replaycases.cases.flags import OF_REDACTION
from replaycases.cases.kept_queries import Asker
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Decision,
    DecisionOutcome,
    FixtureRevision,
    ReviewFlag,
    Stage,
    Waiver,
)
from replaycases.cases.models.case import RETURNED
from replaycases.cases.policies import OPEN
from replaycases.cases.tallies import READY

MOST = 25

Section = Literal[
    "uncontained",
    "reviews",
    "waivers",
    "looks",
    "expectations",
    "controls",
    "dependencies",
    "returned",
    "drafts",
    "reproductions",
    "ready",
    "expiring",
    "flagged",
]
ROLES: Mapping[Section, frozenset[Role]] = {
    "uncontained": may.CONFIRMS_CONTAINMENT,
    "reviews": may.DECIDES_REDACTION,
    "waivers": may.CONFIRMS_WAIVERS,
    "looks": may.DECIDES_REDACTION,
    "expectations": may.DECIDES_EXPECTATION,
    "controls": may.DECIDES_REDACTION,
    "dependencies": may.STATES_ACCEPTANCE,
    "returned": may.ADDS_REVISIONS,
    "drafts": may.SUBMITS,
    "reproductions": may.REQUESTS_REPLAYS,
    "ready": may.PROMOTES,
    "expiring": may.READS_QUARANTINED_EVIDENCE,
    "flagged": may.REVIEWS_AGAIN,
}
COLUMNS = (
    "section",
    "project",
    "number",
    "title",
    "stage",
    "stage_since",
    "lane",
    "evidence_expires_at",
    "revision",
    "own_work",
    "why",
)


@dataclass(frozen=True, kw_only=True)
class CaseRow:
    """One case of a list. `own_work`: the person captured or edited it. `why` is the newest open flag's reason, for a
    flagged case (of those that ask about its redaction, in `looks`), what was returned, for a returned one, how many
    findings somebody would let stand or controls wait, what the dependency's owner is asked for ("answers", "effects"
    or both), or what a draft, and what is to be marked as reproduced, waits for (`_next_step`)."""

    readable_id: str
    title: str
    stage: str
    stage_since: datetime
    lane: str
    expires_at: datetime | None
    revision: int | None
    own_work: bool
    why: str

    @property
    def project_key(self) -> str:
        return self.readable_id.rpartition("-")[0]


def lists_of(
    user: User, projects: Mapping[Section, Sequence[UUID]], keys: Mapping[UUID, str]
) -> dict[Section, list[CaseRow]]:
    """The lists of these sections, each of its projects; `keys` are the projects' ("RC"). One query."""
    lists: dict[Section, list[CaseRow]] = {name: [] for name in projects}
    if projects:
        asker = Asker(user=user, soon=timezone.now() + WARNINGS[0])
        for section, project, number, *rest in kept_queries.rows(_arms, asker, projects, MOST):
            lists[section].append(_case_row(f"{keys[project]}-{number}", *rest))
    for name, rows in lists.items():
        rows.sort(key=_by_end if name in ("reviews", "expectations", "drafts", "expiring") else _by_age)
        del rows[MOST:]
    return lists


def _case_row(
    readable_id: str,
    title: str,
    stage: str,
    since: datetime,
    lane: str,
    expires_at: datetime | None,
    revision: int | None,
    own_work: bool,
    why: str | None,
) -> CaseRow:
    return CaseRow(
        readable_id=readable_id,
        title=title,
        stage=stage,
        stage_since=since,
        lane=lane,
        expires_at=expires_at,
        revision=revision,
        own_work=bool(own_work),
        why=why or "",
    )


def _by_end(row: CaseRow) -> tuple[bool, datetime]:
    return row.expires_at is None, row.expires_at or row.stage_since


def _by_age(row: CaseRow) -> datetime:
    return row.stage_since


def _arms(asker: Asker, projects: Mapping[Section, Sequence[UUID]], most: int) -> list[QuerySet[Case, Any]]:
    return [
        _arm(name, chosen(asker, those), asker, most) for name, those in projects.items() for chosen in _CHOSEN[name]
    ]


def _arm(name: Section, chosen: QuerySet[Case, Any], asker: Asker, most: int) -> QuerySet[Case, Any]:
    """The first of the chosen cases, with what a list shows of them."""
    if name in ("reviews", "drafts", "reproductions"):
        # Chosen first: else the database would look up for every case what stands beside the few that are shown.
        chosen = Case.objects.filter(pk__in=chosen.values("pk")[:most]).order_by()
    number = FixtureRevision.objects.filter(pk=OuterRef("current_revision")).order_by().values("number")
    own_work = decisions.is_work_of(asker.user) if name == "reviews" else None
    annotated = chosen.annotate(
        section=Value(name, output_field=CharField()),
        revision=Subquery(number),
        own_work=ExpressionWrapper(own_work, BooleanField()) if own_work is not None else Value(False),
        why=_why(name, asker),
    )
    return annotated.values_list(*COLUMNS)[:most]


def _why(name: Section, asker: Asker) -> Subquery | Value | models.Case:
    if name == "drafts":
        return _next_step("submission")
    if name == "reproductions":
        return _next_step("reproduction")
    if name == "controls":
        return needed_windows.how_many_controls(asker)
    if name == "dependencies":
        return needed_windows.what_of_the_dependency()
    if name == "waivers":
        count = _waiting(asker).filter(case=OuterRef("pk")).order_by().values("case").annotate(count=Count("pk"))
        return Subquery(count.values(said=Cast("count", CharField())), output_field=CharField())
    if name in ("looks", "flagged"):
        standing = ReviewFlag.objects.filter(case=OuterRef("pk"), cleared_at=None).order_by("-raised_at")
        standing = standing.filter(reason__in=OF_REDACTION) if name == "looks" else standing
        return Subquery(standing.values("reason")[:1], output_field=CharField())
    if name == "returned":
        returned = _returned(OuterRef("current_revision")).order_by("-decided_at")
        return Subquery(returned.values("kind")[:1], output_field=CharField())
    return Value("", output_field=CharField())


def _next_step(seen: str) -> models.Case:
    """What the case waits for; it is `seen` once the affected version was seen to fail."""
    return models.Case(
        When(current_revision=None, then=Value("fixture")),
        When(_UNCONTAINED, then=Value("containment")),
        When(latest_comparison=None, then=Value("confirmation")),
        When(latest_comparison__computed_at=None, then=Value("running")),
        When(latest_comparison__old_red=True, then=Value(seen)),
        default=Value("red"),
        output_field=CharField(),
    )


def _returned(revision: OuterRef) -> QuerySet[Decision]:
    """What was returned of a revision and not approved after that."""
    decided = Decision.objects.filter(control=None)
    later = decided.filter(
        revision=OuterRef("revision"),
        kind=OuterRef("kind"),
        outcome=DecisionOutcome.APPROVED,
        decided_at__gt=OuterRef("decided_at"),
    )
    returned = decided.filter(outcome=DecisionOutcome.RETURNED, voided_at=None)
    return returned.filter(~Exists(later), revision=revision)


def _uncontained(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """Security incidents: nothing is replayed before somebody confirms that they are contained."""
    return Case.objects.filter(_UNCONTAINED, project__in=projects, stage__in=OPEN).order_by("stage_since")


def _reviews(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """In review and not returned: the soonest to end first. One's own work is among them, and marked."""
    waiting = Case.objects.filter(project__in=projects, stage=Stage.IN_REVIEW, current_revision__isnull=False)
    return waiting.filter(redaction_returned=False).order_by(F("evidence_expires_at").asc(nulls_last=True))


def _waivers(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """Somebody else asks that findings in the current revision may stand, and it is not the person's own work."""
    asked = _waiting(asker).filter(case__project__in=projects)
    cases = Case.objects.filter(pk__in=asked.order_by().values("case"))
    return cases.exclude(decisions.is_work_of(asker.user)).order_by("stage_since")


def _waiting(asker: Asker) -> QuerySet[Waiver]:
    now = Waiver.objects.filter(until__gt=Now(), redaction__revision=F("case__current_revision"))
    return now.filter(confirmed_at=None, ended_at=None).exclude(asked_by=asker.user)


def _looks(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """A flag asks that somebody looks at the redaction again."""
    asked = ReviewFlag.objects.filter(case=OuterRef("pk"), cleared_at=None, reason__in=OF_REDACTION)
    return _flagged(asker, projects).filter(Exists(asked))


def _expectations(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """No expectation is approved or returned; the case has no other owner for it, and is not the person's own work."""
    user = asker.user
    owned = CaseOwner.objects.filter(case=OuterRef("pk"), boundary=Boundary.PROHIBITED_OUTCOME)
    teams = Team.objects.filter(members=user).values("pk")
    others = owned.filter(Q(user=None) | ~Q(user=user)).filter(Q(team=None) | ~Q(team__in=teams))
    waiting = Case.objects.filter(_EXPECTATION_WAITS, project__in=projects, current_revision__isnull=False)
    return decisions.not_work_of(user, waiting).filter(~Exists(others)).order_by("stage_since")


def _returned_to(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """The current revision is the person's and came back: their turn."""
    own = Case.objects.filter(RETURNED, revised_by=asker.user, project__in=projects, stage__in=OPEN)
    return own.order_by("stage_since")


def _returned_for(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """The same of what somebody else made on the person's behalf."""
    made_for = Case.objects.filter(RETURNED, revised_for=asker.user, project__in=projects, stage__in=OPEN)
    return made_for.exclude(revised_by=asker.user).order_by("stage_since")


def _drafts(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """The person's own cases that nobody reviews yet: the soonest to end first."""
    own = Case.objects.filter(created_by=asker.user, project__in=projects, stage=Stage.QUARANTINED)
    return own.order_by(F("evidence_expires_at").asc(nulls_last=True), "stage_since")


def _drafts_for(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """The same of what somebody else captured on the person's behalf."""
    made_for = Case.objects.filter(on_behalf_of=asker.user, project__in=projects, stage=Stage.QUARANTINED)
    others = made_for.exclude(created_by=asker.user)
    return others.order_by(F("evidence_expires_at").asc(nulls_last=True), "stage_since")


def _reproductions(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    """Redaction and expectation are approved. Whether every gate is open is computed on the case's page."""
    approved = Case.objects.filter(stage=Stage.REDACTION_APPROVED, expectation_approved=True, project__in=projects)
    return approved.order_by("created_at", "number")  # as an index has them


def _ready(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    return Case.objects.filter(READY, project__in=projects).order_by("stage_since")


def _expiring(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    ending = Case.objects.filter(project__in=projects, evidence_expires_at__lte=asker.soon)
    return ending.order_by("evidence_expires_at")


def _flagged(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case]:
    return Case.objects.filter(project__in=projects, flagged=True, stage__in=OPEN).order_by("stage_since")


# Several are asked apart, each of an index of its own: "either of" reads all that there are before it takes the first.
_CHOSEN: Mapping[Section, Sequence[Callable[[Asker, Sequence[UUID]], QuerySet[Case, Any]]]] = {
    "uncontained": [_uncontained],
    "reviews": [_reviews],
    "waivers": [_waivers],
    "looks": [_looks],
    "expectations": [_expectations],
    "controls": needed_windows.CONTROLS,
    "dependencies": needed_windows.DEPENDENCIES,
    "returned": [_returned_to, _returned_for],
    "drafts": [_drafts, _drafts_for],
    "reproductions": [_reproductions],
    "ready": [_ready],
    "expiring": [_expiring],
    "flagged": [_flagged],
}
_UNCONTAINED = Q(security_incident=True, contained_at=None)
_EXPECTATION_WAITS = Q(
    stage__in=(Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED),
    expectation_approved=False,
    expectation_returned=False,
)
