"""Who is told about a case or a finding, and that they are: only active people who hold a role in its project now."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions
from replaycases.cases.models import Boundary, Case, IncidentReport, Notification, NotificationKind

People = set[UUID]


def with_role(of: Case | IncidentReport, roles: Iterable[Role]) -> People:
    """Active people who hold one of the roles in its project."""
    held = Membership.objects.filter(project=of.project_id, role__in=list(roles), user__is_active=True)
    return set(held.values_list("user", flat=True))


def still_members(case: Case, people: Iterable[UUID]) -> People:
    """Those of `people` who are active and hold any role in the case's project."""
    held = Membership.objects.filter(project=case.project_id, user__in=list(people), user__is_active=True)
    return set(held.values_list("user", flat=True))


def owners(case: Case, *boundaries: Boundary) -> People:
    """The people who own one of the boundaries (any, if none is named), directly or by their team."""
    rows = case.owners.filter(boundary__in=boundaries) if boundaries else case.owners.all()
    owned = Q(pk__in=rows.values("user")) | Q(teams__in=rows.exclude(team=None).values("team"))
    return still_members(case, User.objects.filter(owned).values_list("pk", flat=True))


def contributors(case: Case) -> People:
    """Whose work the case is, and who are still in its project."""
    return still_members(case, decisions.contributors(case))


def notify(
    people: Iterable[UUID],
    *,
    kind: NotificationKind,
    occasion: str,
    text: str,
    case: Case | None = None,
    finding: IncidentReport | None = None,
) -> None:
    """One notification a person about the case or the finding, one of which is given, for this occasion, however often
    it is asked for. `text` holds ids and states."""
    now = timezone.now()
    made = [
        Notification(user_id=pk, case=case, incident_report=finding, kind=kind, key=occasion, text=text, created_at=now)
        for pk in people
    ]
    Notification.objects.bulk_create(made, ignore_conflicts=True)


def unaware(people: People, of: IncidentReport) -> People:
    """Those of `people` who have nothing unread about a finding of the project: what waits there is told once."""
    told = Notification.objects.filter(incident_report__project=of.project_id, user__in=people, read_at=None)
    return people - set(told.values_list("user", flat=True))
