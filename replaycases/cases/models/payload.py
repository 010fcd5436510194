"""Evidence bytes, content-addressed, apart from the rows that mean something."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from replaycases.accounts.models import Project
from replaycases.cases.models.scoping import ScopedQuerySet


class Classification(models.TextChoices):
    """From the most restricted one on."""

    QUARANTINED = "quarantined", "Quarantined"
    REDACTED = "redacted", "Redacted"
    PUBLIC = "public", "Public"


class Payload(models.Model):
    """Bytes under their own digest ("sha256:" + hex of exactly these bytes). They stand in the database because
    workers on other hosts share nothing else. Made and read only through `cases.evidence`. `released_at` is when a
    reviewer approved exactly these bytes as redacted: from then on bringing them again restricts them no more.

    Quarantined bytes are sealed: `data_key` is wrapped under the key `key_id` of the ring and its hour `key_hour`, in
    which they end. At their end body and data key are destroyed; `purged_at` says when, and the row is the receipt."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=71)
    size = models.PositiveBigIntegerField()
    media_type = models.CharField(max_length=100)
    classification = models.CharField(max_length=16, choices=Classification.choices, default=Classification.QUARANTINED)
    expires_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    key_id = models.CharField(max_length=64, blank=True)
    key_hour = models.PositiveIntegerField(null=True, blank=True)
    data_key = models.BinaryField(null=True, blank=True)
    purged_at = models.DateTimeField(null=True, blank=True)
    body = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[ScopedQuerySet[Payload]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [
            models.Index(
                fields=["expires_at"],
                condition=models.Q(expires_at__isnull=False, purged_at=None),
                name="payload_to_be_purged",
            ),
            models.Index(fields=["key_id"], condition=~models.Q(key_id=""), name="payload_by_key"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "digest"], condition=models.Q(purged_at=None), name="payload_once_per_project"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    classification="quarantined",
                    purged_at=None,
                    data_key__isnull=False,
                    key_hour__isnull=False,
                    expires_at__isnull=False,
                )
                | models.Q(classification="quarantined", purged_at__isnull=False, data_key=None)
                | ~models.Q(classification="quarantined") & models.Q(data_key=None, purged_at=None),
                name="payload_sealed_while_quarantined",
            ),
            models.CheckConstraint(
                condition=models.Q(classification__in=Classification.values), name="payload_classification_known"
            ),
        ]

    def __str__(self) -> str:
        return self.digest
