"""What a recording holds, boundary by boundary, what it lacks, what each gap costs, and how far it can be replayed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

from replaycases.importers.findings import Gap
from replaycases.importers.neutral import Boundary, ModelStep, NeutralRun, Note, Step, boundary_of

State = Literal["recorded", "partly", "absent"]
Mode = Literal["replay", "prefix", "forensic"]
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
    """One boundary. `recorded` steps of it are whole, `lacking` are not; `cost` is "" where it is recorded.

    A boundary of which the format can tell, and which the run never crossed, is recorded with none.
    """

    boundary: Boundary
    state: State
    recorded: int
    lacking: int
    cost: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """The completeness report of one run. `mode`: replay of all of it, of a prefix of `replayable` steps, or forensic
    reading only; `why` says it in one sentence."""

    format: str
    coverage: tuple[Coverage, ...]
    gaps: tuple[Gap, ...]
    notes: tuple[Note, ...]
    mode: Mode
    replayable: int
    why: str


def report_of(run: NeutralRun, gaps: tuple[Gap, ...]) -> Report:
    mode, replayable, why = _mode(run)
    return Report(
        format=run.format,
        coverage=tuple(_coverage(run, boundary) for boundary in get_args(Boundary)),
        gaps=gaps,
        notes=run.notes,
        mode=mode,
        replayable=replayable,
        why=why,
    )


def replayable_steps(run: NeutralRun) -> int:
    """How many steps from the first on are whole: what comes after the first that lacks its answer, or its request,
    cannot be replayed, since nobody knows what the workflow was told or asked there."""
    return next((at for at, step in enumerate(run.steps) if not _is_whole(step)), len(run.steps))


def _is_whole(step: Step) -> bool:
    return step.answered and not (isinstance(step, ModelStep) and not step.request)


def _coverage(run: NeutralRun, boundary: Boundary) -> Coverage:
    counted = Counter(_is_whole(step) for step in run.steps if boundary_of(step) == boundary)
    noted = tuple(dict.fromkeys(note.cost for note in run.notes if note.boundary == boundary and note.cost))
    absent = boundary in run.absent
    partly = counted[False] or noted or (absent and counted[True])
    state: State = "partly" if partly else "absent" if absent else "recorded"
    # What is there is not said to be unknown: where notes tell what is lost, they are the cost.
    cost = "; ".join(noted) if noted and not absent else "" if state == "recorded" else _COSTS[boundary]
    return Coverage(boundary=boundary, state=state, recorded=counted[True], lacking=counted[False], cost=cost)


def _mode(run: NeutralRun) -> tuple[Mode, int, str]:
    whole = replayable_steps(run)
    crossed = sum(boundary_of(step) in ("model", "tool") for step in run.steps[:whole])
    if not crossed:
        return "forensic", 0, "Nothing that could be replayed crosses a model or a tool: it can be read only."
    if whole < len(run.steps):
        lacking = "request" if run.steps[whole].answered else "answer"
        place = f"Step {whole + 1} of {len(run.steps)}"
        return "prefix", whole, f"{place} has no recorded {lacking}: only what comes before it can be replayed."
    if run.cut:
        return "prefix", whole, f"The recording breaks off: {run.cut}."
    return "replay", whole, f"All {whole} recorded steps have their answers."
