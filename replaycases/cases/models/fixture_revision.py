"""Fixture revisions and their controls: immutable, in the database too (see `cases.immutability`)."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases.models.case import Case
from replaycases.cases.models.payload import Payload
from replaycases.cases.models.scoping import ScopedQuerySet

DIGEST_LENGTH = len("sha256:") + 64
COMMIT_LENGTH = 200
MOST_TIMEOUTS = 20
"""So many calls that ran out of time are listed with a revision; its document has all of them."""


class FixtureRevision(models.Model):
    """One valid fixture of a case. `payload` holds its exact bytes, `detect` the detect rules beside a 1.0 fixture,
    `fixture_case_id` the name that the fixture gives itself (`case_id` is the row of the case). `effectful_tools` are
    the tools of its calls, alternatives included, that have an effect, `unstated_tools` those of which no call says
    whether it has one, `said_to_read` those of which its draft said that they only read, None where it came of none;
    `non_replayable` is what the fixture says of itself (None, as `unstated_tools`, for revisions from before they were
    kept); `authored_answers` is how many alternatives its recording does not hold, for revisions from before that was
    looked at how many say so; `timeouts` are the findings of fixture.timeouts about its first MOST_TIMEOUTS calls that
    ran out of time; `recorded_commit` is that of the code that recorded it, ""
    where it does not say; `changed` says in words what its author changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    payload = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    detect = models.ForeignKey(Payload, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    schema_version = models.CharField(max_length=8)
    fixture_case_id = models.CharField(max_length=200)
    content_hash = models.CharField(max_length=DIGEST_LENGTH)
    fixture_hash = models.CharField(max_length=DIGEST_LENGTH)
    checks_hash = models.CharField(max_length=DIGEST_LENGTH)
    effectful_tools: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    unstated_tools: models.JSONField[list[str] | None, list[str] | None] = models.JSONField(null=True)
    said_to_read: models.JSONField[list[str] | None, list[str] | None] = models.JSONField(null=True)
    non_replayable = models.BooleanField(null=True)
    authored_answers = models.PositiveIntegerField(default=0)
    timeouts: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(default=list)
    recorded_commit = models.CharField(max_length=COMMIT_LENGTH, blank=True)
    changed = models.TextField(blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    on_behalf_of = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[FixtureRevision]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["case", "-number"]
        indexes = [
            models.Index(fields=["fixture_hash"], name="revision_by_fixture_hash", opclasses=["varchar_pattern_ops"]),
            models.Index(fields=["content_hash"], name="revision_by_content_hash", opclasses=["varchar_pattern_ops"]),
            models.Index(fields=["fixture_case_id"], name="revision_by_case_id"),
            # A person's revisions, from the index alone.
            models.Index(fields=["created_by", "id"], name="revision_by_author"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["case", "number"], name="revision_number_once_per_case"),
        ]

    def __str__(self) -> str:
        return f"{self.fixture_case_id} revision {self.number}"


class OutcomeType(models.TextChoices):
    SUCCESS = "success", "Success"
    REJECTION = "rejection", "Explicit rejection"
    TIMEOUT = "timeout_before_result", "Timeout before a known result"
    UNCERTAIN = "uncertain", "Uncertain completion"


class Control(models.Model):
    """A fixture beside the incident on which the fixed version must hold. `mutation` is a JSON Patch (RFC 6902) on it
    that must turn the control red; `mutated_hash` is the fixture hash after that patch. `detect` holds the detect rules
    beside a 1.0 fixture. `tool` is the tool whose outcome is of `outcome_type`, "" where the revision has no tool with
    an effect."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="controls")
    name = models.CharField(max_length=200)
    outcome_type = models.CharField(max_length=24, choices=OutcomeType.choices)
    tool = models.CharField(max_length=200, blank=True)
    payload = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    detect = models.ForeignKey(Payload, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    mutation = models.ForeignKey(Payload, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    fixture_hash = models.CharField(max_length=DIGEST_LENGTH)
    checks_hash = models.CharField(max_length=DIGEST_LENGTH)
    mutated_hash = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    PROJECT_PATH = "revision__case__project"
    objects: ClassVar[ScopedQuerySet[Control]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["revision", "name"], name="control_name_once_per_revision"),
            models.CheckConstraint(
                condition=models.Q(outcome_type__in=OutcomeType.values), name="control_outcome_type_known"
            ),
            models.CheckConstraint(
                condition=models.Q(mutation=None, mutated_hash="")
                | (models.Q(mutation__isnull=False) & ~models.Q(mutated_hash="")),
                name="control_mutation_has_hash",
            ),
        ]

    def __str__(self) -> str:
        return self.name
