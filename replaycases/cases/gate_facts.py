"""What the gates of one or many cases are computed from. Each kind of fact is one query for all cases, asked when the
first gate needs it; everything is read again at that moment, so that a gate decides on what is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from replaycases.cases import gate_queries, kept_queries
from replaycases.cases.gate_around import Approval, Override, Snapshot, snapshot_of, surrounded
from replaycases.cases.models import (
    Case,
    Comparison,
    Control,
    FixtureRevision,
    Implementation,
    LaneEntry,
    Proposal,
    Provenance,
    Run,
    RunSet,
)
from replaycases.cases.redaction_facts import RedactionFacts

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of one case; `bundle` holds them for all that were asked for together."""

    bundle: Bundle
    key: UUID

    @property
    def snapshot(self) -> Snapshot:
        return self.bundle.snapshots[self.key]

    @property
    def case(self) -> Case:
        return self.snapshot.case

    @property
    def revision(self) -> FixtureRevision | None:
        return self.case.current_revision

    @property
    def provenance(self) -> Provenance:
        """The case's provenance; an empty one where nothing is recorded yet."""
        return getattr(self.case, "provenance", None) or Provenance(case=self.case)

    @property
    def affected(self) -> Implementation | None:
        return self.provenance.affected

    @property
    def fixed(self) -> Implementation | None:
        return self.provenance.fixed

    @property
    def controls(self) -> list[Control]:
        return self.bundle.controls[self.case.current_revision_id]

    @property
    def unplayed_controls(self) -> list[Control]:
        """Those that the fixed version was never asked about, or only in sets that were voided."""
        return [control for control in self.controls if control.pk not in self.bundle.replayed_controls]

    @property
    def approvals(self) -> Mapping[str, Approval]:
        """By kind; those of controls apart."""
        return {given.kind: given for given in self.snapshot.approvals if given.control is None}

    @property
    def approved_controls(self) -> frozenset[UUID]:
        return frozenset(given.control for given in self.snapshot.approvals if given.control is not None)

    @property
    def every_comparison(self) -> list[Comparison]:
        """Those of every revision, newest first, of a bundle that was asked for them."""
        return self.bundle.every_comparison

    @property
    def comparisons(self) -> list[Comparison]:
        """Those of the current revision, newest first."""
        return self.bundle.comparisons[self.case.current_revision_id]

    @property
    def every_revision(self) -> Sequence[FixtureRevision]:
        """Oldest first, with who made it and for whom."""
        return self.bundle.every_revision[self.key]

    @property
    def authors(self) -> Sequence[tuple[int, UUID, UUID | None]]:
        """As `decisions.Authors`."""
        return self.snapshot.authors

    def runs_of(self, implementation: Implementation) -> list[Run]:
        """Every run of that code on this fixture, those of voided sets too, in the order of their numbers."""
        revision = self.revision
        if revision is None:
            return []
        hashes = (self.case.project_id, revision.fixture_hash, revision.checks_hash)
        return [run for run in self.bundle.runs[hashes] if run.run_set.implementation.digest == implementation.digest]

    @property
    def voided(self) -> list[RunSet]:
        """The sets that somebody took out: those of the affected and the fixed code on this fixture, and those on the
        revision's controls."""
        sides = [side for side in (self.affected, self.fixed) if side]
        runs = [run for side in sides for run in self.runs_of(side)]
        beside = (run for found in self.bundle.runs.values() for run in found if run.run_set.control_id)
        controls = {control.pk for control in self.controls}
        runs += [run for run in beside if run.run_set.control_id in controls]
        return list({run.run_set_id: run.run_set for run in runs if run.run_set.voided_at}.values())

    def runs_in(self, stay: LaneEntry) -> list[Run]:
        """Every run of a stay that the bundle was asked for, in the order of their numbers."""
        found = (run for runs in self.bundle.runs.values() for run in runs if run.run_set.lane_entry_id == stay.pk)
        return sorted(found, key=lambda run: run.number)

    @property
    def every_run(self) -> list[Run]:
        """Every run of the current revision and its controls, of a bundle that was asked for them."""
        revision = self.case.current_revision_id
        return [run for runs in self.bundle.runs.values() for run in runs if run.run_set.revision_id == revision]

    def override(self, gate: str) -> Override | None:
        """The confirmed override of exactly this gate for the current revision that has not ended; of several the one
        confirmed last."""
        now, revision = timezone.now(), self.case.current_revision_id
        found = [one for one in self.snapshot.overrides if (one.revision, one.gate) == (revision, gate)]
        return next((one for one in reversed(found) if one.until > now), None)


