"""Old against new on one fixture: one label, with its reason. A pure function of verified manifests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.model import Fixture
from replaycases.verdict.alignment import outcome_differences
from replaycases.verdict.caps import compatibility_caps, isolation_faults
from replaycases.verdict.comparability import Refusal
from replaycases.verdict.control_result import ControlResult
from replaycases.verdict.differences import differences
from replaycases.verdict.divergence import first_divergence
from replaycases.verdict.labels import Label, exit_code
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.observation import Difference, Divergence
from replaycases.verdict.proof import does_not_prove, proves
from replaycases.verdict.rows import OF_NEW, OF_THE_PAIR, Decision, Pair, first_of, varied
from replaycases.verdict.sides import FEWEST_RESULTS, Side, SideName, SideSummary, side_of, summary
from replaycases.verdict.verified import VerifiedManifest


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A result that is listed and not read."""

    side: SideName
    run: str
    status: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The verdict on a pair.

    `side` is the side that decided it, None for the pair as such. `first_divergence` and `differences` have old as
    expected and new as actual; the differences (of what was reported and of action counts) change no label.
    `authored_used`, `optional_skipped`, `prompt_delta` (largest, None where no model call was compared) and
    `ignored_share` are new's. `controls` is "passed", "failed" or "not run": that there are none, or that one which
    nobody replayed yet is all that lacks.
    """

    label: Label
    reason: str
    side: SideName | None
    case_id: str
    fixture_hash: str
    mode: str
    old_runs: int
    new_runs: int
    controls: str
    old: SideSummary | None = None
    new: SideSummary | None = None
    control_results: tuple[ControlResult, ...] = ()
    first_divergence: Divergence | None = None
    differences: tuple[Difference, ...] = ()
    authored_used: int = 0
    optional_skipped: int = 0
    prompt_delta: float | None = None
    ignored_share: float = 0.0
    unread: tuple[Unread, ...] = ()
    proves: tuple[str, ...] = ()
    does_not_prove: tuple[str, ...] = ()

    @property
    def green(self) -> bool:
        return self.label is Label.VERIFIED_RED_TO_GREEN

    @property
    def exit_code(self) -> int:
        """Pairs of another mode than replay are listed and never change the code, as long as they are pairs at all."""
        listed_only = self.mode != "replay" and self.label is not Label.NOT_COMPARABLE
        return 0 if listed_only else exit_code(self.label)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "label": str(self.label), "green": self.green, "exit_code": self.exit_code}


def compare(
    fixture: Fixture,
    old: Sequence[VerifiedManifest],
    new: Sequence[VerifiedManifest],
    *,
    controls: Sequence[ControlResult] = (),
    refused: Sequence[Refusal] = (),
    approved_without_red: bool = False,
) -> Comparison:
    """The label of the pair. Neither the order of results nor that of runs changes it.

    `refused` are manifests that could not be read or recomputed: they forbid comparing. `approved_without_red` says
    that a missing old side was approved (A24); what would be green is then `green_without_red`, never green.
    """
    pair = Pair(
        fixture=fixture,
        old=side_of("old", old),
        new=side_of("new", new),
        refused=tuple(refused),
        controls=tuple(controls),
    )
    return _comparison(pair, _decision(pair, approved_without_red=approved_without_red))


def invalid_fixture(case_id: str, error: FixtureInvalid) -> Comparison:
    """Row 1: the fixture does not load, so nothing was run or read. `case_id` is what the caller knows it by."""
    return Comparison(
        label=Label.FIXTURE_INVALID,
        reason=f"The fixture is not valid: {error}.",
        side=None,
        case_id=case_id,
        fixture_hash="",
        mode="replay",
        old_runs=0,
        new_runs=0,
        controls="not run",
        does_not_prove=("It says nothing about the incident.",),
    )


def _decision(pair: Pair, *, approved_without_red: bool) -> Decision:
    decision = first_of(OF_THE_PAIR, pair)
    if decision is None:
        return _capped(pair, first_of(OF_NEW, pair) or _GREEN)
    if decision.label is Label.BASELINE_ONLY and approved_without_red:
        return _without_red(pair)
    return decision


_GREEN = Decision(
    label=Label.VERIFIED_RED_TO_GREEN,
    reason="Old violates every boundary check and new holds every check, on the same fixture, in every run.",
)


def _capped(pair: Pair, decision: Decision) -> Decision:
    """The labels outside the order, for pairs whose result may not be taken for more than it is."""
    passed = decision.label is Label.VERIFIED_RED_TO_GREEN
    if not passed and decision.label is not Label.STILL_FAILING:
        return decision
    fault = next(isolation_faults(pair.old, pair.new), None)
    if passed and fault is not None:
        return Decision(label=Label.UNISOLATED_PASS, reason=f"All checks hold, but {fault}: it may have cheated.")
    cap = next(compatibility_caps(pair.fixture, _mode(pair)), None)
    if cap is None:
        return decision
    label = Label.COMPATIBLE_PASS if passed else Label.COMPATIBLE_FAIL
    return replace(decision, label=label, reason=f"{decision.reason} It is no reproduction: {cap}.")


def _without_red(pair: Pair) -> Decision:
    """New alone, where a person approved that there is no old run. Anything short of green stays `baseline_only`."""
    fault = varied(pair) or first_of(OF_NEW, pair) if len(pair.new.read) >= FEWEST_RESULTS else _TOO_FEW
    caps = [*isolation_faults(pair.new), *compatibility_caps(pair.fixture, _mode(pair))]
    if fault is None and not caps:
        reason = "New holds every check; that old fails was approved without a run that shows it."
        return Decision(label=Label.GREEN_WITHOUT_RED, side="old", reason=reason)
    why = fault.reason if fault is not None else f"{caps[0].capitalize()}."
    return Decision(label=Label.BASELINE_ONLY, side="old", reason=f"There is no old run, and new is not green: {why}")


_TOO_FEW = Decision(label=Label.UNDETERMINED, side="new", reason=f"new needs at least {FEWEST_RESULTS} results.")


def _mode(pair: Pair) -> str:
    return next((str(manifest["mode"]) for side in pair.sides for manifest in side.results), "replay")


def _comparison(pair: Pair, decision: Decision) -> Comparison:
    old, new = (side.any_run if side.read else None for side in pair.sides)
    return Comparison(
        label=decision.label,
        reason=decision.reason,
        side=decision.side,
        case_id=pair.fixture.case_id,
        fixture_hash=pair.fixture.fixture_hash,
        mode=_mode(pair),
        old_runs=len(pair.old.read),
        new_runs=len(pair.new.read),
        controls=_controls(pair.controls),
        old=summary(pair.old),
        new=summary(pair.new),
        control_results=pair.controls,
        first_divergence=None if old is None or new is None else first_divergence(pair.fixture, old, new),
        differences=() if old is None or new is None else _differences(old, new),
        authored_used=len(new["authored_used"]) if new is not None else 0,
        optional_skipped=len(new["optional_skipped"]) if new is not None else 0,
        prompt_delta=max((m["prompt_delta"] for m in pair.new.read if m["prompt_delta"] is not None), default=None),
        ignored_share=new["ignored_share"] if new is not None else 0.0,
        unread=tuple(_unread(pair.old)) + tuple(_unread(pair.new)),
        proves=proves(pair, decision.label),
        does_not_prove=does_not_prove(pair, decision.label),
    )


def _controls(results: tuple[ControlResult, ...]) -> str:
    if not results:
        return "not run"
    if all(result.passed is True for result in results):
        return "passed"
    known = [result for result in results if result.replayed]
    return "not run" if all(result.passed is True for result in known) else "failed"


def _differences(old: Manifest, new: Manifest) -> tuple[Difference, ...]:
    counts = differences(old["action_counts"], new["action_counts"], base="/action_counts")
    return (*outcome_differences(old, new), *counts.found)


def _unread(side: Side) -> list[Unread]:
    return [Unread(side=side.name, run=manifest.run_id, status=manifest.status) for manifest in side.unread]
