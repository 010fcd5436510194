"""Traces that a collector sends, kept for a short time in case somebody wants one, and the rules that want some."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from replaycases.accounts.models import ApiToken, Project, User
from replaycases.cases.models.capture import Capture
from replaycases.cases.models.payload import Payload
from replaycases.cases.models.scoping import ScopedQuerySet


class RuleKind(models.TextChoices):
    """By what a trace is chosen."""

    ERROR = "error", "A span ended with an error"
    ATTRIBUTE = "attribute", "An attribute has this value"
    TRACE = "trace", "The trace with this id"


class CaptureRule(models.Model):
    """Traces of a project that match become captures by themselves once they are quiet. `key` is an attribute's name,
    `value` its value as text or the id of a trace; each is "" where the kind needs none. Rules change only in being
    enabled or not; `matched` counts the traces that matched it first, `matched_at` is when the last one did."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=16, choices=RuleKind.choices)
    key = models.CharField(max_length=200, blank=True)
    value = models.CharField(max_length=200, blank=True)
    enabled = models.BooleanField(default=True)
    matched = models.PositiveBigIntegerField(default=0)
    matched_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[ScopedQuerySet[CaptureRule]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "key", "value"], name="capture_rule_once"),
            models.CheckConstraint(
                condition=Q(kind="error", key="", value="")
                | Q(kind="attribute") & ~Q(key="")
                | Q(kind="trace", key="") & ~Q(value=""),
                name="capture_rule_says_what_it_needs",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key} {self.value}".strip()


class TraceInbox(models.Model):
    """What the buffer of a project holds, counted; its row is locked by whoever changes the buffer. `dropped` counts
    traces that had to go before somebody made a capture of them, `rejected` spans and records that were not kept at
    all, `bytes` what is kept of requests."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.PROTECT, related_name="+")
    bytes = models.PositiveBigIntegerField(default=0)
    traces = models.PositiveIntegerField(default=0)
    dropped = models.PositiveBigIntegerField(default=0)
    rejected = models.PositiveBigIntegerField(default=0)

    objects: ClassVar[ScopedQuerySet[TraceInbox]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"buffer of {self.project_id}"


class TraceBatch(models.Model):
    """The body of one request of a collector, sealed, and the `token` that sent it. It goes when no trace in it is kept
    any more."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    payload = models.OneToOneField(Payload, on_delete=models.PROTECT, related_name="+")
    token = models.ForeignKey(ApiToken, null=True, on_delete=models.PROTECT, related_name="+")
    received_at = models.DateTimeField()

    objects: ClassVar[ScopedQuerySet[TraceBatch]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["received_at"]

    def __str__(self) -> str:
        return f"batch {self.id}"


class BufferedTrace(models.Model):
    """One trace of which something came. `service` is the first name of a service that its resources gave, `errors`
    counts its spans that ended with an error. `ended`: its root span came, ended. `rule` is the first that it matched,
    `token` the one that sent last, whose owner captures by rule. `capture` is what was made of it, `why_not` why that
    could not be done."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    trace_id = models.CharField(max_length=32)
    batches: models.ManyToManyField[TraceBatch, models.Model] = models.ManyToManyField(
        TraceBatch, related_name="traces"
    )
    spans = models.PositiveIntegerField(default=0)
    records = models.PositiveIntegerField(default=0)
    service = models.CharField(max_length=200, blank=True)
    errors = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    ended = models.BooleanField(default=False)
    rule = models.ForeignKey(CaptureRule, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    token = models.ForeignKey(ApiToken, on_delete=models.PROTECT, related_name="+")
    capture = models.ForeignKey(Capture, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    why_not = models.CharField(max_length=300, blank=True)

    objects: ClassVar[ScopedQuerySet[BufferedTrace]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-last_at"]
        indexes = [
            models.Index(fields=["project", "-ended", "last_at"], name="trace_first_to_be_dropped"),
            models.Index(fields=["first_at"], name="trace_by_age"),
            models.Index(
                fields=["last_at"],
                condition=Q(rule__isnull=False, capture=None, why_not=""),
                name="trace_to_be_captured",
            ),
        ]
        constraints = [models.UniqueConstraint(fields=["project", "trace_id"], name="trace_once_per_project")]

    def __str__(self) -> str:
        return self.trace_id
