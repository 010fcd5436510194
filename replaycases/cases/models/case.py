"""A case: one incident that must not happen again."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from replaycases.accounts.models import Project, User
from replaycases.cases.models.scoping import ScopedQuerySet


class Stage(models.TextChoices):
    QUARANTINED = "quarantined", "Quarantined"
    IN_REVIEW = "in_review", "In review"
    REDACTION_APPROVED = "redaction_approved", "Redaction approved"
    REPRODUCED = "reproduced", "Reproduced"
    RETIRED = "retired", "Retired"
    NON_REPLAYABLE = "non_replayable", "Non-replayable"


class Case(models.Model):
    """`case_id` is the fixture's own name; `readable_id` ("RC-17") is ours. Trigger, prohibited outcome and deciding
    evidence are the failure statement. Only `cases.lifecycle` assigns `stage`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="cases")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=300)
    incident_id = models.CharField(max_length=200)
    case_id = models.CharField(max_length=200)
    trigger = models.TextField()
    prohibited_outcome = models.TextField()
    deciding_evidence = models.TextField()
    stage = models.CharField(max_length=24, choices=Stage.choices, default=Stage.QUARANTINED)
    current_revision = models.ForeignKey(
        "cases.FixtureRevision", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[ScopedQuerySet[Case]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["project", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="case_number_once_per_project"),
            models.CheckConstraint(condition=models.Q(stage__in=Stage.values), name="case_stage_known"),
        ]

    def __str__(self) -> str:
        return self.readable_id

    @property
    def readable_id(self) -> str:
        return f"{self.project.key}-{self.number}"
