"""Runs on a case's fixture and its controls, counted by version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, Max, Q

from replaycases.cases.models import Control, FixtureRevision, Provenance, Run, RunState


@dataclass(frozen=True, kw_only=True)
class Group:
    """Runs of one version on one fixture that ended alike, as the database counts them."""

    implementation: Any
    control: Any
    mutated: bool
    voided: bool
    state: str
    passed: bool | None
    observation: str
    status: str
    runs: int
    sets: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Version:
    pk: Any
    name: str
    version: str
    commit: str


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What a group of runs says together. `result` is held, violated, undetermined, varied or "" while none ended."""

    total: int
    finished: int
    result: str
    observation: str
    agreeing: int
    last: int | None

    @property
    def runs(self) -> str:
        return f"{self.finished} of {self.total}"


@dataclass(frozen=True, kw_only=True)
class VersionRow:
    """`side` says what the version is to the case: affected, fixed or ""."""

    implementation: Version
    tally: Tally
    statuses: tuple[str, ...]
    voided: int
    side: str


@dataclass(frozen=True, kw_only=True)
class ControlRow:
    """A control against one implementation (None: never run); `mutated` is the tally of its mutated twin."""

    control: Control
    implementation: Version | None
    plain: Tally | None
    mutated: Tally | None


def of_revision(revision: FixtureRevision | None) -> list[tuple[Version, Group]]:
    """Every run of the revision and its controls, counted by the database: a case may have thousands. One query."""
    if revision is None:
        return []
    version = ("implementation", "implementation__name", "implementation__version", "implementation__commit")
    columns = (
        *(f"run_set__{name}" for name in (*version, "control", "mutated")),
        *("voided", "state", "boundary_passed", "observation_hash", "status", "runs", "sets", "last"),
    )
    voided = ExpressionWrapper(Q(run_set__voided_at__isnull=False), output_field=BooleanField())
    rows = (
        Run.objects.filter(run_set__revision=revision)
        .annotate(voided=voided)
        .order_by("run_set__implementation__created_at", "run_set__implementation")
        .values(*columns[:-3])
        .annotate(runs=Count("pk"), sets=Count("run_set", distinct=True), last=Max("number"))
        .values_list(*columns)
    )
    return [_group(*row) for row in rows]


def of_runs(runs: Iterable[Run]) -> list[tuple[Version, Group]]:
    """The same of runs that were read, with their sets and implementations. No query."""
    alike: defaultdict[tuple[Any, ...], list[Run]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (run.run_set.implementation.created_at, run.run_set.implementation.pk)):
        alike[_said(run)].append(run)
    return [
        _group(*said, len(found), len({run.run_set_id for run in found}), max(run.number for run in found))
        for said, found in alike.items()
    ]


def _said(run: Run) -> tuple[Any, ...]:
    """What it has in common with others of its group, in the order of the columns above."""
    asked = run.run_set
    version = asked.implementation
    return (
        *(version.pk, version.name, version.version, version.commit, asked.control_id, asked.mutated),
        *(asked.voided_at is not None, run.state, run.boundary_passed, run.observation_hash, run.status),
    )


def _group(pk: Any, name: str, version: str, commit: str, *rest: Any) -> tuple[Version, Group]:
    control, mutated, voided, state, passed, observation, status, runs, sets, last = rest
    return (
        Version(pk=pk, name=name, version=version, commit=commit),
        Group(
            implementation=pk,
            control=control,
            mutated=mutated,
            voided=voided,
            state=state,
            passed=passed,
            observation=observation,
            status=status,
            runs=runs,
            sets=sets,
            last=last,
        ),
    )


def tally(groups: Iterable[Group]) -> Tally:
    """Count every run; a result is named only if all that finished agree on it."""
    every = list(groups)
    finished = [group for group in every if group.state == RunState.FINISHED]
    seen: dict[str, int] = {}
    for group in finished:
        seen[group.observation] = seen.get(group.observation, 0) + group.runs
    most = max(seen, key=lambda observation: seen[observation], default="")
    return Tally(
        total=sum(group.runs for group in every),
        finished=sum(group.runs for group in finished),
        result=_result({group.passed for group in finished}),
        observation=most,
        agreeing=seen.get(most, 0),
        last=max((group.last for group in every), default=None),
    )


def _result(values: set[bool | None]) -> str:
    if not values:
        return ""
    if len(values) > 1:
        return "varied"
    return {True: "held", False: "violated", None: "undetermined"}[values.pop()]


def version_rows(groups: Sequence[tuple[Version, Group]], provenance: Provenance | None) -> list[VersionRow]:
    """One row an implementation over the incident fixture; voided sets are counted apart and never read."""
    rows = []
    for version in dict.fromkeys(version for version, group in groups if group.control is None):
        own = [group for owner, group in groups if owner == version and group.control is None]
        counted = [group for group in own if not group.voided]
        rows.append(
            VersionRow(
                implementation=version,
                tally=tally(counted),
                statuses=tuple(sorted({group.status for group in counted if group.status})),
                voided=sum(group.sets for group in own if group.voided),
                side=_side(version, provenance),
            )
        )
    return rows


def _side(version: Version, provenance: Provenance | None) -> str:
    if provenance is None:
        return ""
    return {provenance.affected_id: "affected", provenance.fixed_id: "fixed"}.get(version.pk, "")


def control_rows(controls: Iterable[Control], groups: Sequence[tuple[Version, Group]]) -> list[ControlRow]:
    rows = []
    for control in controls:
        own = [(version, group) for version, group in groups if group.control == control.pk and not group.voided]
        versions = list(dict.fromkeys(version for version, _ in own))
        rows += [_control_row(control, version, own) for version in versions]
        if not own:
            rows.append(ControlRow(control=control, implementation=None, plain=None, mutated=None))
    return rows


def _control_row(control: Control, version: Version, own: Sequence[tuple[Version, Group]]) -> ControlRow:
    def of(mutated: bool) -> Tally:
        return tally(group for owner, group in own if owner == version and group.mutated is mutated)

    return ControlRow(control=control, implementation=version, plain=of(False), mutated=of(True))
