"""What a grader or monitor reports before there is a case."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from replaycases.accounts.models import Project, User
from replaycases.cases.models.case import Case
from replaycases.cases.models.scoping import ScopedQuerySet


class IncidentReport(models.Model):
    """A finding that waits for a responder: nobody has stated a failure yet, so it is no case. It is settled once, by a
    case that is made of it or by a `reason` not to make one. The captures of its trace are found by `trace_id`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    grader = models.CharField(max_length=200)
    version = models.CharField(max_length=200)
    label = models.CharField(max_length=200)
    result = models.TextField(blank=True)
    trace_id = models.CharField(max_length=200)
    title = models.CharField(max_length=300, blank=True)
    reported_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    reported_at = models.DateTimeField(auto_now_add=True)
    case = models.ForeignKey(Case, null=True, blank=True, on_delete=models.PROTECT, related_name="incident_reports")
    reason = models.TextField(blank=True)
    settled_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    settled_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[ScopedQuerySet[IncidentReport]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-reported_at"]
        indexes = [
            models.Index(
                fields=["project", "reported_at"], condition=Q(settled_at=None), name="incident_report_waiting"
            ),
            models.Index(fields=["project", "trace_id"], name="incident_report_by_trace"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "grader", "trace_id", "label"], name="incident_report_once_per_trace_and_label"
            ),
            models.CheckConstraint(
                condition=Q(settled_at=None, settled_by=None, case=None, reason="")
                | Q(settled_at__isnull=False, settled_by__isnull=False, case__isnull=False, reason="")
                | Q(settled_at__isnull=False, settled_by__isnull=False, case=None) & ~Q(reason=""),
                name="incident_report_settled_by_a_case_or_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.grader}: {self.label}"
