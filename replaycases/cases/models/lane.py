"""Lanes: which revisions run in which suite."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from replaycases.accounts.models import Project, User
from replaycases.cases.models.case import Case
from replaycases.cases.models.fixture_revision import FixtureRevision
from replaycases.cases.models.scoping import ScopedQuerySet


class LaneName(models.TextChoices):
    NONBLOCKING = "nonblocking", "Nonblocking"
    BLOCKING = "blocking", "Blocking"
    COMPATIBILITY = "compatibility", "Compatibility"


class Lane(models.Model):
    """A suite of a project with its policy: into it comes only what gave one observation in `repeated_runs` runs and
    has `minimum_history` counted runs behind it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="lanes")
    name = models.CharField(max_length=16, choices=LaneName.choices)
    repeated_runs = models.PositiveSmallIntegerField(
        default=5, validators=[MinValueValidator(2), MaxValueValidator(100)]
    )
    minimum_history = models.PositiveSmallIntegerField(
        default=10, validators=[MinValueValidator(2), MaxValueValidator(1000)]
    )

    objects: ClassVar[ScopedQuerySet[Lane]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="lane_once_per_project"),
            models.CheckConstraint(condition=Q(name__in=LaneName.values), name="lane_name_known"),
            models.CheckConstraint(
                condition=Q(repeated_runs__gte=2, minimum_history__gte=2), name="lane_policy_asks_for_runs"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project} {self.name}"


class LeftBy(models.TextChoices):
    """How a revision left a lane. There is no other way out."""

    PROMOTED = "promoted", "Promoted"
    SUCCEEDED = "succeeded", "Succeeded by a later revision"
    DEMOTED = "demoted", "Demoted"
    RETIRED = "retired", "Retired"


class LaneEntry(models.Model):
    """A revision's stay in a lane; open while `left_at` is null. At most one revision of a case stands in one lane.
    `demotion` is the proposal by which it came down into this lane. Only `cases.lane_moves` writes one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lane = models.ForeignKey(Lane, on_delete=models.PROTECT, related_name="entries")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="lane_entries")
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="lane_entries")
    note = models.TextField(blank=True)
    demotion = models.OneToOneField(
        "cases.Proposal", null=True, blank=True, on_delete=models.PROTECT, related_name="entry_made"
    )
    entered_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    entered_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True, blank=True)
    left_by = models.CharField(max_length=16, choices=LeftBy.choices, blank=True)

    PROJECT_PATH = "lane__project"
    objects: ClassVar[ScopedQuerySet[LaneEntry]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name_plural = "lane entries"
        constraints = [
            models.UniqueConstraint(fields=["lane", "case"], condition=Q(left_at=None), name="lane_entry_open_once"),
            models.CheckConstraint(
                condition=Q(left_at=None, left_by="") | Q(left_at__isnull=False, left_by__in=LeftBy.values),
                name="lane_entry_left_by_a_known_way",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision_id} in {self.lane_id}"
