"""What the case page shows, from rows alone: no evidence bytes are read to draw it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import Prefetch, Q, QuerySet

from replaycases.cases import fixtures
from replaycases.cases.lifecycle import STEPS
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Comparison,
    Control,
    FixtureRevision,
    Implementation,
    LaneEntry,
    LaneName,
    Run,
    RunSet,
    RunState,
    Stage,
)
from replaycases.web import timeline


@dataclass(frozen=True, kw_only=True)
class Step:
    """One mark of the stage track. `state` is a class of track.css: done, now or ""."""

    name: str
    state: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What a group of runs says together. `result` is held, violated, undetermined, varied or "" while none ended."""

    total: int
    finished: int
    result: str
    observation: str
    agreeing: int
    last: Run | None

    @property
    def runs(self) -> str:
        return f"{self.finished} of {self.total}"


@dataclass(frozen=True, kw_only=True)
class VersionRow:
    implementation: Implementation
    tally: Tally
    statuses: tuple[str, ...]
    voided: int


@dataclass(frozen=True, kw_only=True)
class ControlRow:
    """A control against one implementation (None: never run); `mutated` is the tally of its mutated twin."""

    control: Control
    implementation: Implementation | None
    plain: Tally | None
    mutated: Tally | None


def tally(runs: Iterable[Run]) -> Tally:
    """Count every run; a result is named only if all that finished agree on it."""
    every = list(runs)
    finished = [run for run in every if run.state == RunState.FINISHED]
    hashes = [run.observation_hash for run in finished]
    most = max(hashes, key=hashes.count, default="")
    return Tally(
        total=len(every),
        finished=len(finished),
        result=_result({run.boundary_passed for run in finished}),
        observation=most,
        agreeing=hashes.count(most),
        last=max(every, key=lambda run: run.number, default=None),
    )


def _result(values: set[bool | None]) -> str:
    if not values:
        return ""
    if len(values) > 1:
        return "varied"
    return {True: "held", False: "violated", None: "undetermined"}[values.pop()]


def run_sets_of(revision: FixtureRevision) -> list[RunSet]:
    return list(
        RunSet.objects.filter(revision=revision)
        .select_related("implementation", "control")
        .prefetch_related(Prefetch("runs", Run.objects.defer("stderr", "progress")))
        .order_by("implementation__created_at", "implementation_id", "created_at")
    )


def version_rows(run_sets: Sequence[RunSet]) -> list[VersionRow]:
    """One row an implementation over the incident fixture; voided sets are counted apart and never read."""
    own = [run_set for run_set in run_sets if run_set.control_id is None]
    rows = []
    for _, group in groupby(own, key=lambda run_set: run_set.implementation_id):
        sets = list(group)
        runs = [run for run_set in sets if run_set.voided_at is None for run in run_set.runs.all()]
        statuses = sorted({run.status for run in runs if run.status})
        rows.append(
            VersionRow(
                implementation=sets[0].implementation,
                tally=tally(runs),
                statuses=tuple(statuses),
                voided=sum(run_set.voided_at is not None for run_set in sets),
            )
        )
    return rows


def control_rows(controls: Iterable[Control], run_sets: Sequence[RunSet]) -> list[ControlRow]:
    rows = []
    for control in controls:
        own = [s for s in run_sets if s.control_id == control.pk and s.voided_at is None]
        implementations = {s.implementation_id: s.implementation for s in own}
        rows += [_control_row(control, implementation, own) for implementation in implementations.values()]
        if not own:
            rows.append(ControlRow(control=control, implementation=None, plain=None, mutated=None))
    return rows


def _control_row(control: Control, implementation: Implementation, own: Sequence[RunSet]) -> ControlRow:
    def of(mutated: bool) -> Tally:
        chosen = [s for s in own if s.implementation_id == implementation.pk and s.mutated is mutated]
        return tally(run for run_set in chosen for run in run_set.runs.all())

    return ControlRow(control=control, implementation=implementation, plain=of(False), mutated=of(True))


def track(case: Case, entries: Sequence[LaneEntry]) -> tuple[list[Step], list[Step]]:
    """The stages passed, and apart from them the lanes: a lane is a place in a suite, not a stage."""
    reached = STEPS.index(Stage(case.stage)) if case.stage in STEPS else -1
    stages = [
        Step(name=stage.label, state="now" if index == reached else "done" if index < reached else "")
        for index, stage in enumerate(STEPS)
    ]
    if case.stage not in STEPS:
        stages.append(Step(name=Stage(case.stage).label, state="now"))
    inside = {entry.lane.name: entry for entry in entries}
    lanes = [
        Step(
            name=f"Lane {name}",
            state="now" if name in inside else "",
            note=f"revision {inside[name].revision.number}" if name in inside else "",
        )
        for name in LaneName.values
    ]
    return stages, lanes


def lane_entries(case: Case) -> list[LaneEntry]:
    return list(LaneEntry.objects.filter(revision__case=case, left_at=None).select_related("lane", "revision"))


def comparisons_of(case: Case) -> QuerySet[Comparison]:
    return (
        Comparison.objects.filter(revision__case=case)
        .select_related("old", "new", "revision", "requested_by")
        .order_by("-number")
    )


def case_timeline(case: Case, revisions: Sequence[FixtureRevision]) -> list[timeline.Day]:
    """Audit events of the case and of what belongs to it, newest first, by day."""
    ids = {str(case.pk), *(str(revision.pk) for revision in revisions)}
    for related in (
        Comparison.objects.filter(revision__case=case),
        Control.objects.filter(revision__case=case),
        RunSet.objects.filter(revision__case=case),
    ):
        ids.update(str(pk) for pk in related.values_list("pk", flat=True))
    events = AuditEvent.objects.filter(Q(project=case.project), object_id__in=ids).select_related("actor")
    return timeline.days(events.order_by("-sequence")[: timeline.SHOWN])


def declared_gaps(revision: FixtureRevision | None) -> list[dict[str, Any]]:
    """What the recording lacks: ({pointer, cost, declared?}, …), read from the revision's document."""
    if revision is None:
        return []
    return [dict(gap) for gap in fixtures.of_revision(revision).missing]
