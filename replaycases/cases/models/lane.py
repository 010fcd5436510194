"""Lanes: which revisions run in which suite."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from replaycases.accounts.models import Project
from replaycases.cases.models.fixture_revision import FixtureRevision
from replaycases.cases.models.scoping import ScopedQuerySet


class LaneName(models.TextChoices):
    NONBLOCKING = "nonblocking", "Nonblocking"
    BLOCKING = "blocking", "Blocking"
    COMPATIBILITY = "compatibility", "Compatibility"


class Lane(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="lanes")
    name = models.CharField(max_length=16, choices=LaneName.choices)

    objects: ClassVar[ScopedQuerySet[Lane]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="lane_once_per_project"),
            models.CheckConstraint(condition=models.Q(name__in=LaneName.values), name="lane_name_known"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} {self.name}"


class LaneEntry(models.Model):
    """A revision's stay in a lane; open while `left_at` is null. Only `cases.lifecycle` writes one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lane = models.ForeignKey(Lane, on_delete=models.PROTECT, related_name="entries")
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="lane_entries")
    entered_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True, blank=True)

    PROJECT_PATH = "lane__project"
    objects: ClassVar[ScopedQuerySet[LaneEntry]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lane", "revision"], condition=models.Q(left_at=None), name="lane_entry_open_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision_id} in {self.lane_id}"
