"""Runs, in sets declared beforehand. A run's row is the queue of record."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from replaycases.accounts.models import Project, User
from replaycases.cases.models.fixture_revision import DIGEST_LENGTH, Control, FixtureRevision
from replaycases.cases.models.implementation import Implementation
from replaycases.cases.models.payload import Payload
from replaycases.cases.models.scoping import ScopedQuerySet

MAX_ATTEMPTS = 3


class RunSet(models.Model):
    """`size` replays of one fixture with one implementation, declared before any of them ran, so that no lucky run can
    be picked. Immutable but for voiding (with a reason that stays). The hashes are those of the fixture that is
    replayed: the revision's, the control's, or the mutated control's. `comparison` is the one that asked for the set,
    None where it was asked for by itself; others read its results too. `lane_entry` is the stay in a lane whose history
    it belongs to; a lane's own schedule asks for a set by itself, and then nobody is named."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="run_sets")
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="run_sets")
    implementation = models.ForeignKey(Implementation, on_delete=models.PROTECT, related_name="run_sets")
    control = models.ForeignKey(Control, null=True, blank=True, on_delete=models.PROTECT, related_name="run_sets")
    mutated = models.BooleanField(default=False)
    comparison = models.ForeignKey(
        "cases.Comparison", null=True, blank=True, on_delete=models.PROTECT, related_name="run_sets"
    )
    mode = models.CharField(max_length=16, default="replay")
    size = models.PositiveSmallIntegerField()
    fixture_hash = models.CharField(max_length=DIGEST_LENGTH)
    checks_hash = models.CharField(max_length=DIGEST_LENGTH)
    lane_entry = models.ForeignKey(
        "cases.LaneEntry", null=True, blank=True, on_delete=models.PROTECT, related_name="run_sets"
    )
    requested_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    voided_at = models.DateTimeField(null=True, blank=True)
    voided_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    void_reason = models.TextField(blank=True)

    objects: ClassVar[ScopedQuerySet[RunSet]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["created_at"]
        indexes = [
            models.Index(fields=["project", "fixture_hash"], name="run_set_by_fixture"),
            models.Index(
                fields=["created_at"], condition=Q(lane_entry__isnull=False, voided_at=None), name="run_set_of_lanes"
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(size__gte=1), name="run_set_size_positive"),
            models.CheckConstraint(condition=Q(mode="replay"), name="run_set_mode_known"),
            models.CheckConstraint(
                condition=Q(requested_by__isnull=False) | Q(lane_entry__isnull=False), name="run_set_asked_for"
            ),
            models.CheckConstraint(
                condition=Q(mutated=False) | Q(control__isnull=False), name="run_set_mutates_control"
            ),
            models.CheckConstraint(
                condition=Q(voided_at=None, voided_by=None, void_reason="")
                | (Q(voided_at__isnull=False, voided_by__isnull=False) & ~Q(void_reason="")),
                name="run_set_void_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.size} runs of {self.implementation_id}"


class RunState(models.TextChoices):
    QUEUED = "queued", "Queued"
    LEASED = "leased", "Running"
    FINISHED = "finished", "Finished"
    QUARANTINED = "quarantined", "Quarantined"
    CANCELLED = "cancelled", "Cancelled"


ENDED = (RunState.FINISHED, RunState.QUARANTINED, RunState.CANCELLED)


class Run(models.Model):
    """One replay. Only `cases.jobs` assigns `state`; a run that has ended is never changed again.

    `lease_token` grows with every lease (a fencing token): a write names the token it was leased under, so that a
    worker that was paused past its lease cannot write. `status` is the manifest's run status and stays "" until the
    run is finished; `behaviour` is what `verdict.behaviour` makes of the manifest, "" for a run that ended before that
    was kept. `reason` says why a run was quarantined, cancelled or put back. `sent_at` is when a message about a queued
    run was last published.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    run_set = models.ForeignKey(RunSet, on_delete=models.PROTECT, related_name="runs")
    index = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.PositiveIntegerField(default=0)
    leased_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    not_before = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    manifest = models.ForeignKey(Payload, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=32, blank=True)
    boundary_passed = models.BooleanField(null=True, blank=True)
    observation_hash = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    behaviour = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    matching_policy = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    reason = models.TextField(blank=True)
    progress = models.TextField(blank=True)

    objects: ClassVar[ScopedQuerySet[Run]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["project", "number"]
        indexes = [
            models.Index(fields=["state", "not_before"], name="run_queue"),
            models.Index(fields=["-created_at", "-number"], name="run_newest"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="run_number_once_per_project"),
            models.UniqueConstraint(fields=["run_set", "index"], name="run_index_once_per_set"),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="run_state_known"),
            models.CheckConstraint(
                condition=Q(state=RunState.FINISHED, manifest__isnull=False)
                | (~Q(state=RunState.FINISHED) & Q(manifest=None)),
                name="run_finished_iff_manifest",
            ),
            models.CheckConstraint(
                condition=Q(state=RunState.LEASED, leased_until__isnull=False)
                | (~Q(state=RunState.LEASED) & Q(leased_until=None)),
                name="run_leased_iff_deadline",
            ),
            models.CheckConstraint(
                condition=Q(state__in=ENDED, finished_at__isnull=False) | (~Q(state__in=ENDED) & Q(finished_at=None)),
                name="run_ended_iff_finished_at",
            ),
            models.CheckConstraint(condition=Q(attempts__lte=MAX_ATTEMPTS), name="run_attempts_bounded"),
            models.CheckConstraint(condition=Q(attempts__lte=F("lease_token")), name="run_every_attempt_leased"),
        ]

    def __str__(self) -> str:
        return f"run {self.number}"

    @property
    def ended(self) -> bool:
        return self.state in ENDED
