"""The audit chain: append-only, each event hashed over the one before it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from replaycases.accounts.models import Project, User
from replaycases.cases.models.scoping import ScopedQuerySet


class AuditEvent(models.Model):
    """One thing that happened. Written by `cases.events.record` only; the database refuses UPDATE and DELETE.

    `action` is dotted ("run_set.requested"). `case` is the case it belongs to, where it belongs to one. `token` is
    the prefix of the token by which the actor's program acted, "" for a person at a page. `before` and `after` are
    canonical JSON texts, ASCII only, kept as text because PostgreSQL's jsonb would rewrite them.
    """

    sequence = models.PositiveBigIntegerField(primary_key=True)
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    case = models.ForeignKey("cases.Case", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    token = models.CharField(max_length=16, blank=True)
    action = models.CharField(max_length=64)
    object_type = models.CharField(max_length=64)
    object_id = models.CharField(max_length=64)
    object_hash = models.CharField(max_length=71, blank=True)
    before = models.TextField(default="{}")
    after = models.TextField(default="{}")
    at = models.DateTimeField()
    prev_hash = models.CharField(max_length=71)
    hash = models.CharField(max_length=71)

    objects: ClassVar[ScopedQuerySet[AuditEvent]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["sequence"]
        indexes = [
            models.Index(fields=["object_id"], name="audit_event_by_object"),
            models.Index(fields=["case", "-sequence"], name="audit_event_by_case"),
            models.Index(fields=["project", "-sequence"], name="audit_event_by_project"),
            models.Index(fields=["action", "-sequence"], name="audit_event_by_action"),
            models.Index(fields=["at"], name="audit_event_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence} {self.action}"


class AuditHead(models.Model):
    """The one row that every append locks: what the chain's last event is, so that a cut tail shows."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    sequence = models.PositiveBigIntegerField(default=0)
    hash = models.CharField(max_length=71, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="audit_head_is_one_row")]

    def __str__(self) -> str:
        return f"head at {self.sequence}"
