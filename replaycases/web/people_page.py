"""The people of a project as its page shows them: members with roles, teams with what they own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


def members_and_teams(project: Project) -> tuple[list[Member], list[TeamRow]]:
    """Whoever holds a role, and every team with its members, by name. Four queries."""
    owned = _owned(project)
    return _members(project, owned), _teams(project, owned)


def _members(project: Project, owned: Mapping[UUID, int]) -> list[Member]:
    held: dict[User, list[Membership]] = {}
    memberships = Membership.objects.filter(project=project).select_related("user", "project")
    for membership in memberships.order_by("user__display_name", "user__username", "role"):
        held.setdefault(membership.user, []).append(membership)
    return [Member(user=user, memberships=tuple(roles), owned=owned.get(user.pk, 0)) for user, roles in held.items()]


def _teams(project: Project, owned: Mapping[UUID, int]) -> list[TeamRow]:
    people = Prefetch("members", queryset=User.objects.order_by("display_name", "username"))
    return [
        TeamRow(team=team, members=tuple(team.members.all()), owned=owned.get(team.pk, 0))
        for team in Team.objects.filter(project=project).prefetch_related(people)
    ]


def _owned(project: Project) -> Mapping[UUID, int]:
    """How many cases each person and each team owns a boundary of."""
    owners = CaseOwner.objects.filter(case__project=project).values_list("user", "team")
    counted = owners.annotate(cases=Count("case", distinct=True)).order_by()
    return {user or team: cases for user, team, cases in counted}
