"""What stands around cases and their revisions, as gates read it: one query each, see `gate_facts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, JSONField, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject

from replaycases.cases import redaction_rows
from replaycases.cases.json_rows import Rows
from replaycases.cases.models import (
    Comparison,
    Control,
    FixtureRevision,
    Proposal,
    Redaction,
    RedactionPolicy,
    RunSet,
    Waiver,
)


def controls(revisions: Sequence[UUID]) -> QuerySet[Any]:
    """`replayed`: the fixed version has a set on it that stands, whatever became of its runs."""
    fixed = {"implementation__digest": OuterRef("revision__case__provenance__fixed__digest")}
    sets = RunSet.objects.filter(control=OuterRef("pk"), voided_at=None, **fixed)
    return Control.objects.filter(revision__in=revisions).annotate(replayed=Exists(sets)).order_by("name")


def comparisons(revisions: Sequence[UUID]) -> QuerySet[Comparison]:
    """Newest first."""
    return Comparison.objects.filter(revision__in=revisions).select_related("old", "new").order_by("-number")


def comparisons_of_cases(cases: Sequence[UUID]) -> QuerySet[Comparison]:
    """The same of every revision, with what a table of them shows."""
    sides = [f"{side}__{name}" for side in ("old", "new") for name in ("name", "version", "digest")]
    own = ("number", "label", "reason", "old_red", "with_controls", "controls", "created_at", "computed_at")
    found = Comparison.objects.filter(revision__case__in=cases).select_related("old", "new", "revision")
    return found.only(*own, "revision__number", *sides).order_by("-number")


def proposals(cases: Sequence[UUID]) -> QuerySet[Proposal]:
    """Every one, whatever became of it, the newest first."""
    found = Proposal.objects.filter(case__in=cases).order_by("-proposed_at")
    return found.select_related("proposed_by", "decided_by", "owner", "owner_team", "revision", "lane_entry")


def revisions(cases: Sequence[UUID]) -> QuerySet[FixtureRevision]:
    """Oldest first."""
    return FixtureRevision.objects.filter(case__in=cases).select_related("created_by").order_by("number")


def redactions(revisions: Sequence[UUID]) -> QuerySet[Any]:
    """Oldest first. `in_force` is the number of the project's policy, None for the built-in one; `given` are the
    waivers of the case as [{finding, until}], also those whose time is over; rules are as `with_rules_changed`."""
    policies = RedactionPolicy.objects.filter(project=OuterRef("revision__case__project")).order_by()
    last = policies.values("project").annotate(last=Max("number")).values("last")
    waivers = Waiver.objects.filter(redaction_rows.given(), case=OuterRef("revision__case")).order_by()
    given = waivers.values("case").annotate(rows=Rows(JSONObject(finding="finding", until="until"))).values("rows")
    rows = Redaction.objects.filter(revision__in=revisions).select_related("source", "policy").order_by("made_at")
    beside = rows.annotate(in_force=Subquery(last), given=Subquery(given, output_field=JSONField()))
    return redaction_rows.with_rules_changed(beside)
