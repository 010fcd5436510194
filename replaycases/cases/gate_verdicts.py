"""The gates about replays: red, green, controls, repetitions and history. Only computed verdicts and ended runs of our
own workers are read; what waits, varies, was voided or could not be decided satisfies nothing."""

from __future__ import annotations

from collections.abc import Sequence

from replaycases.cases.gate_facts import Facts
from replaycases.cases.gate_found import Evidence, Found, listed, not_applicable, satisfied, unsatisfied
from replaycases.cases.gate_rules import current, without_voided
from replaycases.cases.lane_history import history_of, why_unread
from replaycases.cases.models import ENDED, Comparison, Control, Implementation, OutcomeType, Run, RunState
from replaycases.verdict.labels import Label
from replaycases.verdict.sides import FEWEST_RESULTS

COMPATIBILITY = frozenset({Label.COMPATIBLE_PASS, Label.COMPATIBLE_FAIL})
_COMPARE = "Compare the affected with the fixed version, with controls."
_WAIT = "Wait until its replays have ended."
_DECLARE = (
    "Declare what the recording lacks, and compare again: the tool catalogue, how the model was served and the rest of "
    "the run record, in the draft of its capture or in the next revision. What cannot be declared keeps the case in "
    "lane compatibility."
)


# --- red ------------------------------------------------------------------------------------------------------------


def red(facts: Facts) -> Found:
    """The affected version violates every boundary check in every run on this fixture."""
    current(facts)
    affected = facts.affected
    if affected is None:
        return unsatisfied("The affected version is not recorded.", "Record it.", _details())
    comparisons = [one for one in facts.comparisons if one.old and one.old.digest == affected.digest]
    computed = _computed(comparisons)
    if computed is None:
        return _not_computed(comparisons, f"{affected} was not replayed on this revision.", "Replay it.")
    if computed.old_red is True:
        count = sum(not why_unread(run) for run in _standing(facts.runs_of(affected)))
        return satisfied(f"{affected} violates every boundary check in each of {count} runs.", _comparison(computed))
    remedy = "Mend the fixture or its checks, or record the version in which it happened."
    if computed.old_red is False:
        why = computed.reason if computed.label == Label.NOT_REPRODUCED else "its runs hold a boundary check."
        return unsatisfied(f"{affected} is not red: {why}", remedy, _comparison(computed))
    return unsatisfied(_undecided(affected, facts.runs_of(affected)), "Look at its runs.", _comparison(computed))


def _undecided(implementation: Implementation, every: Sequence[Run]) -> str:
    """Why it is not decided whether it is red, from its runs."""
    runs = [run for run in _standing(every) if not why_unread(run)]
    if len(runs) < FEWEST_RESULTS:
        return f"{implementation} has {len(runs)} results, and {FEWEST_RESULTS} are needed."
    if len({(run.status, run.boundary_passed, run.observation_hash) for run in runs}) > 1:
        return f"The {len(runs)} runs of {implementation} differ: no single one of them counts."
    return f"It could not be determined whether {implementation} is red: its runs ended as {_words(runs[0].status)}."


# --- green ----------------------------------------------------------------------------------------------------------


def current_passes(facts: Facts) -> Found:
    """The newest verdict on affected against fixed, with controls, is exactly verified_red_to_green."""
    pair = _pair(facts)
    computed = _computed(pair)
    if computed is None:
        return _not_computed(pair, "The affected and the fixed version were not compared on this revision.", _COMPARE)
    if computed.label == Label.CONTROL_FAILED and facts.unplayed_controls:
        return unsatisfied(computed.reason, _COMPARE, _comparison(computed))
    if computed.label != Label.VERIFIED_RED_TO_GREEN:
        return unsatisfied(
            f"{_words(computed.label).capitalize()}: {computed.reason}",
            _DECLARE if computed.label in COMPATIBILITY else "Look at the comparison.",
            _comparison(computed),
        )
    return satisfied(f"{facts.fixed} holds every check; {facts.affected} is red.", _comparison(computed))


def deterministic(facts: Facts) -> Found:
    """Replays only, and nothing in them that makes the result a matter of compatibility."""
    pair = _pair(facts)
    computed = _computed(pair)
    if computed is None:
        return _not_computed(pair, "No verdict says yet whether the case is deterministic.", _COMPARE)
    if computed.label in COMPATIBILITY:
        return unsatisfied(computed.reason, _DECLARE, _comparison(computed))
    return satisfied("Every run is a replay of recorded answers.", _comparison(computed))


