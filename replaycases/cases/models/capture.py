"""A recorded run of production as it came in, and what a person makes of it."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from replaycases.accounts.models import Project, User
from replaycases.cases.models.case import Case
from replaycases.cases.models.payload import Payload
from replaycases.cases.models.scoping import ScopedQuerySet


class Origin(models.TextChoices):
    """By which way a capture came in."""

    UPLOAD = "upload", "Uploaded"
    PASTE = "paste", "Pasted"
    API = "api", "Sent to the API"
    OTLP = "otlp", "Sent by a collector"
    RECORDER = "recorder", "Recorded by a workflow"


class Capture(models.Model):
    """One file with one or more recorded runs. Its bytes are raw evidence: quarantined, and destroyed at `expires_at`;
    `purged_at` says that they are; `outline` is what is shown of its runs without content (`cases.outlines`). This row
    holds nothing that was said in them but the trace's id, where it is one id: `format` is the importer's name, `runs`
    how many runs the file holds, `name` what the file was called where it came from, `has_case` whether a case was made
    of one of them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()
    payload = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    outline = models.ForeignKey(Payload, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    origin = models.CharField(max_length=16, choices=Origin.choices)
    format = models.CharField(max_length=64)
    runs = models.PositiveIntegerField()
    name = models.CharField(max_length=200, blank=True)
    trace_id = models.CharField(max_length=200, blank=True)
    symptom = models.TextField(blank=True)
    captured_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    on_behalf_of = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    captured_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    purged_at = models.DateTimeField(null=True, blank=True)
    has_case = models.BooleanField(default=False)

    objects: ClassVar[ScopedQuerySet[Capture]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["project", "-number"]
        indexes = [
            models.Index(fields=["-captured_at"], name="capture_newest"),
            models.Index(fields=["expires_at"], condition=Q(purged_at=None), name="capture_to_be_purged"),
            models.Index(fields=["project", "trace_id"], condition=~Q(trace_id=""), name="capture_by_trace"),
            models.Index(
                fields=["project", "expires_at"],
                condition=Q(purged_at=None, has_case=False),
                name="capture_ends_without_a_case",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="capture_number_once_per_project"),
            models.UniqueConstraint(fields=["project", "payload"], name="capture_once_per_file"),
            models.CheckConstraint(condition=Q(origin__in=Origin.values), name="capture_origin_known"),
        ]

    def __str__(self) -> str:
        return self.readable_id

    @property
    def readable_id(self) -> str:
        return f"{self.project.key}-T{self.number}"


class Draft(models.Model):
    """What somebody has chosen so far of one run of a capture. `choices` are the parts of `importers.supplied.Supplied`
    as JSON: they may quote the evidence, so they are kept, restricted and destroyed as it is. `case` is what came of
    it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    capture = models.ForeignKey(Capture, on_delete=models.PROTECT, related_name="drafts")
    run = models.PositiveIntegerField()
    choices = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    edited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    edited_at = models.DateTimeField(auto_now=True)
    case = models.ForeignKey(Case, null=True, blank=True, on_delete=models.PROTECT, related_name="drafts")

    PROJECT_PATH = "capture__project"
    objects: ClassVar[ScopedQuerySet[Draft]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["run"]
        indexes = [models.Index(fields=["edited_by"], condition=Q(case=None), name="draft_without_a_case")]
        constraints = [models.UniqueConstraint(fields=["capture", "run"], name="draft_once_per_run")]

    def __str__(self) -> str:
        return f"draft of run {self.run} of {self.capture_id}"
