"""Results that came from elsewhere: a lane that was pulled and run in CI. No gate reads them."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from replaycases.accounts.models import User
from replaycases.cases.models.fixture_revision import DIGEST_LENGTH, FixtureRevision
from replaycases.cases.models.lane import Lane
from replaycases.cases.models.scoping import ScopedQuerySet


class CiReport(models.Model):
    """One run of a pulled lane somewhere else, as that place reported it. `lane_digest` is the digest of the lane's
    index as it was pulled; `exit_code` is what `suite` ended with."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lane = models.ForeignKey(Lane, on_delete=models.PROTECT, related_name="ci_reports")
    lane_digest = models.CharField(max_length=DIGEST_LENGTH)
    implementation_name = models.CharField(max_length=200)
    implementation_version = models.CharField(max_length=200)
    implementation_commit = models.CharField(max_length=200, blank=True)
    implementation_digest = models.CharField(max_length=DIGEST_LENGTH)
    exit_code = models.PositiveSmallIntegerField()
    build_url = models.URLField(max_length=500, blank=True)
    digest = models.CharField(max_length=DIGEST_LENGTH)
    pushed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    pushed_at = models.DateTimeField()

    PROJECT_PATH = "lane__project"
    objects: ClassVar[ScopedQuerySet[CiReport]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-pushed_at"]
        constraints = [models.UniqueConstraint(fields=["lane", "digest"], name="ci_report_once")]

    def __str__(self) -> str:
        return f"{self.implementation_name} {self.implementation_version}: {self.exit_code}"


class CiResult(models.Model):
    """One case of such a report: the label that `suite` gave it there, "" where it gave none (missing or errored)."""

    id = models.BigAutoField(primary_key=True)
    report = models.ForeignKey(CiReport, on_delete=models.PROTECT, related_name="results")
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="ci_results")
    label = models.CharField(max_length=32, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["report", "revision"], name="ci_result_once_per_report")]

    def __str__(self) -> str:
        return f"{self.revision_id}: {self.label or 'no result'}"
