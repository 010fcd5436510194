"""What a recording holds, boundary by boundary, what it lacks, what each gap costs, and how far it can be replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from replaycases.importers.findings import Gap
from replaycases.importers.neutral import Boundary, ModelStep, NeutralRun, Note, Step, boundary_of
from replaycases.importers.run_record import lacking

State = Literal["recorded", "partly", "absent"]
Mode = Literal["replay", "prefix", "forensic"]
FORENSIC = "Nothing that could be replayed crosses a model or a tool: it can be read only."
_COSTS: dict[Boundary, str] = {
    "model": "what the model was asked and said is unknown: nothing that it decided can be replayed",
    "tool": "what tools were asked and answered is unknown: no side effect can be checked",
    "retrieval": "what an answer was grounded on is unknown",
    "clock": "a workflow that reads the clock may decide otherwise",
    "random": "a workflow that draws random values may decide otherwise",
    "human": "what people were asked and decided is unknown",
}


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """One boundary. `recorded` steps of it are whole, `lacking` are not; `cost` is "" where nothing is lost.

    A boundary of which the format can tell, and which the run never crossed, is absent and costs nothing.
    """

    boundary: Boundary
    state: State
    recorded: int
    lacking: int
    cost: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """The completeness report of one run. `mode`: replay of all of it, of a prefix of `replayable` steps, or forensic
    reading only; `why` says it in one sentence. `record` are the gaps of the run record, which cap nothing."""

    format: str
    coverage: tuple[Coverage, ...]
    gaps: tuple[Gap, ...]
    record: tuple[Gap, ...]
    notes: tuple[Note, ...]
    mode: Mode
    replayable: int
    why: str


def report_of(
    run: NeutralRun, gaps: tuple[Gap, ...], *, leave_out: Collection[int] = (), stated: Iterable[str] = ()
) -> Report:
    """`leave_out` are the numbers (from 1) of steps that a person left out: what they lack ends no replay. `stated` are
    the parts of the run record that a person stated."""
    mode, replayable, why = _mode(run, leave_out)
    return Report(
        format=run.format,
        coverage=tuple(_coverage(run, boundary) for boundary in get_args(Boundary)),
        gaps=gaps,
        record=lacking((*run.record, *stated)),
        notes=run.notes,
        mode=mode,
        replayable=replayable,
        why=why,
    )


def replayable_steps(run: NeutralRun, leave_out: Collection[int] = ()) -> int:
    """How many steps from the first on can be replayed: what comes after the first that lacks its answer, or its
    request, cannot, since nobody knows what the workflow was told or asked there. Steps that are left out by their
    number end nothing; they count, and hold nothing."""
    out = frozenset(leave_out)
    lacking = (at for at, step in enumerate(run.steps) if not is_whole(step) and at + 1 not in out)
    return next(lacking, len(run.steps))


def replays_something(steps: Iterable[Step]) -> bool:
    """Whether these steps, of which each has its answer, are more than can be read."""
    return any(boundary_of(step) in ("model", "tool") for step in steps)


def is_whole(step: Step) -> bool:
    """Whether the file holds all of what was asked and of what came back."""
    return step.answered and not (isinstance(step, ModelStep) and (step.partial or not step.request))


def ends_open(run: NeutralRun, *, last: int) -> bool:
    """Whether after step number `last` one stands of which nobody knows how it ended."""
    return not all(map(is_whole, run.steps[last:]))


def _coverage(run: NeutralRun, boundary: Boundary) -> Coverage:
    counted = Counter(is_whole(step) for step in run.steps if boundary_of(step) == boundary)
    noted = tuple(dict.fromkeys(note.cost for note in run.notes if note.boundary == boundary and note.cost))
    absent = boundary in run.absent
    partly = counted[False] or noted or (absent and counted[True])
    crossed = bool(counted)
    state: State = "partly" if partly else "recorded" if crossed and not absent else "absent"
    # What is there is not said to be unknown: where notes tell what is lost, they are the cost.
    free = state == "recorded" or not (crossed or absent)
    cost = "; ".join(noted) if noted and not absent else "" if free else _COSTS[boundary]
    return Coverage(boundary=boundary, state=state, recorded=counted[True], lacking=counted[False], cost=cost)


def _mode(run: NeutralRun, leave_out: Collection[int]) -> tuple[Mode, int, str]:
    reach = replayable_steps(run, leave_out)
    out = {number for number in leave_out if 0 < number <= reach}
    kept = [step for number, step in enumerate(run.steps[:reach], 1) if number not in out]
    if not replays_something(kept):
        return "forensic", 0, FORENSIC
    if reach < len(run.steps):
        place = f"Step {reach + 1} of {len(run.steps)} {_lacking(run.steps[reach])}"
        return "prefix", len(kept), f"{place}: only what comes before it can be replayed."
    if run.cut:
        return "prefix", len(kept), f"The recording breaks off: {run.cut}."
    if ends_open(run, last=max(number for number in range(1, reach + 1) if number not in out)):
        return "prefix", len(kept), "What was recorded after the last step that is left has no answer."
    if out:
        return "replay", len(kept), f"{len(out)} of {reach} recorded steps are left out; the others have their answers."
    return "replay", reach, f"All {reach} recorded steps have their answers."


def _lacking(step: Step) -> str:
    """What keeps a step that is not whole from being replayed."""
    if not step.answered:
        return "has no recorded answer"
    return "was recorded in part" if isinstance(step, ModelStep) and step.request else "has no recorded request"
