"""Reaching a verdict: every stored result is read again from its bytes, recomputed, and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.cases import evidence, fixtures
from replaycases.cases.models import (
    Comparison,
    Control,
    FixtureRevision,
    Implementation,
    Proposal,
    ProposalKind,
    ProposalState,
    Run,
    RunState,
)
from replaycases.fixture.model import Fixture
from replaycases.replay import controls
from replaycases.replay.ending import Ended
from replaycases.replay.recompute import recompute
from replaycases.replay.session import ReplaySession
from replaycases.verdict import comparison as verdicts
from replaycases.verdict import redness
from replaycases.verdict.comparability import Refusal, obstacle
from replaycases.verdict.control_result import NOT_REPLAYED, ControlResult
from replaycases.verdict.manifest import SURFACES, ManifestRefused, RunFacts, RunSet, build, parse
from replaycases.verdict.observation import Observation
from replaycases.verdict.sides import FEWEST_RESULTS, Side, SideName, side_of
from replaycases.verdict.verified import VerifiedManifest


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A verdict with what it was reached from. `old_red` says whether the old side is red by itself, `controls` which
    control passed, by its id; None where it is not decided."""

    fixture: Fixture
    comparison: verdicts.Comparison
    old: tuple[VerifiedManifest, ...]
    new: tuple[VerifiedManifest, ...]
    old_red: bool | None
    controls: Mapping[str, bool | None]

    @property
    def label(self) -> str:
        return str(self.comparison.label)

    @property
    def reason(self) -> str:
        return self.comparison.reason

    @property
    def document(self) -> Mapping[str, Any]:
        return self.comparison.as_dict()


def judge(comparison: Comparison) -> Judged:
    """The verdict over every result there is by now. Which runs are read is `Comparison.runs`'s matter."""
    fixture = fixtures.of_revision(comparison.revision)
    runs = [run for run in comparison.runs() if _is_on(run, fixture)]
    old, refused_old = _side(fixture, "old", runs, comparison.old)
    new, refused_new = _side(fixture, "new", runs, comparison.new)
    controls_read = _controls(comparison)
    results = [result for _, result in controls_read]
    return Judged(
        fixture=fixture,
        comparison=verdicts.compare(
            fixture,
            old,
            new,
            controls=results,
            refused=[*refused_old, *refused_new],
            approved_without_red=approved_without_red(comparison.revision),
        ),
        old=tuple(old),
        new=tuple(new),
        old_red=redness.red(fixture, side_of("old", old), refused_old),
        controls={str(control.pk): result.passed for control, result in controls_read},
    )


def approved_without_red(revision: FixtureRevision) -> bool:
    """Whether two people ever approved that a red of this revision cannot be had. The override ends and its gate closes
    again; that no red was seen stays true, so the verdict goes on saying it."""
    overrides = Proposal.objects.filter(kind=ProposalKind.OVERRIDE, gate="red", state=ProposalState.CONFIRMED)
    return overrides.filter(revision=revision).exists()


def _is_on(run: Run, fixture: Fixture) -> bool:
    return (run.run_set.fixture_hash, run.run_set.checks_hash) == (fixture.fixture_hash, fixture.checks_hash)


def _side(
    fixture: Fixture, name: SideName, runs: Iterable[Run], implementation: Implementation | None
) -> tuple[list[VerifiedManifest], list[Refusal]]:
    """Every result of the implementation. What has none, or one that does not stand up, is refused by name and
    forbids the verdict: dropping it could turn the rest green."""
    verified: list[VerifiedManifest] = []
    refused: list[Refusal] = []
    for run in runs:
        if implementation is None or run.run_set.implementation.digest != implementation.digest:
            continue
        try:
            verified.append(_verified(fixture, run))
        except (ManifestRefused, evidence.EvidenceDamaged, evidence.EvidenceDestroyed) as error:
            refused.append(Refusal(side=name, run=str(run.number), reason=str(error).rstrip(".")))
    return verified, refused


def _verified(fixture: Fixture, run: Run) -> VerifiedManifest:
    if run.state == RunState.CANCELLED:
        return recompute(fixture, build(fixture, _never_ran(fixture), _facts(run)))
    if run.manifest is None:
        raise ManifestRefused("", run.reason or f"the run is {run.state}")
    manifest = parse(evidence.read(run.manifest))
    if manifest.run_id != str(run.pk):
        raise ManifestRefused("/run/id", "it is another run's manifest")
    return recompute(fixture, manifest)


def _never_ran(fixture: Fixture) -> Observation:
    session = ReplaySession(fixture, serving=None, clock=None)
    return session.observe(ended=Ended(cause="cancelled", reason="cancelled by a person"))


def _facts(run: Run) -> RunFacts:
    """A cancelled run's facts: it is listed with its set, so that a set without it still shows as whole."""
    implementation = run.run_set.implementation
    ended = (run.finished_at or run.created_at).isoformat()
    return RunFacts(
        implementation={
            "name": implementation.name,
            "version": implementation.version,
            "commit": implementation.commit,
            "digest": implementation.digest,
        },
        isolation={"tier": "none", "denied": []},
        surfaces=dict.fromkeys(SURFACES, "uncontrolled"),
        run_id=str(run.pk),
        run_set=RunSet(id=str(run.run_set_id), index=run.index, size=run.run_set.size),
        started_at=(run.started_at or run.created_at).isoformat(),
        ended_at=ended,
    )


# --- controls -------------------------------------------------------------------------------------------------------


def _controls(comparison: Comparison) -> Sequence[tuple[Control, ControlResult]]:
    """What the new side did on the revision's controls; none where they were not asked for."""
    if not comparison.with_controls or comparison.new is None:
        return ()
    new, runs = comparison.new, list(comparison.runs().filter(run_set__control__isnull=False))
    return [
        (control, _control(control, new, [run for run in runs if run.run_set.control_id == control.pk]))
        for control in comparison.revision.controls.select_related("payload", "detect", "mutation")
    ]


def _control(control: Control, new: Implementation, runs: list[Run]) -> ControlResult:
    """What the control says, once its runs may be read at all; the rule itself is `replay.controls.judge`'s."""
    fixture = fixtures.of_control(control, mutated=False)
    held, fault = _readable(fixture, new, [run for run in runs if not run.run_set.mutated])
    if fault:
        return ControlResult(control=control.name, passed=None, reason=fault)
    if control.mutation is None:
        return controls.judge(control.name, fixture, held.read, None)
    mutated = fixtures.of_control(control, mutated=True)
    red, fault = _readable(mutated, new, [run for run in runs if run.run_set.mutated])
    if fault:
        return ControlResult(control=control.name, passed=None, reason=f"its mutation: {fault}")
    return controls.judge(control.name, fixture, held.read, red.read)


def _readable(fixture: Fixture, new: Implementation, runs: list[Run]) -> tuple[Side, str]:
    """The side, and what forbids reading it, by the same rules as for the incident."""
    if not runs:
        return side_of("new", []), NOT_REPLAYED
    verified, refused = _side(fixture, "new", runs, new)
    side = side_of("new", verified)
    found = obstacle(fixture, side_of("old", []), side, refused)
    if found is not None:
        return side, found[1]
    if len(side.read) < FEWEST_RESULTS:
        return side, f"needs at least {FEWEST_RESULTS} results"
    varied = side.varies_in()
    return side, f"its runs differ in their {varied}" if varied else ""