class Bundle:
    """The facts of many cases together."""

    def __init__(self, cases: Iterable[Case], stays: Iterable[LaneEntry] = (), *, whole: bool = False) -> None:
        """`stays` are those whose every run is wanted too: see `Facts.runs_in`. `whole`: so are the runs of other
        versions and of controls, and the comparisons of earlier revisions, to be shown beside the gates."""
        self._keys = [case.pk for case in cases]
        self._stays = [entry.pk for entry in stays]
        self._whole = whole

    @classmethod
    def of_surrounded(cls, cases: Sequence[Case], stays: Iterable[LaneEntry] = (), *, whole: bool = False) -> Bundle:
        """The same for cases that were loaded through `surrounded` just now: they are not asked for again."""
        made = cls(cases, stays, whole=whole)
        made.snapshots = {case.pk: snapshot_of(case) for case in cases}
        return made

    def facts(self) -> list[Facts]:
        """In the order of the cases."""
        return [Facts(bundle=self, key=key) for key in self._keys]

    @cached_property
    def snapshots(self) -> dict[UUID, Snapshot]:
        return {row.pk: snapshot_of(row) for row in surrounded(Case.objects.filter(pk__in=self._keys))}

    @cached_property
    def _revisions(self) -> list[FixtureRevision]:
        return [found.case.current_revision for found in self.snapshots.values() if found.case.current_revision]

    @cached_property
    def redactions(self) -> RedactionFacts:
        return RedactionFacts([found.case for found in self.snapshots.values()])

    @cached_property
    def controls(self) -> Mapping[UUID | None, list[Control]]:
        return _grouped((control.revision_id, control) for control in self._controls)

    @cached_property
    def replayed_controls(self) -> frozenset[UUID]:
        """Those with a set of the fixed version that stands, whatever became of its runs."""
        return frozenset(control.pk for control in self._controls if control.replayed)

    @cached_property
    def _controls(self) -> list[Any]:
        return kept_queries.about(gate_queries.controls, [revision.pk for revision in self._revisions])

    @cached_property
    def comparisons(self) -> Mapping[UUID | None, list[Comparison]]:
        revisions = [revision.pk for revision in self._revisions]
        found = self.every_comparison if self._whole else kept_queries.about(gate_queries.comparisons, revisions)
        return _grouped((comparison.revision_id, comparison) for comparison in found)

    @cached_property
    def every_comparison(self) -> list[Comparison]:
        return kept_queries.about(gate_queries.comparisons_of_cases, self._keys)

    @cached_property
    def runs(self) -> Mapping[tuple[UUID, str, str], list[Run]]:
        provenances = [Facts(bundle=self, key=key).provenance for key in self._keys]
        wanted = Q(
            run_set__project__in={found.case.project_id for found in self.snapshots.values()},
            run_set__fixture_hash__in={revision.fixture_hash for revision in self._revisions},
            run_set__implementation__digest__in={
                side.digest for provenance in provenances for side in (provenance.affected, provenance.fixed) if side
            },
        )
        wanted |= Q(run_set__revision__in=self._revisions, run_set__voided_at__isnull=False)
        if self._whole:
            wanted |= Q(run_set__revision__in=self._revisions)
        if self._stays:
            wanted |= Q(run_set__lane_entry__in=self._stays)
        return _grouped(
            ((run.project_id, run.run_set.fixture_hash, run.run_set.checks_hash), run) for run in runs_where(wanted)
        )

    @cached_property
    def proposals(self) -> Mapping[UUID, list[Proposal]]:
        """Every one, whatever became of it, the newest first."""
        found = kept_queries.about(gate_queries.proposals, self._keys)
        return _grouped((proposal.case_id, proposal) for proposal in found)

    @cached_property
    def every_revision(self) -> Mapping[UUID, list[FixtureRevision]]:
        found = kept_queries.about(gate_queries.revisions, self._keys)
        return _grouped((revision.case_id, revision) for revision in found)


def runs_where(wanted: Q) -> QuerySet[Run]:
    """The chosen runs by number, with their sets and implementations, without what they said. One query."""
    every = Run.objects.filter(wanted).select_related("run_set__implementation", "run_set__voided_by")
    return every.order_by("number").defer("progress", "run_set__implementation__spec")


def _grouped(pairs: Iterable[tuple[K, V]]) -> Mapping[K, list[V]]:
    """{key: [values]}, empty lists for keys that are not there."""
    groups: defaultdict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
