"""A case: one incident that must not happen again."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases.models.scoping import ScopedQuerySet


class Stage(models.TextChoices):
    QUARANTINED = "quarantined", "Quarantined"
    IN_REVIEW = "in_review", "In review"
    REDACTION_APPROVED = "redaction_approved", "Redaction approved"
    REPRODUCED = "reproduced", "Reproduced"
    RETIRED = "retired", "Retired"
    NON_REPLAYABLE = "non_replayable", "Non-replayable"


RETURNED = models.Q(redaction_returned=True) | models.Q(expectation_returned=True)


class Case(models.Model):
    """`case_id` is the fixture's own name, "" until there is one; `readable_id` ("RC-17") is ours. Trigger, prohibited
    outcome and deciding evidence are the failure statement; `reported_symptom` is what was reported, in whatever words.
    `on_behalf_of` is for whom the capturer captured. `evidence_expires_at` is when the quarantined evidence ends, None
    where there is none; `expiry_warned` is how many of the warnings before it were given. `evidence_destroyed_at` is
    when raw evidence of it was last destroyed.

    Only `cases.lifecycle` assigns `stage`. The rest repeats other rows for lists, which must not ask for each row:
    `revised_by` and `revised_for` who made the current revision and on whose behalf, `lane` the strongest lane in which
    a revision stands (assigned by `cases.lane_moves`), `verdict` the label of `latest_comparison`, the newest one of
    the current revision ("" while it waits or where there is none), `last_verdict` the last label that any such
    comparison gave, since `verdict_since`, `previous_verdict` the one before it, `flagged` whether a re-review flag is
    open, `expectation_approved` whether an approval of the expectation stands, `redaction_returned` and
    `expectation_returned` whether the current revision came back for that and was not approved since.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="cases")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=300)
    incident_id = models.CharField(max_length=200)
    case_id = models.CharField(max_length=200)
    trigger = models.TextField()
    prohibited_outcome = models.TextField()
    deciding_evidence = models.TextField()
    reported_symptom = models.TextField(blank=True)
    stage = models.CharField(max_length=24, choices=Stage.choices, default=Stage.QUARANTINED)
    current_revision = models.ForeignKey(
        "cases.FixtureRevision", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    revised_by = models.ForeignKey(
        User, null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    revised_for = models.ForeignKey(
        User, null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    security_incident = models.BooleanField(default=False)
    contained_at = models.DateTimeField(null=True, blank=True)
    contained_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    containment_note = models.TextField(blank=True)
    evidence_expires_at = models.DateTimeField(null=True, blank=True)
    expiry_warned = models.PositiveSmallIntegerField(default=0)
    evidence_destroyed_at = models.DateTimeField(null=True, blank=True)
    review_due_at = models.DateTimeField(null=True, blank=True)
    stage_since = models.DateTimeField(default=timezone.now)
    lane = models.CharField(max_length=16, blank=True)
    latest_comparison = models.ForeignKey(
        "cases.Comparison", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    verdict = models.CharField(max_length=32, blank=True)
    last_verdict = models.CharField(max_length=32, blank=True)
    previous_verdict = models.CharField(max_length=32, blank=True)
    verdict_since = models.DateTimeField(null=True, blank=True)
    flagged = models.BooleanField(default=False)
    expectation_approved = models.BooleanField(default=False)
    redaction_returned = models.BooleanField(default=False)
    expectation_returned = models.BooleanField(default=False)
    # Who has its redaction before them now: see `cases.claims`.
    reviewer = models.ForeignKey(
        User, null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    reviewer_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    on_behalf_of = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[ScopedQuerySet[Case]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["project", "-number"]
        indexes = [
            models.Index(
                fields=["project", "evidence_expires_at"],
                condition=models.Q(evidence_expires_at__isnull=False),
                name="case_by_expiry",
            ),
            models.Index(
                fields=["evidence_expires_at"],
                condition=models.Q(expiry_warned__lt=3, evidence_expires_at__isnull=False),
                name="case_to_be_warned",
            ),
            models.Index(
                fields=["review_due_at"], condition=models.Q(review_due_at__isnull=False), name="case_by_review_date"
            ),
            models.Index(
                fields=["project"],
                condition=models.Q(review_due_at=None) & ~models.Q(lane=""),
                name="case_without_review_date",
            ),
            models.Index(fields=["stage_since"], condition=models.Q(flagged=True), name="case_flagged_since"),
            models.Index(
                fields=["evidence_expires_at"],
                condition=models.Q(stage="in_review", redaction_returned=False),
                name="case_waits_for_review",
            ),
            # The review queue, in its order.
            models.Index(
                fields=["evidence_expires_at", "stage_since", "number"],
                condition=models.Q(
                    models.Q(stage="in_review") | models.Q(expectation_approved=False),
                    stage__in=("in_review", "redaction_approved", "reproduced"),
                    current_revision__isnull=False,
                ),
                name="case_waits_for_decision",
            ),
            models.Index(
                fields=["stage_since"],
                condition=models.Q(
                    stage__in=("in_review", "redaction_approved", "reproduced"),
                    expectation_approved=False,
                    expectation_returned=False,
                ),
                name="case_expectation_waits",
            ),
            models.Index(fields=["revised_by", "stage_since"], condition=RETURNED, name="case_returned_to"),
            models.Index(
                fields=["revised_for", "stage_since"],
                condition=RETURNED & models.Q(revised_for__isnull=False),
                name="case_returned_for",
            ),
            models.Index(
                fields=["created_by", "evidence_expires_at"],
                condition=models.Q(stage="quarantined"),
                name="case_drafted_by",
            ),
            models.Index(
                fields=["stage_since"],
                condition=models.Q(stage="reproduced", verdict="verified_red_to_green", lane__in=("", "nonblocking")),
                name="case_may_be_promoted",
            ),
            models.Index(
                fields=["stage_since"],
                condition=models.Q(security_incident=True, contained_at=None),
                name="case_uncontained",
            ),
            # Counted on the home page, from the index alone: few different entries make it small.
            models.Index(fields=["project", "stage", "lane", "verdict", "flagged"], name="case_counted"),
            models.Index(fields=["stage", "lane", "stage_since", "project"], name="case_oldest"),
            # The list, newest first: of everything, of a project, and by each filter that many cases share. On
            # PostgreSQL `case_by_text` finds words (see migration `case_search`).
            models.Index(fields=["-created_at", "-number"], name="case_newest"),
            models.Index(fields=["project", "-created_at", "-number"], name="case_newest_of_project"),
            models.Index(fields=["stage", "-created_at", "-number"], name="case_newest_by_stage"),
            models.Index(fields=["lane", "-created_at", "-number"], name="case_newest_by_lane"),
            models.Index(fields=["verdict", "-created_at", "-number"], name="case_newest_by_verdict"),
            models.Index(
                fields=["-created_at"], condition=models.Q(security_incident=True), name="case_security_incident"
            ),
            models.Index(
                fields=["evidence_expires_at", "-created_at", "-number"],
                condition=models.Q(evidence_expires_at__isnull=False),
                name="case_soonest_to_expire",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="case_number_once_per_project"),
            models.CheckConstraint(condition=models.Q(stage__in=Stage.values), name="case_stage_known"),
            models.CheckConstraint(
                condition=models.Q(contained_at=None, contained_by=None, containment_note="")
                | (models.Q(contained_at__isnull=False, contained_by__isnull=False) & ~models.Q(containment_note="")),
                name="case_containment_said_by_somebody",
            ),
            models.CheckConstraint(
                condition=models.Q(current_revision=None) | models.Q(revised_by__isnull=False),
                name="case_revised_by_somebody",
            ),
            models.CheckConstraint(
                condition=~models.Q(stage="retired") | models.Q(lane=""), name="case_retired_stands_in_no_lane"
            ),
            models.CheckConstraint(
                condition=~models.Q(stage="non_replayable") | models.Q(lane=""),
                name="case_non_replayable_stands_in_no_lane",
            ),
        ]

    def __str__(self) -> str:
        return self.readable_id

    @property
    def readable_id(self) -> str:
        return f"{self.project.key}-{self.number}"


class StatementEdit(models.Model):
    """Somebody restated one of the three parts of a failure statement, or captured or drafted the run that the case was
    made of. It stays in part theirs, whoever edits it after them: they approve nothing of the case."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    editor = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[StatementEdit]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["at"]
        indexes = [models.Index(fields=["case", "editor"], name="statement_edit_by_editor")]

    def __str__(self) -> str:
        return f"statement of {self.case_id}, edited by {self.editor_id}"
