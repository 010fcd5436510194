"""What stands around cases and their revisions, as gates read it: one query each, see `gate_facts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from replaycases.cases.models import (
    Comparison,
    Control,
    Decision,
    DecisionOutcome,
    FixtureRevision,
    Proposal,
    RunSet,
)


def decisions(cases: Sequence[UUID]) -> QuerySet[Decision]:
    """Those that stand."""
    found = Decision.objects.filter(case__in=cases, outcome=DecisionOutcome.APPROVED, voided_at=None)
    return found.select_related("decided_by", "revision")


def controls(revisions: Sequence[UUID]) -> QuerySet[Any]:
    """`replayed`: the fixed version has a set on it that stands, whatever became of its runs."""
    fixed = {"implementation__digest": OuterRef("revision__case__provenance__fixed__digest")}
    sets = RunSet.objects.filter(control=OuterRef("pk"), voided_at=None, **fixed)
    return Control.objects.filter(revision__in=revisions).annotate(replayed=Exists(sets)).order_by("name")


def comparisons(revisions: Sequence[UUID]) -> QuerySet[Comparison]:
    """Newest first."""
    return Comparison.objects.filter(revision__in=revisions).select_related("old", "new").order_by("-number")


def proposals(cases: Sequence[UUID]) -> QuerySet[Proposal]:
    """Every one, whatever became of it, the newest first."""
    found = Proposal.objects.filter(case__in=cases).order_by("-proposed_at")
    return found.select_related("proposed_by", "decided_by", "owner", "owner_team", "revision", "lane_entry")


def revisions(cases: Sequence[UUID]) -> QuerySet[FixtureRevision]:
    """Oldest first."""
    return FixtureRevision.objects.filter(case__in=cases).select_related("created_by").order_by("number")
