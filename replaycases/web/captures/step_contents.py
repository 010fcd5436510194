"""What was asked and answered in one step: raw evidence, for who said why they need to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from replaycases.importers.neutral import (
    ClockStep,
    HumanStep,
    ModelStep,
    NeutralRun,
    RandomStep,
    RetrievalStep,
    Step,
    ToolStep,
)
from replaycases.web import words


@dataclass(frozen=True, kw_only=True)
class Content:
    """One part of a step. `hole` says in words why there is nothing."""

    name: str
    text: words.Shown | None = None
    hole: str = ""


def contents_of(run: NeutralRun, number: int) -> tuple[Content, ...]:
    """Of the step with this number, () for one that there is not. Long texts are cut, with their size."""
    return tuple(_contents(run.steps[number - 1])) if 1 <= number <= len(run.steps) else ()


def _contents(step: Step) -> Iterator[Content]:
    match step:
        case ModelStep():
            if step.request:
                yield _content("request", step.request)
            else:
                yield Content(name="request", hole="not recorded")
            yield _answer("response", step.response, step)
        case ToolStep():
            yield _content("arguments", step.arguments)
            yield _content("error", step.error) if step.error else _answer("answer", step.value, step)
        case RetrievalStep():
            yield _content("query", step.query)
            yield _answer("chunks", step.chunks, step)
        case HumanStep():
            yield _content("question", step.question)
            yield _answer("decision", step.decision, step)
        case ClockStep():
            yield _answer("now", step.now, step)
        case RandomStep():
            yield _answer("value", step.value, step)


def _answer(name: str, value: Any, step: Step) -> Content:
    return _content(name, value) if step.answered else Content(name=name, hole="not recorded")


def _content(name: str, value: Any) -> Content:
    return Content(name=name, text=words.whole(value if isinstance(value, str) else words.as_text(value)))
