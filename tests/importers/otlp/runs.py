"""Reading made-up exports, and what is asserted of a run."""

from __future__ import annotations

from typing import Any

from replaycases.importers.neutral import ModelStep, NeutralRun, RetrievalStep, ToolStep
from replaycases.importers.registry import open_recording


def run_of(data: bytes, run: int | None = None) -> NeutralRun:
    found = open_recording(data)
    assert found.format.name == "otlp"
    return found.read(run)


def models(run: NeutralRun) -> list[ModelStep]:
    return [step for step in run.steps if isinstance(step, ModelStep)]


def tools(run: NeutralRun) -> list[ToolStep]:
    return [step for step in run.steps if isinstance(step, ToolStep)]


def retrievals(run: NeutralRun) -> list[RetrievalStep]:
    return [step for step in run.steps if isinstance(step, RetrievalStep)]


def kinds(run: NeutralRun) -> list[str]:
    return [note.kind for note in run.notes]


def calls_of(message: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
