"""What needs a person: the lists of the home page, each only for who may act on it.

Every list of cases is one arm of one query, so that the page costs the same few queries whatever it shows; each arm
reads a partial index and stops after `MOST` rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from django.db import models
from django.db.models import (
    BooleanField,
    CharField,
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
from django.utils import timezone

from replaycases.accounts import roles as may
from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, proposals, tallies
from replaycases.cases.expiry import WARNINGS
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Decision,
    DecisionOutcome,
    FixtureRevision,
    IncidentReport,
    Notification,
    NotificationKind,
    Proposal,
    ProposalKind,
    ProposalState,
    ReviewFlag,
    Stage,
    StatementEdit,
)
from replaycases.cases.policies import OPEN
from replaycases.cases.tallies import READY, Tally

MOST = 25

Section = Literal["uncontained", "reviews", "expectations", "returned", "drafts", "ready", "expiring", "flagged"]
ROLES: Mapping[Section, frozenset[Role]] = {
    "uncontained": may.CONFIRMS_CONTAINMENT,
    "reviews": may.DECIDES_REDACTION,
    "expectations": may.DECIDES_EXPECTATION,
    "returned": may.ADDS_REVISIONS,
    "drafts": may.SUBMITS,
    "ready": may.PROMOTES,
    "expiring": may.READS_QUARANTINED_EVIDENCE,
    "flagged": may.REVIEWS_AGAIN,
}
COLUMNS = (
    "section",
    "project__key",
    "number",
    "title",
    "stage",
    "stage_since",
    "lane",
    "evidence_expires_at",
    "current_revision__number",
    "own_work",
    "why",
)


@dataclass(frozen=True, kw_only=True)
class CaseRow:
    """One case of a list. `own_work`: the person captured or edited it. `why` is the newest open flag's reason, for a
    flagged case, what was returned, for a returned one, or what a draft waits for (`_NEXT_STEP`)."""

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


@dataclass(frozen=True, kw_only=True)
class Needs:
    """`lists` has a section where the person holds a role for it, an empty one too; a list of `MOST` rows is cut.
    `findings` were reported and wait for a case. `changed` are unread notifications of verdicts, `unread` counts those
    of every kind, up to `MOST`."""

    projects: frozenset[UUID]
    roles: frozenset[Role]
    audits: bool
    tallies: list[Tally]
    lists: dict[Section, list[CaseRow]] = field(default_factory=dict)
    proposals: list[Proposal] | None = None
    findings: list[IncidentReport] | None = None
    changed: list[Notification]
    unread: int

    @property
    def count(self) -> int:
        mine = [row for name, rows in self.lists.items() for row in rows if not (name == "reviews" and row.own_work)]
        return len(mine) + len(self.proposals or ()) + len(self.findings or ()) + len(self.changed)


def of(user: User) -> Needs:
    """Seven queries, whoever asks; five while the tallies are remembered."""
    roles = _roles(user)
    projects = frozenset(roles) if not user.is_superuser else frozenset(Project.objects.values_list("pk", flat=True))
    unread = _unread(user, projects)
    held: frozenset[Role] = frozenset().union(*roles.values())
    return Needs(
        projects=projects,
        roles=held,
        audits=user.is_superuser or not held.isdisjoint(may.AUDITS),
        tallies=tallies.of(projects),
        lists=_lists(user, roles),
        proposals=_proposals(user, roles),
        findings=_findings(roles),
        changed=[one for one in unread if one.kind == NotificationKind.VERDICT_CHANGED],
        unread=len(unread),
    )


Held = Mapping[UUID, frozenset[Role]]


def _roles(user: User) -> Held:
    held: dict[UUID, set[Role]] = {}
    for project, role in Membership.objects.filter(user=user).values_list("project", "role"):
        held.setdefault(project, set()).add(Role(role))
    return {project: frozenset(roles) for project, roles in held.items()}


def _with(roles: Held, wanted: frozenset[Role]) -> list[UUID]:
    return [project for project, held in roles.items() if not held.isdisjoint(wanted)]


# --- lists of cases -------------------------------------------------------------------------------------------------


def _lists(user: User, roles: Held) -> dict[Section, list[CaseRow]]:
    arms = {
        name: _arm(name, _CHOSEN[name](user, projects), user)
        for name in get_args(Section)
        if (projects := _with(roles, ROLES[name]))
    }
    lists: dict[Section, list[CaseRow]] = {name: [] for name in arms}
    if arms:
        first, *others = arms.values()
        for section, key, number, *rest in first.union(*others, all=True):
            lists[section].append(_row(f"{key}-{number}", *rest))
    for name, rows in lists.items():
        rows.sort(key=_by_end if name in ("reviews", "expectations", "drafts", "expiring") else _by_age)
    return lists


def _row(
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


def _arm(name: Section, chosen: QuerySet[Case], user: User) -> QuerySet[Case, Any]:
    """The first `MOST` of the chosen cases with what a list shows of them."""
    rows = Case.objects.filter(pk__in=chosen.values("pk")[:MOST]).order_by()
    annotated = rows.annotate(
        section=Value(name, output_field=CharField()),
        own_work=ExpressionWrapper(decisions.is_work_of(user), BooleanField()) if name == "reviews" else Value(False),
        why=_why(name),
    )
    return annotated.values_list(*COLUMNS)


def _by(user: User) -> Q:
    return Q(created_by=user) | Q(on_behalf_of=user)


def _why(name: Section) -> Subquery | Value | models.Case:
    if name == "drafts":
        return _NEXT_STEP
    if name == "flagged":
        standing = ReviewFlag.objects.filter(case=OuterRef("pk"), cleared_at=None).order_by("-raised_at")
        return Subquery(standing.values("reason")[:1], output_field=CharField())
    if name == "returned":
        returned = _returned(OuterRef("current_revision")).order_by("-decided_at")
        return Subquery(returned.values("kind")[:1], output_field=CharField())
    return Value("", output_field=CharField())


def _returned(revision: OuterRef) -> QuerySet[Decision]:
    """What was returned of a revision and not approved after that."""
    decided = Decision.objects.filter(control=None)
    later = decided.filter(
        revision=OuterRef("revision"),
        kind=OuterRef("kind"),
        outcome=DecisionOutcome.APPROVED,
        decided_at__gt=OuterRef("decided_at"),
    )
    returned = decided.filter(outcome=DecisionOutcome.RETURNED)
    return returned.filter(~Exists(later), revision=revision)


def _uncontained(user: User, projects: list[UUID]) -> QuerySet[Case]:
    """Security incidents: nothing is replayed before somebody confirms that they are contained."""
    return Case.objects.filter(_UNCONTAINED, project__in=projects, stage__in=OPEN).order_by("stage_since")


def _reviews(user: User, projects: list[UUID]) -> QuerySet[Case]:
    """In review and not returned: the soonest to end first. One's own work is among them, and marked."""
    waiting = Case.objects.filter(project__in=projects, stage=Stage.IN_REVIEW, current_revision__isnull=False)
    return waiting.filter(redaction_returned=False).order_by(F("evidence_expires_at").asc(nulls_last=True))