def provider_backed(facts: Facts) -> Found:
    """The compatibility lane is for cases whose verdict can be no reproduction; they never block."""
    current(facts)
    computed = _computed(facts.comparisons)
    if computed is None:
        return _not_computed(facts.comparisons, "There is no verdict yet.", _COMPARE)
    if computed.label not in COMPATIBILITY:
        return unsatisfied(
            f"The verdict is {_words(computed.label)}: the case does not depend on a provider.",
            "Promote it to nonblocking instead.",
            _comparison(computed),
        )
    return satisfied(f"It can never block. {computed.reason}", _comparison(computed))


# --- controls -------------------------------------------------------------------------------------------------------


def controls(facts: Facts) -> Found:
    """For each tool with an effect a control of each outcome type that passed; without such a tool, one that passed."""
    passed, waiting = _passed(facts), _controls_wait(facts)
    if not facts.controls:
        return unsatisfied("The revision has no controls.", "Add one for each outcome type.", _controls_place())
    tools = current(facts).effectful_tools
    wanted = {(tool, kind) for tool in tools for kind in OutcomeType}
    missing = wanted - {(one.tool, one.outcome_type) for one in passed}
    lacking = [f"{kind.label.lower()} of {tool}" for tool in tools for kind in OutcomeType if (tool, kind) in missing]
    if missing:
        if missing <= {(one.tool, one.outcome_type) for one in facts.unplayed_controls}:
            return _not_replayed(facts.unplayed_controls)
        if waiting and wanted <= {(one.tool, one.outcome_type) for one in facts.controls}:
            return unsatisfied(f"No result now for: {listed(lacking)}.", _WAIT, _controls_place())
        remedy = "Add a control with a mutation for each, naming its tool, and compare again."
        return unsatisfied(f"No control passed for: {listed(lacking)}.", remedy, _controls_place())
    if not passed and len(facts.unplayed_controls) == len(facts.controls):
        return _not_replayed(facts.controls)
    if not passed and waiting:
        return unsatisfied("No control has a result now.", _WAIT, _controls_place())
    if not passed:
        return unsatisfied("No control passed.", _COMPARE, _controls_place())
    return satisfied(
        f"{len(passed)} of {len(facts.controls)} controls passed, each seen to fail when mutated.", _controls_place()
    )


def controls_pass(facts: Facts) -> Found:
    """Every control of the revision passed for the fixed version."""
    current(facts)
    failing = [one for one in facts.controls if one not in _passed(facts)]
    if not facts.controls:
        return unsatisfied("The revision has no controls.", "Add them.", _controls_place())
    if facts.unplayed_controls:
        others = [one for one in failing if one not in facts.unplayed_controls]
        return _not_replayed(facts.unplayed_controls, f" Did not pass: {_names(others)}." if others else "")
    if failing and _controls_wait(facts):
        return unsatisfied(f"No result now of: {_names(failing)}.", _WAIT, _controls_place())
    if failing:
        return unsatisfied(f"Did not pass: {_names(failing)}.", "Look at their runs.", _controls_place())
    return satisfied(f"{len(facts.controls)} of {len(facts.controls)} controls passed.", _controls_place())


def _not_replayed(controls: Sequence[Control], more: str = "") -> Found:
    """Nobody asked for them: waiting brings nothing, and they did not fail."""
    return unsatisfied(f"Not replayed yet: {_names(controls)}.{more}", _COMPARE, _controls_place())


def control_approvals(facts: Facts) -> Found:
    """A reviewer looked at the bytes of every control."""
    current(facts)
    if not facts.controls:
        return not_applicable("The revision has no controls.")
    lacking = [one for one in facts.controls if one.pk not in facts.approved_controls]
    if lacking:
        return unsatisfied(
            f"Not approved: {_names(lacking)}.", "A privacy reviewer who did not add it approves it.", _controls_place()
        )
    return satisfied(f"{len(facts.controls)} of {len(facts.controls)} controls are approved.", _controls_place())


def _passed(facts: Facts) -> list[Control]:
    """Those that passed for the fixed version by a verdict that stands, which includes that each was seen to fail."""
    computed = _computed(_with_controls(facts))
    results = computed.controls if computed else {}
    return [one for one in facts.controls if results.get(str(one.pk)) is True]


def _controls_wait(facts: Facts) -> bool:
    found = _with_controls(facts)
    return bool(found) and all(one.computed_at is None for one in found)


def _with_controls(facts: Facts) -> list[Comparison]:
    fixed = facts.fixed
    return [
        one for one in facts.comparisons if fixed and one.with_controls and one.new and one.new.digest == fixed.digest
    ]


# --- repetitions and history ----------------------------------------------------------------------------------------


