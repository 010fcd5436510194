"""What is counted of a project beside the requests that show it."""

from __future__ import annotations

from typing import ClassVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from replaycases.accounts.models import Project


class ProjectFigures(models.Model):
    """How many cases stand where (`tallies`) and how the lanes ran (`health`), as of `counted_at`. Nothing is decided
    by it. Only `cases.counting` writes it."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.PROTECT, related_name="+")
    counted_at = models.DateTimeField()
    tallies = models.JSONField(encoder=DjangoJSONEncoder)
    health = models.JSONField(encoder=DjangoJSONEncoder)

    objects: ClassVar[models.Manager[ProjectFigures]]

    class Meta:
        verbose_name_plural = "project figures"

    def __str__(self) -> str:
        return f"figures of {self.project_id}"