def _expectations(user: User, projects: list[UUID]) -> QuerySet[Case]:
    """No expectation is approved or returned; the case has no other owner for it, and is not the person's own work."""
    owned = CaseOwner.objects.filter(case=OuterRef("pk"), boundary=Boundary.PROHIBITED_OUTCOME)
    teams = Team.objects.filter(members=user).values("pk")
    others = owned.filter(Q(user=None) | ~Q(user=user)).filter(Q(team=None) | ~Q(team__in=teams))
    edited = FixtureRevision.objects.filter(case=OuterRef("pk"))
    # One anti-join each: a database that is asked for "either of" looks at every case.
    return (
        Case.objects.filter(_EXPECTATION_WAITS, project__in=projects, current_revision__isnull=False)
        .exclude(created_by=user)
        .exclude(on_behalf_of=user)
        .filter(~Exists(StatementEdit.objects.filter(case=OuterRef("pk"), editor=user)))
        .filter(~Exists(edited.filter(created_by=user)), ~Exists(edited.filter(on_behalf_of=user)))
        .filter(~Exists(others))
        .order_by("stage_since")
    )


def _returned_to(user: User, projects: list[UUID]) -> QuerySet[Case]:
    """The current revision is the person's and came back: their turn."""
    # Two lists of revisions: joined, the revision of every case that came back would be looked up.
    own = Q(current_revision__in=FixtureRevision.objects.filter(created_by=user).values("pk"))
    own |= Q(current_revision__in=FixtureRevision.objects.filter(on_behalf_of=user).values("pk"))
    return Case.objects.filter(_RETURNED, own, project__in=projects, stage__in=OPEN).order_by("stage_since")


