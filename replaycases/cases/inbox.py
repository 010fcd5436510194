"""A person's notifications: which they see, and that they were read."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases.models import Notification, NotificationKind


def of(user: User) -> QuerySet[Notification]:
    """The user's own, about cases and findings of projects that they may see now."""
    return Notification.objects.filter(user=user).in_projects(Project.objects.visible_to(user))


def mark_read(user: User, *, notification: Notification) -> Notification:
    """The user read one of theirs; one that was read already keeps its time."""
    of(user).filter(pk=notification.pk, read_at=None).update(read_at=timezone.now())
    notification.refresh_from_db(fields=["read_at"])
    return notification


def mark_all_read(user: User, *, until: datetime, kind: NotificationKind | None = None) -> int:
    """The user read all, or all of one kind, that were there at `until`. Returns how many."""
    unread = Notification.objects.filter(user=user, read_at=None, created_at__lte=until)
    return (unread if kind is None else unread.filter(kind=kind)).update(read_at=timezone.now())
