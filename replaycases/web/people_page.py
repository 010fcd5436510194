"""The people of a project as its page shows them: members with roles, teams with what they own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Prefetch

from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.cases.models import CaseOwner


@dataclass(frozen=True, kw_only=True)
class Member:
    """`owned` counts the cases of which they own a boundary by name."""

    user: User
    memberships: tuple[Membership, ...]
    owned: int


@dataclass(frozen=True, kw_only=True)
class TeamRow:
    """`owned` counts the cases of which the team owns a boundary."""

    team: Team
    members: tuple[User, ...]
    owned: int


def members(project: Project) -> list[Member]:
    """Whoever holds a role, by name. Two queries."""
    held: dict[User, list[Membership]] = {}
    memberships = Membership.objects.filter(project=project).select_related("user", "project")
    for membership in memberships.order_by("user__display_name", "user__username", "role"):
        held.setdefault(membership.user, []).append(membership)
    owned = _owned(project, "user")
    return [Member(user=user, memberships=tuple(roles), owned=owned.get(user.pk, 0)) for user, roles in held.items()]


def teams(project: Project) -> list[TeamRow]:
    """Every team with its members, by name. Three queries."""
    people = Prefetch("members", queryset=User.objects.order_by("display_name", "username"))
    owned = _owned(project, "team")
    return [
        TeamRow(team=team, members=tuple(team.members.all()), owned=owned.get(team.pk, 0))
        for team in Team.objects.filter(project=project).prefetch_related(people)
    ]


def _owned(project: Project, kind: str) -> Mapping[UUID, int]:
    """Cases by the person or team ("user", "team") that owns a boundary of them."""
    rows: Any = CaseOwner.objects.filter(case__project=project, **{f"{kind}__isnull": False})
    counted: Iterable[tuple[UUID, int]] = rows.values_list(kind).annotate(n=Count("case", distinct=True)).order_by()
    return dict(counted)
