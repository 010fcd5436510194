"""What the model calls of one run have in common, and what no call says, for a format that says it of each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replaycases.importers.filling import names_tools
from replaycases.importers.neutral import ModelStep, Note, Part, RetrievalStep, Step

JSON = Any
_PARTS = ("provider", "requested_model", "returned_model", "api_version", "settings")


def serving_of(steps: Sequence[ModelStep]) -> tuple[dict[str, JSON] | None, list[Note]]:
    """The parts of `serving` that are the same in every call that has one, and a note at the first call that
    differs; None where no call has any. The returned model is asked only of calls that name one: a failed call has
    none."""
    known = [step for step in steps if step.serving]
    agreed: dict[str, JSON] = {}
    differing: list[str] = []
    odd: list[ModelStep] = []
    for part in _PARTS:
        told = [step for step in known if part != "returned_model" or _part(step, part) is not None]
        others = [step for step in told if _part(step, part) != _part(told[0], part)]
        if others:
            differing.append(part.replace("_", " "))
            odd.append(others[0])
        elif told and _part(told[0], part) is not None:
            agreed[part] = _part(told[0], part)
    if not odd:
        return agreed or None, []
    first = min(odd, key=known.index)
    text = f"model calls differ in {', '.join(differing)}: only what they have in common is kept for the run"
    cost = "which call was served how stands in the file only"
    return agreed, [Note(kind="content_lost", source=first.source, text=text, cost=cost, boundary="model")]


def tools_of(steps: Sequence[ModelStep]) -> list[JSON] | None:
    """The tool catalogue, where every call whose request is known was offered the same."""
    offered = [step.request.get("tools") for step in steps if step.request]
    first = offered[0] if offered else None
    return first if isinstance(first, list) and all(tools is first or tools == first for tools in offered) else None


def absent_parts(
    steps: Sequence[Step], *, serving: JSON, system: str | None, identity: JSON = None
) -> tuple[Part, ...]:
    """What a trace of a tracing tool cannot tell, or does not. No such tool records the clock or random draws."""
    models = [step for step in steps if isinstance(step, ModelStep)]
    lacking: dict[Part, bool] = {
        "clock": True,
        "random": True,
        "retrieval": not any(isinstance(step, RetrievalStep) for step in steps),
        "serving": serving is None,
        "tools": not any(names_tools(step.request) for step in models),
        "system": system is None,
        "usage": not any(step.usage for step in models),
        "identity": identity is None,
    }
    return tuple(part for part, lacks in lacking.items() if lacks)


def _part(step: ModelStep, name: str) -> JSON:
    return (step.serving or {}).get(name)