def repeated_runs(facts: Facts) -> Found:
    """Enough runs of the fixed version, all ended, all holding, all with one observation."""
    current(facts)
    fixed, needed = facts.fixed, facts.snapshot.repeated_runs
    if fixed is None:
        return unsatisfied("The fixed version is not recorded.", "Record it.", _details())
    runs = _standing(facts.runs_of(fixed))
    waiting = [run for run in runs if run.state not in ENDED]
    if waiting:
        return unsatisfied(f"{len(waiting)} of {len(runs)} runs have not ended.", _WAIT, *_runs(waiting))
    lost = [run for run in runs if run.state == RunState.QUARANTINED]
    if lost:
        return unsatisfied(
            f"Run {lost[0].number} gave no result, and no run may be left out.",
            "Void its set and ask again.",
            *_runs(lost),
        )
    read = [run for run in runs if not why_unread(run)]
    unread = f" {len(runs) - len(read)} more said nothing and do not count." if len(read) < len(runs) else ""
    if len({run.observation_hash for run in read}) > 1:
        return unsatisfied(f"The {len(read)} runs differ in what they did.{unread}", "Look at them.", *_runs(read))
    broken = [run for run in read if run.boundary_passed is not True]
    if broken:
        return unsatisfied(f"{len(broken)} of {len(read)} runs did not hold.{unread}", "Look at them.", *_runs(broken))
    if len(read) < needed:
        return unsatisfied(
            f"{len(read)} of {needed} runs of {fixed}.{unread}", f"Ask for {needed - len(read)} more.", *_runs(read)
        )
    return satisfied(f"{len(read)} runs of {fixed} with one observation.{unread}{_left_out(facts)}", *_runs(read))


def history(facts: Facts) -> Found:
    """This revision stands in nonblocking, and enough of its runs there count and held."""
    stay, fixed = facts.snapshot.nonblocking, facts.fixed
    if stay is None or stay.revision != current(facts).pk:
        return unsatisfied("This revision does not stand in nonblocking.", "Promote it to nonblocking first.")
    if fixed is None:
        return unsatisfied("The fixed version is not recorded.", "Record it.", _details())
    runs = [run for run in facts.runs_of(fixed) if run.run_set.lane_entry_id == stay.entry]
    found = history_of(runs, fixed=fixed, needed=facts.snapshot.minimum_history)
    told = f"{found.counted} of {found.needed} runs counted since {stay.since:%Y-%m-%d}"
    more = f", {len(found.uncounted)} more did not count" if found.uncounted else ""
    if found.broken:
        return unsatisfied(
            f"{told}{more}; {len(found.broken)} of them did not hold.", "Look at them.", *_runs(found.broken)
        )
    if found.missing:
        waits = f" {found.outstanding} are on their way." if found.outstanding else ""
        remedy = f"Wait for {found.missing} daily runs, or ask for them now.{waits}"
        return unsatisfied(f"{told}{more}.", remedy, *_runs(found.counting))
    return satisfied(f"{told}{more}.{_left_out(facts)}", *_runs(found.counting))


# --- what they are made of ------------------------------------------------------------------------------------------


def _pair(facts: Facts) -> list[Comparison]:
    """The comparisons of affected with fixed, with controls, newest first."""
    current(facts)
    affected = facts.affected
    return [one for one in _with_controls(facts) if affected and one.old and one.old.digest == affected.digest]


def _not_computed(asked: Sequence[Comparison], none: str, remedy: str) -> Found:
    if asked:
        return unsatisfied(f"Comparison {asked[0].number} waits for replays.", _WAIT, _comparison(asked[0]))
    return unsatisfied(none, remedy)


def _left_out(facts: Facts) -> str:
    """What was voided of the fixed version here, said beside what counts: a lucky run is not picked unseen."""
    fixed = facts.fixed
    return without_voided(one for one in facts.voided if fixed and one.implementation.digest == fixed.digest)


def _standing(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.run_set.voided_at is None]


def _computed(newest_first: Sequence[Comparison]) -> Comparison | None:
    """The newest one whose verdict stands."""
    return next((one for one in newest_first if one.computed_at is not None), None)


def _names(found: Sequence[Control]) -> str:
    return listed([one.name for one in found])


def _words(text: str) -> str:
    return text.replace("_", " ")


def _details() -> Evidence:
    return Evidence(kind="details", label="Links and versions")


def _controls_place() -> Evidence:
    return Evidence(kind="control", label="controls")


def _comparison(found: Comparison) -> Evidence:
    return Evidence(kind="comparison", label=f"comparison {found.number}", number=found.number)


def _runs(found: Sequence[Run]) -> list[Evidence]:
    """The last of them, as an entrance to the others."""
    return [Evidence(kind="run", label=f"run {found[-1].number}", number=found[-1].number)] if found else []
