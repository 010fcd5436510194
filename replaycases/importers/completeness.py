"""What a recording holds, boundary by boundary, what it lacks, what each gap costs, and how far it can be replayed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

from replaycases.importers.findings import Gap
from replaycases.importers.neutral import Boundary, NeutralRun, Note, boundary_of

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
    """How many steps from the first on have their answers: what comes after the first that has none cannot be replayed,
    since nobody knows what the workflow was told there."""
    return next((at for at, step in enumerate(run.steps) if not step.answered), len(run.steps))


def _coverage(run: NeutralRun, boundary: Boundary) -> Coverage:
    counted = Counter(step.answered for step in run.steps if boundary_of(step) == boundary)
    noted = any(note.boundary == boundary and note.cost for note in run.notes)
    partly = counted[False] or noted or (boundary in run.absent and counted[True])
    state: State = "partly" if partly else "absent" if boundary in run.absent else "recorded"
    cost = "" if state == "recorded" else _COSTS[boundary]
    return Coverage(boundary=boundary, state=state, recorded=counted[True], lacking=counted[False], cost=cost)


def _mode(run: NeutralRun) -> tuple[Mode, int, str]:
    whole = replayable_steps(run)
    crossed = sum(boundary_of(step) in ("model", "tool") for step in run.steps[:whole])
    if not crossed:
        return "forensic", 0, "No model or tool call has both its request and its answer: it can be read, not replayed."
    if whole < len(run.steps):
        said = (
            f"Step {whole + 1} of {len(run.steps)} has no recorded answer: only what comes before it can be replayed."
        )
        return "prefix", whole, said
    if run.cut:
        return "prefix", whole, f"The recording breaks off: {run.cut}."
    return "replay", whole, f"All {whole} recorded steps have their answers."
