"""Notifications: made from the audit chain by the beat, so that nobody has to remember to send one."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.utils import timezone

from replaycases.cases.models import Case, Notification, NotificationKind


def notify(people: Iterable[UUID], *, case: Case, kind: NotificationKind, occasion: str, text: str) -> None:
    """One notification a person for this occasion, however often it is asked for. `text` holds ids and states."""
    now = timezone.now()
    made = [Notification(user_id=pk, case=case, kind=kind, key=occasion, text=text, created_at=now) for pk in people]
    Notification.objects.bulk_create(made, ignore_conflicts=True)
