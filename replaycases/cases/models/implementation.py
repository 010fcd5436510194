"""Implementations: the versions of a workflow that can be replayed."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models

from replaycases.accounts.models import Project, User
from replaycases.cases.models.payload import Payload
from replaycases.cases.models.scoping import ScopedQuerySet

NAME_LENGTH = 200


class Implementation(models.Model):
    """A registered version. `digest` is the hash of the tree that is mounted; `archive` holds that tree, so that any
    worker has it; `spec_path` is the implementation file's path in it. `allowed_path` says from where an
    administrator's path was packed, "" for an upload. `parsers` are the digests of the parsers that it declares, by
    their paths."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="implementations")
    name = models.CharField(max_length=NAME_LENGTH)
    version = models.CharField(max_length=NAME_LENGTH)
    commit = models.CharField(max_length=NAME_LENGTH, blank=True)
    digest = models.CharField(max_length=71)
    spec: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    spec_path = models.CharField(max_length=500)
    archive = models.ForeignKey(Payload, on_delete=models.PROTECT, related_name="+")
    parsers: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(default=dict)
    allowed_path = models.CharField(max_length=1000, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[ScopedQuerySet[Implementation]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["name", "-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["project", "digest", "name", "version"], name="implementation_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
