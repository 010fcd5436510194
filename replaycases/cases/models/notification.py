"""Notifications: what somebody should know without having to look for it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db import models
from django.db.models import Q, QuerySet

from replaycases.accounts.models import User
from replaycases.cases.models.case import Case
from replaycases.cases.models.incident_report import IncidentReport


class NotificationKind(models.TextChoices):
    EXPIRES_SOON = "expires_soon", "Raw evidence expires soon"
    EXPIRED = "expired", "Raw evidence is past its time"
    REVIEW_WANTED = "review_wanted", "A review waits"
    RETURNED = "returned", "A revision came back"
    SECOND_PERSON_WANTED = "second_person_wanted", "A second person is needed"
    DECIDED = "decided", "What you proposed was decided"
    VERDICT_CHANGED = "verdict_changed", "A verdict changed"
    FLAGGED = "flagged", "A case must be reviewed again"
    WAIVER_ENDS = "waiver_ends", "A waiver of a finding ends soon"
    FINDING_REPORTED = "finding_reported", "A finding was reported"


class NotificationQuerySet(models.QuerySet["Notification"]):
    def in_projects(self, projects: Iterable[UUID] | QuerySet[Any, Any]) -> Self:
        """About cases and findings of these projects."""
        return self.filter(Q(case__project__in=projects) | Q(incident_report__project__in=projects))


class Notification(models.Model):
    """One message to one person about one case, or about a finding before there is a case. `key` names the occasion, so
    that it is sent once however often the beat looks. `text` holds ids and states, never evidence."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="notifications")
    case = models.ForeignKey(Case, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    incident_report = models.ForeignKey(
        IncidentReport, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    kind = models.CharField(max_length=24, choices=NotificationKind.choices)
    key = models.CharField(max_length=120)
    text = models.CharField(max_length=300)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[NotificationQuerySet] = NotificationQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["user", "-created_at"], condition=models.Q(read_at=None), name="notification_unread"),
            models.Index(fields=["created_at"], condition=models.Q(mailed_at=None), name="notification_unmailed"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="notification_once"),
            models.CheckConstraint(
                condition=models.Q(kind__in=NotificationKind.values), name="notification_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(case__isnull=False, incident_report=None) | Q(case=None, incident_report__isnull=False),
                name="notification_about_one",
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def said(self) -> str:
        """The text without the id of the case or project, for where that stands beside it."""
        said = self.text.partition(": ")[2] or self.text
        return said[:1].upper() + said[1:]


class NotificationCursor(models.Model):
    """The one row that says up to which audit event notifications were made."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    sequence = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="notification_cursor_is_one_row")]

    def __str__(self) -> str:
        return f"read up to {self.sequence}"
