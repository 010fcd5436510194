"""Comparisons: what was asked, and the verdict as last computed."""

from __future__ import annotations

import uuid
from typing import ClassVar, Literal

from django.db import models
from django.db.models import Q

from replaycases.accounts.models import Project, User
from replaycases.cases.models.fixture_revision import FixtureRevision
from replaycases.cases.models.implementation import Implementation
from replaycases.cases.models.payload import Payload
from replaycases.cases.models.run import Run, RunSet
from replaycases.cases.models.scoping import ScopedQuerySet


class Comparison(models.Model):
    """Old against new on one revision. Reads every result with that revision's hashes and these implementations'
    digests, not only those that it asked for. `document` is the verdict's JSON; label and reason repeat it for lists.
    `old_red` says whether the old side is red on its own (None: not decided), `controls` which control passed, by its
    id: {"…": true | false | null}. Written by `cases.comparing` only; empty while runs are outstanding."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="comparisons")
    number = models.PositiveIntegerField()
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="comparisons")
    old = models.ForeignKey(Implementation, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(Implementation, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    with_controls = models.BooleanField(default=True)
    requested_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    label = models.CharField(max_length=32, blank=True)
    reason = models.TextField(blank=True)
    document = models.ForeignKey(Payload, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    old_red = models.BooleanField(null=True, blank=True)
    controls: models.JSONField[dict[str, bool | None], dict[str, bool | None]] = models.JSONField(
        default=dict, blank=True
    )
    computed_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[ScopedQuerySet[Comparison]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["project", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="comparison_number_once_per_project"),
            models.CheckConstraint(
                condition=Q(old__isnull=False) | Q(new__isnull=False), name="comparison_names_an_implementation"
            ),
            models.CheckConstraint(
                condition=Q(computed_at=None, document=None, label="", old_red=None)
                | (Q(computed_at__isnull=False, document__isnull=False) & ~Q(label="")),
                name="comparison_label_iff_computed",
            ),
        ]

    def __str__(self) -> str:
        return f"comparison {self.number}"

    def sets_read(self) -> models.QuerySet[RunSet]:
        """Every set whose results this comparison reads, whoever asked for it: both sides on the revision, and the new
        side on its controls. Voided ones are among them: they are listed, and none of their runs is read."""
        sides = [side.digest for side in (self.old, self.new) if side]
        wanted = Q(
            fixture_hash=self.revision.fixture_hash,
            checks_hash=self.revision.checks_hash,
            implementation__digest__in=sides,
        )
        if self.with_controls and self.new:
            wanted |= Q(control__revision=self.revision, implementation__digest=self.new.digest)
        return RunSet.objects.filter(wanted, project_id=self.project_id, mode="replay")

    def runs(self) -> models.QuerySet[Run]:
        """Every run that this comparison reads or waits for."""
        return (
            Run.objects.filter(run_set__in=self.sets_read().filter(voided_at=None))
            .select_related("run_set__implementation", "run_set__control", "manifest")
            .defer("manifest__body", "progress")
            .order_by("number")
        )

    @property
    def state(self) -> Literal["waiting", "computed"]:
        """A stored verdict is cleared as soon as more runs are asked for, so one that stands is "computed"."""
        return "computed" if self.computed_at else "waiting"
