"""Where a case comes from and what became of it, apart from its content."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q

from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.cases.models.case import Case
from replaycases.cases.models.fixture_revision import FixtureRevision
from replaycases.cases.models.implementation import Implementation
from replaycases.cases.models.scoping import ScopedQuerySet
from replaycases.importers.findings import Gap
from replaycases.importers.run_record import lacking


class Provenance(models.Model):
    """Links and versions of one case. `affected` is the implementation in which the incident happened, `fixed` the one
    that no longer shows it, `covering_test` the test in the workflow's own repository that now covers it. `run_record`
    is what is known around the recorded run: {a part of `importers.run_record`: {value, source: trace or declared}}."""

    case = models.OneToOneField(Case, primary_key=True, on_delete=models.PROTECT, related_name="provenance")
    incident_url = models.URLField(max_length=500, blank=True)
    trace_id = models.CharField(max_length=200, blank=True)
    trace_url = models.URLField(max_length=500, blank=True)
    affected = models.ForeignKey(Implementation, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    fixed = models.ForeignKey(Implementation, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    covering_test = models.CharField(max_length=300, blank=True)
    run_record: models.JSONField[dict[str, dict[str, str]], dict[str, dict[str, str]]] = models.JSONField(
        default=dict, blank=True
    )

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[Provenance]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"provenance of {self.case_id}"

    @property
    def run_record_missing(self) -> tuple[Gap, ...]:
        """What nobody stated of it, and what that costs. The links are the case's own."""
        links = [name for name in ("incident_url", "trace_url") if getattr(self, name)]
        return lacking((*self.run_record, *links))


class GraderFinding(models.Model):
    """A grader's or monitor's label that found the incident: evidence, never an oracle. A qualified person confirms
    that it shows the boundary being crossed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="grader_findings")
    grader = models.CharField(max_length=200)
    version = models.CharField(max_length=200)
    label = models.CharField(max_length=200)
    result = models.TextField(blank=True)
    recorded_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField()
    confirmed_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField(null=True, blank=True)

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[GraderFinding]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["recorded_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(confirmed_at=None, confirmed_by=None)
                | Q(confirmed_at__isnull=False, confirmed_by__isnull=False),
                name="grader_finding_confirmed_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.grader} {self.version}: {self.label}"


class Acceptance(models.TextChoices):
    """Whether the failure came before the dependency accepted what was asked of it, or after."""

    BEFORE = "before_acceptance", "Before acceptance"
    AFTER = "after_acceptance", "After acceptance"
    UNKNOWN = "unknown", "Unknown"


class DependencyStatement(models.Model):
    """What a dependency owner says of one revision: whether the failure came before the dependency accepted or after,
    whether the answers that nobody recorded are ones that it gives, and whether the tools of which the fixture names no
    effect have none. The newest of a revision counts."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="dependency_statements")
    revision = models.ForeignKey(FixtureRevision, on_delete=models.PROTECT, related_name="dependency_statements")
    acceptance = models.CharField(max_length=24, choices=Acceptance.choices)
    authored_confirmed = models.BooleanField(default=False)
    no_effect_confirmed = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    said_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    said_at = models.DateTimeField()

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[DependencyStatement]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["said_at"]
        indexes = [models.Index(fields=["revision", "-said_at"], name="dependency_statement_newest")]
        constraints = [
            models.CheckConstraint(condition=Q(acceptance__in=Acceptance.values), name="dependency_acceptance_known"),
        ]

    def __str__(self) -> str:
        return f"{self.acceptance}, said of {self.case_id}"


class Boundary(models.TextChoices):
    """What has an owner. Without these five nobody can be asked."""

    PROHIBITED_OUTCOME = "prohibited_outcome", "Prohibited outcome"
    WORKFLOW = "workflow", "Adapter and fix"
    DEPENDENCY = "dependency", "Dependency"
    SUITE_POLICY = "suite_policy", "Suite policy"
    PRIVACY = "privacy", "Security or privacy"


class OwnerQuerySet(ScopedQuerySet["CaseOwner"]):
    def askable(self) -> Self:
        """Those who can be asked now: an active person with a role in the case's project, or a team that has one in
        it."""
        return self.filter(can_be_asked())


def can_be_asked() -> Q:
    """Of each `CaseOwner`. Each way is asked for apart: one search for both takes longer to plan than to run."""
    active = Membership.objects.filter(project=OuterRef("project"), user__is_active=True)
    return Q(Exists(active.filter(user=OuterRef("user")))) | Q(Exists(active.filter(user__teams=OuterRef("team"))))


class CaseOwner(models.Model):
    """Who answers for one boundary of a case: a person or a team of people, never free text. `project`,
    `case_created_at` and `case_number` repeat the case, where they never change: one index then has an owner's cases in
    the order of lists."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="owners")
    boundary = models.CharField(max_length=24, choices=Boundary.choices)
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", editable=False, db_index=False)
    case_created_at = models.DateTimeField(editable=False)
    case_number = models.PositiveIntegerField(editable=False)

    PROJECT_PATH = "case__project"
    objects: ClassVar[OwnerQuerySet] = OwnerQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [
            # Whose a case is, from the index alone: lists ask it of thousands of cases.
            models.Index(fields=["user", "case"], condition=Q(user__isnull=False), name="case_owner_person"),
            models.Index(fields=["team", "case"], condition=Q(team__isnull=False), name="case_owner_team"),
            models.Index(
                fields=["user", "-case_created_at", "-case_number", "case", "project"],
                condition=Q(user__isnull=False),
                name="case_owner_newest_of_person",
            ),
            models.Index(
                fields=["team", "-case_created_at", "-case_number", "case", "project"],
                condition=Q(team__isnull=False),
                name="case_owner_newest_of_team",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["case", "boundary"], name="case_owner_once_per_boundary"),
            models.CheckConstraint(condition=Q(boundary__in=Boundary.values), name="case_owner_boundary_known"),
            models.CheckConstraint(
                condition=Q(user__isnull=False, team=None) | Q(user=None, team__isnull=False),
                name="case_owner_is_a_person_or_a_team",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.boundary} of {self.case_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.project_id, self.case_number = self.case.project_id, self.case.number
        self.case_created_at = self.case.created_at
        super().save(*args, **kwargs)
