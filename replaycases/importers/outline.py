"""A run without its content: which boundary each step crossed, how it ended and how long it took."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from replaycases.fixture.model_request import CATALOGUE_KEYS, tool_names
from replaycases.importers.completeness import is_whole
from replaycases.importers.neutral import (
    Boundary,
    ModelStep,
    NeutralRun,
    RandomStep,
    Step,
    ToolStep,
    boundary_of,
)

JSON = Any
Ending = Literal["answered", "failed", "error text", "no answer"]
"""How a step ended. "error text": the format marks no failure, and what came back says that it is one."""

_SAYS_ERROR = re.compile(
    r"\s*\W{0,3}(?:an\s+)?\w{0,40}(?:error|exception)(?:\s*[:(\[-]|\s+occurred|\s*$)|\s*traceback \(most recent",
    re.IGNORECASE,
)
_ERROR_KEYS = ("error", "is_error", "isError")
_ERROR_JSON = re.compile(r"""\s*\{\s*"(?:error|is_error|isError)"\s*:(?!\s*(?:null|false|""|\{\s*\}|\[\s*\]))""")


@dataclass(frozen=True, kw_only=True)
class StepLine:
    """One step. `number` counts from 1; `name` is the tool's or the draw's, "" for others; `seconds` is None where the
    file does not hold both times. Steps with the same `group` were asked for together. A step that is not `whole` lacks
    its answer or its request: a draft that keeps it ends before it."""

    number: int
    boundary: Boundary
    name: str
    ending: Ending
    source: str
    started_at: datetime | None
    seconds: float | None
    group: int | None
    whole: bool


def outline_of(run: NeutralRun) -> tuple[StepLine, ...]:
    failed = sorted({note.source for note in run.notes if note.kind == "failed_call"})
    return tuple(_line(number, step, failed=_is_within(step, failed)) for number, step in enumerate(run.steps, 1))


def _is_within(step: Step, failed: Sequence[str]) -> bool:
    """Whether one of these places, in their order, is the step's or a part of it: a failure is noted at its answer."""
    inside = f"{step.source}/"
    at, below = bisect_left(failed, step.source), bisect_left(failed, inside)
    return failed[at : at + 1] == [step.source] or any(place.startswith(inside) for place in failed[below : below + 1])


def reach(lines: Sequence[StepLine], leave_out: Collection[int]) -> int:
    """How many of the steps a draft can go through that leaves these out: it ends before the first one that lacks its
    answer or its request."""
    lacking = (line.number - 1 for line in lines if not line.whole and line.number not in leave_out)
    return next(lacking, len(lines))


def called_tools(run: NeutralRun) -> tuple[str, ...]:
    """The tools that the run calls, each once, in the order of their first call."""
    return tuple(dict.fromkeys(step.tool for step in run.steps if isinstance(step, ToolStep)))


def offered_tools(run: NeutralRun) -> tuple[str, ...]:
    """The names of the tools that the model was offered, in the order of the catalogue."""
    requests = (step.request for step in run.steps if isinstance(step, ModelStep))
    catalogues = [run.tools, *(request.get(key) for request in requests for key in CATALOGUE_KEYS)]
    names: dict[str, None] = {}
    last: JSON = None
    for catalogue in catalogues:
        if catalogue is not None and catalogue != last:
            names |= dict.fromkeys(tool_names(catalogue))
            last = catalogue
    return tuple(names)


def _line(number: int, step: Step, *, failed: bool) -> StepLine:
    begun, ended = _instant(step.started_at), _instant(step.ended_at)
    return StepLine(
        number=number,
        boundary=boundary_of(step),
        name=_name(step),
        ending=_ending(step, failed),
        source=step.source,
        started_at=begun,
        seconds=(ended - begun).total_seconds() if begun and ended else None,
        group=step.group if isinstance(step, ToolStep) else None,
        whole=is_whole(step),
    )


def _name(step: Step) -> str:
    if isinstance(step, ToolStep):
        return step.tool
    return step.name if isinstance(step, RandomStep) else ""


def _ending(step: Step, failed: bool) -> Ending:
    if not step.answered:
        return "no answer"
    is_failure = isinstance(step, ToolStep) and step.error is not None
    if is_failure or (failed and isinstance(step, ModelStep)):
        return "failed"
    return "error text" if isinstance(step, ToolStep) and says_error(step.value) else "answered"


def says_error(value: JSON) -> bool:
    """Whether a tool's answer calls itself an error, in its first words or by its own key."""
    if isinstance(value, Mapping):
        return any(value.get(key) for key in _ERROR_KEYS)
    return isinstance(value, str) and bool(_SAYS_ERROR.match(value) or _ERROR_JSON.match(value))


def _instant(text: str | None) -> datetime | None:
    """None for what is no instant with an offset: a duration needs both on one clock."""
    try:
        at = datetime.fromisoformat(cast("str", text))
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo is not None else None
