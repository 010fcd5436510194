"""Who may do what: the one place that reads memberships."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.core.exceptions import PermissionDenied

from replaycases.accounts.models import Membership, Project, User
from replaycases.accounts.roles import Role


def roles_of(user: User, project: Project) -> frozenset[Role]:
    """The roles that the user holds in the project. A superuser holds none by that alone, an inactive user none, and a
    token none outside its own project."""
    if not user.is_active or (user.token is not None and user.token.project_id != project.pk):
        return frozenset()
    held = Membership.objects.filter(user=user, user__is_active=True, project=project).values_list("role", flat=True)
    return frozenset(Role(role) for role in held)


def roles_by_project(user: User, projects: Iterable[Project]) -> dict[UUID, frozenset[Role]]:
    """What `roles_of` says of each of the projects, by its key. One query."""
    held: dict[UUID, frozenset[Role]] = {project.pk: frozenset() for project in projects}
    if not user.is_active:
        return held
    reached = [key for key in held if user.token is None or user.token.project_id == key]
    rows = Membership.objects.filter(user=user, user__is_active=True, project__in=reached)
    for project, role in rows.values_list("project", "role"):
        held[project] |= {Role(role)}
    return held


def has_any(user: User, project: Project, roles: Iterable[Role]) -> bool:
    return not roles_of(user, project).isdisjoint(roles)


def require(user: User, project: Project, *roles: Role) -> None:
    """Raise PermissionDenied unless the user holds one of the roles in the project."""
    if not has_any(user, project, roles):
        raise PermissionDenied(lacking(project, roles))


def lacking(project: Project, roles: Iterable[Role]) -> str:
    """The sentence for somebody who holds none of the roles in the project."""
    needed = " or ".join(sorted(role.label for role in roles))
    return f"This needs the role {needed} in project {project.key}."
