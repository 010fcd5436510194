"""What all model calls of a run have in common of who answered them and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.neutral import ModelStep, Step
from replaycases.importers.otlp.site import Notes

JSON = Any
_NAMES = ("provider", "requested_model", "returned_model", "api_version")


def agreed_serving(steps: Sequence[Step], notes: Notes) -> dict[str, JSON] | None:
    """The parts in which all calls that state them agree; a setting that a call does not have differs. None where no
    call states anything."""
    stated = [(step.source, step.serving) for step in steps if isinstance(step, ModelStep) and step.serving]
    if not stated:
        return None
    agreed: dict[str, JSON] = {}
    for name in _NAMES:
        said = [(source, serving[name]) for source, serving in stated if name in serving]
        if said and _alike(name, said, notes):
            agreed[name] = said[0][1]
    settings = [(source, serving.get("settings") or {}) for source, serving in stated]
    same: dict[str, JSON] = {}
    for name in dict.fromkeys(key for _, held in settings for key in held):
        values = [(source, held.get(name, ABSENT)) for source, held in settings]
        if _alike(f"settings/{name}", values, notes):
            same[name] = values[0][1]
    return {**agreed, "settings": same} if any("settings" in serving for _, serving in stated) else agreed


def _alike(name: str, said: Sequence[tuple[str, JSON]], notes: Notes) -> bool:
    other = next((source for source, value in said if value != said[0][1]), None)
    if other is not None:
        part = name if name in _NAMES else "settings"
        text = f"model calls of this run differ in serving ({part}): what differs is not taken over"
        notes.add("left_out", other, text, boundary="model")
    return other is None