def _drafts(user: User, projects: list[UUID]) -> QuerySet[Case]:
    """The person's own cases that nobody reviews yet: the soonest to end first."""
    own = Case.objects.filter(_by(user), project__in=projects, stage=Stage.QUARANTINED)
    return own.order_by(F("evidence_expires_at").asc(nulls_last=True), "stage_since")


def _ready(user: User, projects: list[UUID]) -> QuerySet[Case]:
    return Case.objects.filter(READY, project__in=projects).order_by("stage_since")


def _expiring(user: User, projects: list[UUID]) -> QuerySet[Case]:
    soon = timezone.now() + WARNINGS[0]
    return Case.objects.filter(project__in=projects, evidence_expires_at__lte=soon).order_by("evidence_expires_at")


def _flagged(user: User, projects: list[UUID]) -> QuerySet[Case]:
    return Case.objects.filter(project__in=projects, flagged=True, stage__in=OPEN).order_by("stage_since")


_CHOSEN = {
    "uncontained": _uncontained,
    "reviews": _reviews,
    "expectations": _expectations,
    "returned": _returned_to,
    "drafts": _drafts,
    "ready": _ready,
    "expiring": _expiring,
    "flagged": _flagged,
}
_UNCONTAINED = Q(security_incident=True, contained_at=None)
_NEXT_STEP = models.Case(
    When(current_revision=None, then=Value("fixture")),
    When(_UNCONTAINED, then=Value("containment")),
    When(latest_comparison=None, then=Value("confirmation")),
    When(latest_comparison__computed_at=None, then=Value("running")),
    When(latest_comparison__old_red=True, then=Value("submission")),
    default=Value("red"),
    output_field=CharField(),
)
_EXPECTATION_WAITS = Q(
    stage__in=(Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED),
    expectation_approved=False,
    expectation_returned=False,
)
_RETURNED = Q(redaction_returned=True) | Q(expectation_returned=True)


# --- what else ------------------------------------------------------------------------------------------------------


def _proposals(user: User, roles: Held) -> list[Proposal] | None:
    """Those that wait for a second person which this one may be; None if no role of theirs confirms anything."""
    wanted = Q()
    for kind in ProposalKind:
        wanted |= Q(kind=kind, case__project__in=_with(roles, proposals.CONFIRMS[kind]))
    if not any(_with(roles, confirming) for confirming in proposals.CONFIRMS.values()):
        return None
    waiting = Proposal.objects.filter(wanted, state=ProposalState.PENDING).exclude(proposed_by=user)
    waiting = waiting.exclude(decisions.is_work_of(user, "case__"), kind=ProposalKind.OVERRIDE)
    rows = waiting.select_related("case__project", "proposed_by").only(*_OF_PROPOSALS).order_by("proposed_at")[:MOST]
    held = [(proposal, roles.get(proposal.case.project_id, frozenset())) for proposal in rows]
    return [proposal for proposal, own in held if not own.isdisjoint(proposals.confirmers(proposal))]


def _findings(roles: Held) -> list[IncidentReport] | None:
    """Those that wait for a responder, the oldest first; None for who is none."""
    projects = _with(roles, may.CREATES_CASES)
    if not projects:
        return None
    waiting = IncidentReport.objects.filter(settled_at=None, project__in=projects).select_related("project")
    return list(waiting.order_by("reported_at")[:MOST])


def _unread(user: User, projects: Iterable[UUID]) -> list[Notification]:
    unread = Notification.objects.filter(user=user, read_at=None, case__project__in=projects)
    rows = unread.select_related("case__project", "case__current_revision").only(*_OF_NOTIFICATIONS)
    return list(rows.order_by("-created_at")[:MOST])


# Of them all, of what they are about what is shown: a case's row is wide.
_OF_PROPOSALS = (
    *(field.name for field in Proposal._meta.concrete_fields),
    *("case__number", "case__project__key", "proposed_by__display_name", "proposed_by__username"),
)
_OF_NOTIFICATIONS = (
    *(field.name for field in Notification._meta.concrete_fields),
    *("case__number", "case__title", "case__project__key", "case__current_revision__number"),
    *("case__verdict", "case__previous_verdict", "case__last_verdict", "case__verdict_since"),
)
