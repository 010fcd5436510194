"""The ordered table of a verdict. Each row is one function: a decision if it applies, else None; the first one wins.

Rows 1 (fixture invalid) and the caps outside the order are in `comparison`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from replaycases.fixture.model import OWN_QUEUE, Fixture
from replaycases.verdict.comparability import Refusal, obstacle
from replaycases.verdict.control_result import ControlResult
from replaycases.verdict.labels import Label
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.near_miss import near_misses
from replaycases.verdict.observation import GOT_THROUGH
from replaycases.verdict.sides import FEWEST_RESULTS, Side, SideName

BROKE_OFF = frozenset({"timed_out", "limit_exceeded", "exhausted", "crashed"})
"""Statuses of a run that ended by itself or by a limit, without leaving the recording for another path."""
_NO_OTHER_PATH = frozenset({"crash", "model_exhausted", "unconsumed"})


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A label, the sentence that says why, and the side it is about (None: both, or the pair as such)."""

    label: Label
    reason: str
    side: SideName | None = None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Everything that a row may read."""

    fixture: Fixture
    old: Side
    new: Side
    refused: tuple[Refusal, ...] = ()
    controls: tuple[ControlResult, ...] = ()

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.old, self.new


def not_comparable(pair: Pair) -> Decision | None:
    found = obstacle(pair.fixture, pair.old, pair.new, pair.refused)
    if found is None:
        return None
    return Decision(label=Label.NOT_COMPARABLE, side=found[0], reason=found[1])


def environment_unavailable(pair: Pair) -> Decision | None:
    for side in pair.sides:
        if side.unread and len(side.read) < FEWEST_RESULTS:
            statuses = " or ".join(sorted({manifest.status for manifest in side.unread}))
            reason = f"{len(side.read)} results remain on the {side.name} side; {len(side.unread)} ended as {statuses}."
            return Decision(label=Label.ENVIRONMENT_UNAVAILABLE, side=side.name, reason=reason)
    return None


def adapter_error(pair: Pair) -> Decision | None:
    return _by_status(pair, "adapter_error", Label.ADAPTER_ERROR, "did not keep to the protocol, so it was not judged")


def stale(pair: Pair) -> Decision | None:
    return _by_status(
        pair, "stale", Label.STALE, "asks for a model, prompt, tool catalogue or policy that was not recorded"
    )


def baseline_only(pair: Pair) -> Decision | None:
    if pair.old.results:
        return None
    return Decision(label=Label.BASELINE_ONLY, side="old", reason="There is no old run: a baseline is not a fix.")


def old_only(pair: Pair) -> Decision | None:
    if pair.new.results:
        return None
    return Decision(label=Label.OLD_ONLY, side="new", reason="There is no new run to compare with the old one.")


def varied(pair: Pair) -> Decision | None:
    for side in pair.sides:
        what = side.varies_in()
        if what is not None:
            reason = f"The {len(side.read)} {side.name} runs differ in their {what}: no single one of them counts."
            return Decision(label=Label.VARIED, side=side.name, reason=reason)
    return None


def too_few_results(pair: Pair) -> Decision | None:
    for side in pair.sides:
        if len(side.read) < FEWEST_RESULTS:
            reason = f"There is only one {side.name} result; each side needs at least {FEWEST_RESULTS}."
            return Decision(label=Label.UNDETERMINED, side=side.name, reason=reason)
    return None


def old_undetermined(pair: Pair) -> Decision | None:
    old = pair.old.any_run
    results = _boundary_results(pair.fixture, old)
    if took_another_path(old) or "violated" in results:
        return None
    if old.status in BROKE_OFF:
        reason = f"Old ended as {_words(old.status)} before a boundary check was decided."
        return Decision(label=Label.UNDETERMINED, side="old", reason=reason)
    if "undetermined" in results:
        reason = f"Whether old violates {_named(_with(pair.fixture, old, 'undetermined'))} could not be determined."
        return Decision(label=Label.UNDETERMINED, side="old", reason=reason)
    return None


def not_reproduced(pair: Pair) -> Decision | None:
    fault = next((f for manifest in pair.old.read if (f := why_not_red(pair.fixture, manifest)) is not None), None)
    if fault is None:
        return None
    return Decision(label=Label.NOT_REPRODUCED, side="old", reason=f"Old did not reproduce the incident: {fault}.")


def old_compared_nothing(pair: Pair) -> Decision | None:
    if all(map(was_compared, pair.old.read)):
        return None
    reason = "Old used no recorded answer, so nothing ties its failure to the incident: it may fail for any reason."
    return Decision(label=Label.UNDETERMINED, side="old", reason=reason)


def still_failing(pair: Pair) -> Decision | None:
    broken = [check for check, result in pair.new.any_run.checks.items() if result == "violated"]
    if not broken:
        return None
    boundary = [check for check in broken if check in pair.fixture.boundary]
    kind = "the boundary" if boundary else "other checks than the boundary"
    return Decision(label=Label.STILL_FAILING, side="new", reason=f"New violates {kind}: {_named(boundary or broken)}.")


def diverged(pair: Pair) -> Decision | None:
    new = pair.new.any_run
    if new.status == "exhausted":
        reason = "New asked for more than was recorded: review it, or run it again with a live model."
        return Decision(label=Label.DIVERGED, side="new", reason=reason)
    if took_another_path(new):
        reason = f"New took another path than the recording{_where(new)}, so its answers do not fit: review it."
        return Decision(label=Label.DIVERGED, side="new", reason=reason)
    return None


def unconsumed(pair: Pair) -> Decision | None:
    left = pair.new.any_run["unconsumed"]
    if not left:
        return None
    reason = f"New finished and left {len(left)} required recorded events unused, from event {left[0]} on."
    return Decision(label=Label.UNCONSUMED, side="new", reason=reason)


def new_undetermined(pair: Pair) -> Decision | None:
    new = pair.new.any_run
    if new.status not in GOT_THROUGH:
        reason = f"New ended as {_words(new.status)}, so its checks are not decided."
        return Decision(label=Label.UNDETERMINED, side="new", reason=reason)
    boundary = pair.fixture.boundary
    if new.boundary_passed is True and boundary and all(new.checks.get(check) == "held" for check in boundary):
        return None
    open_checks = [check for check, result in new.checks.items() if result == "undetermined"]
    reason = f"Whether new holds {_named(open_checks or boundary)} could not be determined."
    return Decision(label=Label.UNDETERMINED, side="new", reason=reason)


def new_compared_nothing(pair: Pair) -> Decision | None:
    if all(map(was_compared, pair.new.read)):
        return None
    reason = "New used no recorded answer, so nothing was compared with the recording, which is no pass."
    return Decision(label=Label.UNDETERMINED, side="new", reason=reason)


def control_failed(pair: Pair) -> Decision | None:
    failed = sorted((c for c in pair.controls if c.passed is not True), key=_worst_first)
    if not failed:
        return None
    reason = f"{_of_control(failed[0])}; {len(failed)} of {len(pair.controls)} did not pass."
    return Decision(label=Label.CONTROL_FAILED, side="new", reason=reason)


def _worst_first(control: ControlResult) -> tuple[bool, bool, str]:
    return control.passed is None, not control.replayed, control.control


def _of_control(worst: ControlResult) -> str:
    if not worst.replayed:
        return f"The control {worst.control} has not been replayed on new yet, which is no pass"
    if worst.passed is None:
        return f"New could not be decided on the control {worst.control}"
    return f"New fails the control {worst.control}"


def near_miss(pair: Pair) -> Decision | None:
    old = pair.old.any_run if pair.old.read else None
    sentence = next(near_misses(pair.fixture, old, pair.new.any_run), None)
    return None if sentence is None else Decision(label=Label.NEAR_MISS, side="new", reason=sentence)


Row = Callable[[Pair], Decision | None]

OF_THE_PAIR: tuple[Row, ...] = (
    not_comparable,
    environment_unavailable,
    adapter_error,
    stale,
    baseline_only,
    old_only,
    varied,
    too_few_results,
    old_undetermined,
    not_reproduced,
    old_compared_nothing,
)
OF_NEW: tuple[Row, ...] = (
    still_failing,
    diverged,
    unconsumed,
    new_undetermined,
    new_compared_nothing,
    control_failed,
    near_miss,
)


def first_of(rows: Sequence[Row], pair: Pair) -> Decision | None:
    return next((decision for row in rows if (decision := row(pair)) is not None), None)


def why_not_red(fixture: Fixture, old: Manifest) -> str | None:
    """None if this run is red: every boundary check violated, on the recorded path, with recorded answers only and
    nothing required left over. Otherwise why not."""
    if took_another_path(old):
        return f"it diverged from the recording{_where(old)}"
    if old["authored_used"]:
        return "it used an authored answer, which was never recorded"
    if old["unconsumed"] or (old.status in BROKE_OFF and not went_all_the_way(fixture, old)):
        return "it left required recorded events over"
    results = _boundary_results(fixture, old)
    if results and all(result == "violated" for result in results):
        return None
    if "violated" in results:
        return f"it violates the boundary only in part and not {_named(_without(fixture, old, 'violated'))}"
    if "violated" in old.checks.values():
        return "it held the boundary and violated only other checks"
    return f"it held {_named(fixture.boundary)}"


def was_compared(manifest: Manifest) -> bool:
    """Whether a call of the run was answered from the recording, and so compared with it. Reads of the clock and random
    draws are answered whoever asks; the call past a horizon is answered by nothing."""
    return any(call["answered"] and call["seq"] is not None for call in manifest["calls"])


def went_all_the_way(fixture: Fixture, manifest: Manifest) -> bool:
    """Whether every step that a run must do was answered, however the run ended."""
    answered = {call["seq"] for call in manifest["calls"] if call["answered"]}
    steps = (event for event in fixture.events if event.boundary not in OWN_QUEUE and not event.optional)
    return all(event.seq in answered for event in steps)


def took_another_path(manifest: Manifest) -> bool:
    divergence = manifest["first_divergence"]
    return manifest.status == "diverged" or (divergence is not None and divergence["kind"] not in _NO_OTHER_PATH)


def _by_status(pair: Pair, status: str, label: Label, what: str) -> Decision | None:
    found = next(((side, run) for side in pair.sides if (run := side.with_status(status)) is not None), None)
    if found is None:
        return None
    side, run = found
    return Decision(label=label, side=side.name, reason=f"{side.name.capitalize()} {what}{_where(run)}.")


def _boundary_results(fixture: Fixture, manifest: Manifest) -> list[str]:
    return [manifest.checks.get(check, "undetermined") for check in fixture.boundary]


def _with(fixture: Fixture, manifest: Manifest, result: str) -> list[str]:
    return [check for check in fixture.boundary if manifest.checks.get(check, "undetermined") == result]


def _without(fixture: Fixture, manifest: Manifest, result: str) -> list[str]:
    return [check for check in fixture.boundary if manifest.checks.get(check) != result]


def _named(checks: Sequence[str]) -> str:
    shown = ", ".join(checks[:3])
    return shown if len(checks) <= 3 else f"{shown} and {len(checks) - 3} more"


def _where(manifest: Manifest) -> str:
    """As in " at event 4 (arguments)": the place and kind of the run's own first divergence, so far as known."""
    divergence = manifest["first_divergence"]
    if divergence is None:
        return ""
    place = f" at event {divergence['seq']}" if divergence["seq"] is not None else ""
    return f"{place} ({divergence['kind']})"


def _words(status: str) -> str:
    return status.replace("_", " ")
