"""The people and teams of projects, as forms offer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import QuerySet

from replaycases.accounts.models import Project, Team, User


def members_of(projects: Iterable[Project]) -> QuerySet[User]:
    """Active people with a role in one of the projects, by name."""
    people = User.objects.filter(memberships__project__in=projects, is_active=True)
    return people.distinct().order_by("display_name", "username")


def owners_of(project: Project) -> Mapping[str, User | Team]:
    """Whoever may be named as an owner in the project, by the key that a form sends. Two queries."""
    teams, people = Team.objects.filter(project=project), members_of([project])
    return {**{f"team:{team.pk}": team for team in teams}, **{f"user:{person.pk}": person for person in people}}


def grouped(owners: Mapping[str, User | Team]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The same as choices: teams before people."""
    teams = [(key, str(owner)) for key, owner in owners.items() if isinstance(owner, Team)]
    people = [(key, str(owner)) for key, owner in owners.items() if isinstance(owner, User)]
    return [("Teams", teams), ("People", people)]
