"""Redaction: the policies of a project, what was found in a revision, and what people decided about single places.

What can hold values, or names of members that are values, is sealed apart (`Payload`); these rows hold kinds, counts
and keyed hashes.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q

from replaycases.accounts.models import Project, User
from replaycases.cases.models.case import Case
from replaycases.cases.models.fixture_revision import DIGEST_LENGTH, FixtureRevision
from replaycases.cases.models.payload import Payload
from replaycases.cases.models.scoping import ScopedQuerySet

MAC_LENGTH = 64


class RedactionPolicy(models.Model):
    """One version of a project's policy; the one with the highest number is in force. `data` is what
    `redaction.policy.read_policy` reads, without name and version: these are the project's key and `number`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="redaction_policies")
    number = models.PositiveIntegerField()
    data: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    digest = models.CharField(max_length=DIGEST_LENGTH)
    note = models.TextField()
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[ScopedQuerySet[RedactionPolicy]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["project", "-number"]
        verbose_name_plural = "redaction policies"
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="redaction_policy_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="redaction_policy_number_positive"),
            models.CheckConstraint(condition=~Q(note=""), name="redaction_policy_says_why"),
        ]

    def __str__(self) -> str:
        return f"policy {self.number}"


class Redaction(models.Model):
    """What the detectors say of one revision under one policy: of several of a revision the newest counts.

    `source` is the raw revision that it was made of by replacing what was found, None where it was only read. `record`
    holds the places (see `redaction.record`), `mapping` the case's key and what stands for what; that is destroyed with
    the approval. `open` lists the findings that are in the way as {"finding", "kind", "detector"}, `finding` being the
    keyed hash by which a waiver names it; `lost` is how many relations were lost, `spans` how many changed spans a
    reviewer must have seen, `counts` how many values of each kind were replaced. `policy` is None for the built-in one.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="redactions")
    source = models.ForeignKey(
        FixtureRevision, null=True, blank=True, on_delete=models.PROTECT, related_name="redacted_as"
    )
    policy = models.ForeignKey(RedactionPolicy, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    policy_digest = models.CharField(max_length=DIGEST_LENGTH)
    detectors = models.CharField(max_length=40)
    record = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    mapping = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    open: models.JSONField[list[dict[str, str]], list[dict[str, str]]] = models.JSONField(default=list)
    lost = models.PositiveIntegerField(default=0)
    facts = models.PositiveIntegerField(default=0)
    spans = models.PositiveIntegerField(default=0)
    counts: models.JSONField[dict[str, int], dict[str, int]] = models.JSONField(default=dict)
    rules = models.PositiveIntegerField(default=0)
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    PROJECT_PATH = "revision__case__project"
    objects: ClassVar[ScopedQuerySet[Redaction]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-made_at"]
        indexes = [models.Index(fields=["revision", "-made_at"], name="redaction_newest")]

    def __str__(self) -> str:
        return f"redaction of {self.revision_id}"


class RuleAction(models.TextChoices):
    MARK = "mark", "Replace it"
    KEEP = "keep", "Keep it"
    JOIN = "join", "Same as another value"
    SPLIT = "split", "Another value than its equals"
    SURROGATE = "surrogate", "Choose what stands for it"
    DROP = "drop", "Leave the field out"
    STRUCTURAL = "structural", "Structural fixture"


class RedactionRule(models.Model):
    """What a person decided of one place of a raw revision; it holds for every redaction of that revision until it is
    taken back. `body` is the rule as `redaction.manual` reads it, `place` the same place without names that may be
    values, `kind` what was marked."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    source = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="redaction_rules")
    action = models.CharField(max_length=16, choices=RuleAction.choices)
    kind = models.CharField(max_length=16, blank=True)
    place = models.CharField(max_length=500)
    body = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    added_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField()
    withdrawn_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    PROJECT_PATH = "source__case__project"
    objects: ClassVar[ScopedQuerySet[RedactionRule]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["added_at"]
        constraints = [
            models.CheckConstraint(condition=Q(action__in=RuleAction.values), name="redaction_rule_action_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="redaction_rule_says_why"),
            models.CheckConstraint(
                condition=Q(withdrawn_at=None, withdrawn_by=None)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
                name="redaction_rule_withdrawn_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} at {self.place}"


class Waiver(models.Model):
    """A finding that may stand as it is, until `until`: one person says why, and counts once a second one agreed.
    `finding` is its keyed hash as in `Redaction.open` (detector, place and value under the case's key), `place` the
    same place without names that may be values."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="waivers")
    redaction = models.ForeignKey(Redaction, on_delete=models.PROTECT, related_name="waivers")
    finding = models.CharField(max_length=MAC_LENGTH)
    kind = models.CharField(max_length=16)
    detector = models.CharField(max_length=200)
    place = models.CharField(max_length=500)
    reason = models.TextField()
    until = models.DateTimeField()
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    confirmed_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[Waiver]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["asked_at"]
        constraints = [
            models.UniqueConstraint(fields=["case", "finding"], condition=Q(ended_at=None), name="waiver_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="waiver_has_reason"),
            models.CheckConstraint(condition=~Q(confirmed_by=F("asked_by")), name="waiver_needs_a_second_person"),
            models.CheckConstraint(
                condition=Q(confirmed_at=None, confirmed_by=None)
                | Q(confirmed_at__isnull=False, confirmed_by__isnull=False),
                name="waiver_confirmed_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
                name="waiver_ended_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"waiver of {self.kind} at {self.place}"


class SeenSpans(models.Model):
    """Which of a redaction's changed spans, and pages of what changed beside them, one reviewer has looked at: sorted
    numbers from 0 to `Redaction.spans` - 1."""

    redaction = models.ForeignKey(Redaction, on_delete=models.PROTECT, related_name="seen")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    spans: models.JSONField[list[int], list[int]] = models.JSONField(default=list)
    updated_at = models.DateTimeField(auto_now=True)

    PROJECT_PATH = "redaction__revision__case__project"
    objects: ClassVar[ScopedQuerySet[SeenSpans]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name_plural = "seen spans"
        constraints = [models.UniqueConstraint(fields=["redaction", "user"], name="seen_spans_once")]

    def __str__(self) -> str:
        return f"{len(self.spans)} seen"
