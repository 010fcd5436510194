"""Somebody brings in what another person asked for: it is the work of both."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from replaycases.accounts import access
from replaycases.accounts.models import Project, User


def require_member(project: Project, actor: User, behalf: User | None) -> None:
    """Raises ValidationError for the actor themselves and for somebody who is not in the project."""
    if behalf is None:
        return
    if behalf == actor:
        raise ValidationError({"on_behalf_of": "You need not name yourself: what you do is yours anyway."})
    if not access.roles_of(behalf, project):
        raise ValidationError({"on_behalf_of": f"{behalf} is not a member of project {project.key}."})


def in_event(behalf: User | None) -> dict[str, str]:
    """The part of an audit event that names them."""
    return {"on_behalf_of": str(behalf.pk)} if behalf is not None else {}
