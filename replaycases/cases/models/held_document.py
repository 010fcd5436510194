"""Which documents a run was given: found again by whoever knows an id, or guesses it with the database in hand."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from replaycases.accounts.models import Project
from replaycases.cases.models.capture import Capture
from replaycases.cases.models.fixture_revision import FixtureRevision
from replaycases.cases.models.scoping import ScopedQuerySet


class HeldDocument(models.Model):
    """A capture or a revision holds a retrieved chunk or document. `digest` is the SHA-256, in hex, of the project's id
    and the document's: the id itself is evidence and is not kept."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    capture = models.ForeignKey(Capture, null=True, blank=True, on_delete=models.PROTECT, related_name="held_documents")
    revision = models.ForeignKey(
        FixtureRevision, null=True, blank=True, on_delete=models.PROTECT, related_name="held_documents"
    )

    objects: ClassVar[ScopedQuerySet[HeldDocument]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [models.Index(fields=["digest"], name="held_document_by_digest")]
        constraints = [
            models.UniqueConstraint(fields=["capture", "digest"], name="held_document_once_per_capture"),
            models.UniqueConstraint(fields=["revision", "digest"], name="held_document_once_per_revision"),
            models.CheckConstraint(
                condition=Q(capture=None, revision__isnull=False) | Q(capture__isnull=False, revision=None),
                name="held_document_by_one",
            ),
        ]

    def __str__(self) -> str:
        return self.digest
