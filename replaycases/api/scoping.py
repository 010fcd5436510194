"""Which rows a user may see, for every model that the API shows; anything else does not exist for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Model, Q

from replaycases.accounts.models import ApiToken, Invitation, Membership, Project, Team, User
from replaycases.accounts.roles import ADMINISTERS, READS_QUARANTINED_EVIDENCE
from replaycases.cases import inbox, reading
from replaycases.cases.audit_export import audited
from replaycases.cases.models import AuditEvent, Classification, Notification, RawRead, ReviewComment


def visible(queryset: Any, user: Any) -> Any:
    """The rows among `queryset` that the user may see; none for somebody who is not signed in."""
    if not user.is_authenticated:
        return queryset.none()
    rule = _RULES.get(queryset.model)
    if rule is not None:
        return queryset.filter(rule(user)).distinct() if queryset.model is User else queryset.filter(rule(user))
    return queryset.visible_to(user)


def _in_projects(user: User) -> Q:
    return Q(project__in=Project.objects.visible_to(user))


def _people(user: User) -> Q:
    return Q(pk=user.pk) | Q(memberships__project__in=Project.objects.visible_to(user))


def _administered(user: User) -> Q:
    """Rows of projects that the user administers; programs administer nothing."""
    if user.token is not None or not user.is_active:
        return Q(pk__in=[])
    if user.is_superuser:
        return Q()
    return Q(project__memberships__in=Membership.objects.filter(user=user, role__in=ADMINISTERS))


def _own(user: User) -> Q:
    return Q(user=user, pk__in=[]) if user.token is not None else Q(user=user)


def _readable_comments(user: User) -> Q:
    """A comment of quarantined evidence may quote it, and is open to whom that is."""
    seen = Project.objects.visible_to(user)
    readers = Membership.objects.filter(user=user, role__in=READS_QUARANTINED_EVIDENCE, project__in=seen)
    quarantined = Q(revision__payload__classification=Classification.QUARANTINED) | Q(
        revision__detect__classification=Classification.QUARANTINED
    )
    reader = Q(revision__case__project__in=readers.values("project"), revision__case__in=reading.live_cases(user))
    return Q(revision__case__project__in=seen) & (~quarantined | reader)


def _audited(user: User) -> Q:
    """The whole chain for a superuser at a page; else events of projects in which a role of the user audits."""
    if user.is_superuser and user.is_active and user.token is None:
        return Q()
    return Q(project__in=audited(user))


_RULES: Mapping[type[Model], Callable[[User], Q]] = {
    User: _people,
    AuditEvent: _audited,
    RawRead: _own,
    ReviewComment: _readable_comments,
    Team: _in_projects,
    Membership: _in_projects,
    Invitation: _administered,
    ApiToken: _own,
    Notification: lambda user: Q(pk__in=inbox.of(user)),
}
