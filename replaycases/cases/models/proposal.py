"""Proposals: what one person asks for and another one must confirm."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from replaycases.accounts.models import Team, User
from replaycases.cases.models.case import Case
from replaycases.cases.models.fixture_revision import FixtureRevision
from replaycases.cases.models.lane import LaneEntry
from replaycases.cases.models.scoping import ScopedQuerySet


class ProposalKind(models.TextChoices):
    OVERRIDE = "override", "Override of a gate"
    DEMOTION = "demotion", "Demotion"
    RETIREMENT = "retirement", "Retirement"
    EXTENSION = "extension", "Longer life of raw evidence"


class ProposalState(models.TextChoices):
    PENDING = "pending", "Waits for a second person"
    CONFIRMED = "confirmed", "Confirmed"
    DECLINED = "declined", "Declined"
    WITHDRAWN = "withdrawn", "Withdrawn"


class Proposal(models.Model):
    """A decision that needs two people. `revision` is the one it was made for: an override holds for no other.
    `gate` is the overridden gate's name. `until` is when an override ends, when a demotion is looked at again, or
    the new expiry of the evidence. A demotion names who owns what must be mended: a person or a team. Written by
    `cases.proposals`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="proposals")
    kind = models.CharField(max_length=16, choices=ProposalKind.choices)
    state = models.CharField(max_length=16, choices=ProposalState.choices, default=ProposalState.PENDING)
    revision = models.ForeignKey(
        FixtureRevision, null=True, blank=True, on_delete=models.PROTECT, related_name="proposals"
    )
    gate = models.CharField(max_length=40, blank=True)
    lane_entry = models.ForeignKey(LaneEntry, null=True, blank=True, on_delete=models.PROTECT, related_name="proposals")
    reason = models.TextField()
    owner = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    owner_team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    until = models.DateTimeField(null=True, blank=True)
    proposed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    decided_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True)

    PROJECT_PATH = "case__project"
    objects: ClassVar[ScopedQuerySet[Proposal]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-proposed_at"]
        indexes = [models.Index(fields=["proposed_at"], condition=Q(state="pending"), name="proposal_waiting")]
        constraints = [
            models.UniqueConstraint(
                fields=["case", "kind", "gate"], condition=Q(state="pending"), name="proposal_pending_once"
            ),
            models.CheckConstraint(condition=Q(kind__in=ProposalKind.values), name="proposal_kind_known"),
            models.CheckConstraint(condition=Q(state__in=ProposalState.values), name="proposal_state_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="proposal_has_reason"),
            models.CheckConstraint(
                condition=Q(state="pending", decided_at=None, decided_by=None)
                | (~Q(state="pending") & Q(decided_at__isnull=False, decided_by__isnull=False)),
                name="proposal_decided_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["confirmed", "declined"]) | ~Q(decided_by=F("proposed_by")),
                name="proposal_needs_a_second_person",
            ),
            models.CheckConstraint(
                condition=~Q(kind="override") | (Q(until__isnull=False, revision__isnull=False) & ~Q(gate="")),
                name="proposal_override_is_bound_and_ends",
            ),
            models.CheckConstraint(
                condition=~Q(kind="demotion")
                | (
                    Q(until__isnull=False, lane_entry__isnull=False)
                    & (Q(owner__isnull=False, owner_team=None) | Q(owner=None, owner_team__isnull=False))
                ),
                name="proposal_demotion_has_owner_and_end",
            ),
            models.CheckConstraint(
                condition=~Q(kind="extension") | Q(until__isnull=False), name="proposal_extension_ends"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"
