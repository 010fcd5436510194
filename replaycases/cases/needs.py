"""What needs a person: everything on the home page, each only for who may act on it.

It costs the same few queries whatever there is: all lists of cases are one (`needed_cases`), every other part is one of
its own, `MOST` rows long.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, FilteredRelation, Q, QuerySet
from django.utils import timezone

from replaycases.accounts import roles as may
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, kept_queries, needed_captures, needed_cases, proposals, tallies
from replaycases.cases.kept_queries import Asker
from replaycases.cases.models import (
    IncidentReport,
    Notification,
    NotificationKind,
    Proposal,
    ProposalKind,
    ProposalState,
)
from replaycases.cases.needed_captures import CaptureRow
from replaycases.cases.needed_cases import MOST, CaseRow, Section
from replaycases.cases.tallies import Tally


@dataclass(frozen=True, kw_only=True)
class Needs:
    """`lists` has a section where the person holds a role for it, an empty one too; a list of `MOST` rows is cut.
    `findings` were reported and wait for a case, and so do `captures`. `changed` are unread notifications of verdicts,
    `unread` counts those of every kind, up to `MOST`."""

    projects: frozenset[UUID]
    roles: frozenset[Role]
    audits: bool
    tallies: list[Tally]
    lists: dict[Section, list[CaseRow]] = field(default_factory=dict)
    proposals: list[Proposal] | None = None
    findings: list[IncidentReport] | None = None
    captures: list[CaptureRow] | None = None
    changed: list[Notification]
    unread: int

    @property
    def count(self) -> int:
        mine = [row for name, rows in self.lists.items() for row in rows if not (name == "reviews" and row.own_work)]
        others = (self.proposals, self.findings, self.captures, self.changed)
        return len(mine) + sum(len(rows or ()) for rows in others)


def of(user: User) -> Needs:
    """Eight queries at most, whoever asks; six while the tallies are remembered."""
    keys, roles = _memberships(user)
    projects = frozenset(keys)
    unread = _unread(user, projects)
    held: frozenset[Role] = frozenset().union(*roles.values())
    return Needs(
        projects=projects,
        roles=held,
        audits=user.is_superuser or not held.isdisjoint(may.AUDITS),
        tallies=tallies.of(projects),
        lists=_lists(user, roles, keys),
        proposals=_proposals(user, roles),
        findings=_findings(user, roles),
        captures=needed_captures.of(user, captured) if (captured := _with(roles, may.CAPTURES)) else None,
        changed=[one for one in unread if one.kind == NotificationKind.VERDICT_CHANGED],
        unread=len(unread),
    )


Held = Mapping[UUID, frozenset[Role]]


def _memberships(user: User) -> tuple[dict[UUID, str], Held]:
    """The keys of the projects that the person sees, and their roles in each where they hold one."""
    mine = FilteredRelation("memberships", condition=Q(memberships__user=user))
    seen = Project.objects.order_by().annotate(mine=mine)
    seen = seen if user.is_superuser else seen.filter(mine__isnull=False)
    keys: dict[UUID, str] = {}
    held: dict[UUID, set[Role]] = {}
    for project, key, role in seen.values_list("pk", "key", "mine__role"):
        keys[project] = key
        if role is not None:
            held.setdefault(project, set()).add(Role(role))
    return keys, {project: frozenset(roles) for project, roles in held.items()}


def _with(roles: Held, wanted: frozenset[Role]) -> list[UUID]:
    return [project for project, held in roles.items() if not held.isdisjoint(wanted)]


def _lists(user: User, roles: Held, keys: Mapping[UUID, str]) -> dict[Section, list[CaseRow]]:
    asked = {name: found for name in get_args(Section) if (found := _with(roles, needed_cases.ROLES[name]))}
    return needed_cases.lists_of(user, asked, keys)


def _proposals(user: User, roles: Held) -> list[Proposal] | None:
    """Those that wait for a second person which this one may be; None if no role of theirs confirms anything."""
    asked = {name: found for name, (_, may_be) in proposals.SORTS.items() if (found := _with(roles, may_be))}
    if not asked:
        return None
    return kept_queries.instances(_waiting, Asker(user=user, soon=timezone.now()), asked, MOST)


def _waiting(asker: Asker, projects: Mapping[str, Sequence[UUID]], most: int) -> list[QuerySet[Proposal, Any]]:
    wanted = Q()
    for sort, those in projects.items():
        wanted |= proposals.SORTS[sort][0] & Q(case__project__in=those)
    waiting = Proposal.objects.filter(wanted, state=ProposalState.PENDING).exclude(proposed_by=asker.user)
    waiting = waiting.exclude(decisions.is_work_of(asker.user, "case__"), kind=ProposalKind.OVERRIDE)
    # Chosen first: else the database would look up for every one what stands beside the few that are shown.
    rows = Proposal.objects.filter(pk__in=waiting.order_by("proposed_at").values("pk")[:most])
    return [rows.select_related("case__project", "proposed_by").only(*_OF_PROPOSALS).order_by("proposed_at")]


def _findings(user: User, roles: Held) -> list[IncidentReport] | None:
    """Those that wait for a responder, the oldest first; None for who is none."""
    projects = _with(roles, may.CREATES_CASES)
    if not projects:
        return None
    asker = Asker(user=user, soon=timezone.now())
    return kept_queries.instances(_reported, asker, {"findings": projects}, MOST)


def _reported(asker: Asker, projects: Mapping[str, Sequence[UUID]], most: int) -> list[QuerySet[IncidentReport, Any]]:
    waiting = IncidentReport.objects.filter(settled_at=None, project__in=projects["findings"])
    return [waiting.select_related("project").order_by("reported_at")[:most]]


def _unread(user: User, projects: Collection[UUID]) -> list[Notification]:
    """Those of verdicts first, which the page lists and not only counts, then the newest."""
    if not projects:
        return []
    asker = Asker(user=user, soon=timezone.now())
    return kept_queries.instances(_told, asker, {"seen": list(projects)}, MOST)


def _told(asker: Asker, projects: Mapping[str, Sequence[UUID]], most: int) -> list[QuerySet[Notification, Any]]:
    unread = Notification.objects.filter(user=asker.user, read_at=None).in_projects(projects["seen"])
    rows = unread.select_related("case__project", "case__current_revision").only(*_OF_NOTIFICATIONS)
    of_verdicts = ExpressionWrapper(Q(kind=NotificationKind.VERDICT_CHANGED), BooleanField())
    return [rows.order_by(of_verdicts.desc(), "-created_at")[:most]]


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
