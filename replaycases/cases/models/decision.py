"""Decisions: who approved or returned exactly which bytes."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from replaycases.accounts.models import User
from replaycases.cases.models.case import Case
from replaycases.cases.models.fixture_revision import DIGEST_LENGTH, Control, FixtureRevision
from replaycases.cases.models.redaction import Redaction
from replaycases.cases.models.scoping import ScopedQuerySet


class DecisionKind(models.TextChoices):
    REDACTION = "redaction", "Redaction"
    EXPECTATION = "expectation", "Expectation"
    CONTROL = "control", "Control"


class DecisionOutcome(models.TextChoices):
    APPROVED = "approved", "Approved"
    RETURNED = "returned", "Returned"


class Decision(models.Model):
    """One person's decision about one revision (or one of its controls), with the hashes of what they saw. An approval
    stands until it is voided, once and for good; at most one of a kind stands for a case. `redaction` is what was found
    in these bytes, and under which policy, when their redaction was approved. Written by `cases.decisions` only.

    The database refuses an approval by anybody who captured the case, edited any of its revisions up to this one, or
    had that done on their behalf, and one whose hashes are not the revision's (see `cases.immutability`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="decisions")
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="decisions")
    control = models.ForeignKey(Control, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=16, choices=DecisionKind.choices)
    outcome = models.CharField(max_length=16, choices=DecisionOutcome.choices)
    content_hash = models.CharField(max_length=DIGEST_LENGTH)
    fixture_hash = models.CharField(max_length=DIGEST_LENGTH)
    checks_hash = models.CharField(max_length=DIGEST_LENGTH)
    redaction = models.ForeignKey(Redaction, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    note = models.TextField(blank=True)
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField()
    voided_at = models.DateTimeField(null=True, blank=True)
    void_reason = models.TextField(blank=True)

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[Decision]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-decided_at"]
        indexes = [
            models.Index(fields=["revision"], condition=Q(outcome="returned", control=None), name="decision_returned"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["case", "kind"],
                condition=Q(outcome="approved", voided_at=None, control=None),
                name="decision_one_approval_stands",
            ),
            models.UniqueConstraint(
                fields=["control"], condition=Q(outcome="approved", voided_at=None), name="decision_control_once"
            ),
            models.CheckConstraint(condition=Q(kind__in=DecisionKind.values), name="decision_kind_known"),
            models.CheckConstraint(condition=Q(outcome__in=DecisionOutcome.values), name="decision_outcome_known"),
            models.CheckConstraint(
                condition=Q(kind="control", control__isnull=False) | (~Q(kind="control") & Q(control=None)),
                name="decision_control_iff_kind",
            ),
            models.CheckConstraint(
                condition=~Q(kind="redaction", outcome="approved") | Q(redaction__isnull=False),
                name="decision_redaction_says_of_what",
            ),
            models.CheckConstraint(condition=Q(outcome="approved") | ~Q(note=""), name="decision_return_says_why"),
            models.CheckConstraint(
                condition=Q(voided_at=None, void_reason="") | (Q(voided_at__isnull=False) & ~Q(void_reason="")),
                name="decision_void_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.outcome}"
