"""What people say and note while they review a case."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from replaycases.accounts.models import User
from replaycases.cases.models.case import Case
from replaycases.cases.models.fixture_revision import FixtureRevision
from replaycases.cases.models.scoping import ScopedQuerySet


class ReviewComment(models.Model):
    """A remark about one place of a revision; `pointer` is a JSON Pointer into its document, "" for the whole. Open
    until somebody resolves it. Comments of quarantined evidence are as restricted as that evidence."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="comments")
    pointer = models.CharField(max_length=500, blank=True)
    text = models.TextField()
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    resolved_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.TextField(blank=True)

    PROJECT_PATH = "revision__case__project"
    objects: ClassVar[ScopedQuerySet[ReviewComment]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(resolved_at=None, resolved_by=None, resolution="")
                | Q(resolved_at__isnull=False, resolved_by__isnull=False),
                name="comment_resolved_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"comment at {self.pointer or 'the whole'}"


class FlagReason(models.TextChoices):
    POLICY_CHANGED = "policy_changed", "A policy changed"
    SCHEMA_BUMPED = "schema_bumped", "The fixture schema has a new version"
    PARSER_CHANGED = "parser_changed", "A parser or validator is newer than the recording"
    DRIFTED = "drifted", "A probe found drift"
    REVIEW_DATE_PASSED = "review_date_passed", "The review date passed"
    DEMOTION_ENDED = "demotion_ended", "The time of a demotion ended"
    WAIVER_ENDED = "waiver_ended", "A waiver of a finding ended"


class ReviewFlag(models.Model):
    """A reason to look at a case again. It changes neither stage nor lane: a blocking case keeps blocking."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="flags")
    reason = models.CharField(max_length=24, choices=FlagReason.choices)
    detail = models.TextField(blank=True)
    raised_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    raised_at = models.DateTimeField()
    cleared_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    cleared_at = models.DateTimeField(null=True, blank=True)
    clearing_note = models.TextField(blank=True)

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[ReviewFlag]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["raised_at"]
        constraints = [
            models.UniqueConstraint(fields=["case", "reason"], condition=Q(cleared_at=None), name="flag_open_once"),
            models.CheckConstraint(condition=Q(reason__in=FlagReason.values), name="flag_reason_known"),
            models.CheckConstraint(
                condition=Q(cleared_at=None, cleared_by=None, clearing_note="")
                | (Q(cleared_at__isnull=False, cleared_by__isnull=False) & ~Q(clearing_note="")),
                name="flag_cleared_by_somebody_with_a_note",
            ),
        ]

    def __str__(self) -> str:
        return self.get_reason_display()


class ClosingStep(models.TextChoices):
    """What a green replay does not show, and somebody must look at before the incident is closed."""

    CONTROLS = "controls", "Controls cover the neighbouring outcomes"
    MONITORING = "monitoring", "Monitoring sees the prohibited outcome in production"
    ROLLOUT = "rollout", "The fix is rolled out where the incident happened"
    HAND_OFF = "hand_off", "The incident owner signed the hand-off"


class ClosingItem(models.Model):
    """One step of the closing checklist, done by somebody who says how they know."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="closing_items")
    step = models.CharField(max_length=16, choices=ClosingStep.choices)
    note = models.TextField()
    done_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    done_at = models.DateTimeField()

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[ClosingItem]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "step"], name="closing_step_once"),
            models.CheckConstraint(condition=Q(step__in=ClosingStep.values), name="closing_step_known"),
            models.CheckConstraint(condition=~Q(note=""), name="closing_step_says_how"),
        ]

    def __str__(self) -> str:
        return f"{self.step} of {self.case_id}"
