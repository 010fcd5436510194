"""What was asked and answered in one step: raw evidence, for who said why they need to read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from replaycases.importers.model_answers import answer_of
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
from replaycases.importers.outline import says_error
from replaycases.web import words

# Characters of a step that stand in its row.
EXCERPT = 140
NOT_RECORDED = "not recorded"
Part = tuple[str, str | None]
"""The name of a part of a step and its text; None where it was not recorded."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """One part of a step. `hole` says in words why there is nothing."""

    name: str
    text: words.Shown | None = None
    hole: str = ""


def contents_of(run: NeutralRun, number: int) -> tuple[Content, ...]:
    """Of the step with this number, () for one that there is not. Long texts are cut, with their size."""
    return tuple(
        Content(name=name, hole=NOT_RECORDED) if text is None else Content(name=name, text=words.whole(text))
        for name, text in _parts_of(run, number)
    )


def text_of(run: NeutralRun, number: int) -> str:
    """The same as one text, nothing cut; "" for a step that there is not."""
    return "\n".join(
        f"== {name}\n{f'({NOT_RECORDED})' if text is None else text}\n" for name, text in _parts_of(run, number)
    )


def _parts_of(run: NeutralRun, number: int) -> Iterator[Part]:
    return _parts(run.steps[number - 1]) if 1 <= number <= len(run.steps) else iter(())


def _parts(step: Step) -> Iterator[Part]:
    match step:
        case ModelStep():
            yield _part("request", step.request) if step.request else ("request", None)
            yield _answer("response", step.response, step)
        case ToolStep():
            yield _part("arguments", step.arguments)
            yield _part("error", step.error) if step.error else _answer("answer", step.value, step)
        case RetrievalStep():
            yield _part("query", step.query)
            yield _answer("chunks", step.chunks, step)
        case HumanStep():
            yield _part("question", step.question)
            yield _answer("decision", step.decision, step)
        case ClockStep():
            yield _answer("now", step.now, step)
        case RandomStep():
            yield _answer("value", step.value, step)


def excerpts_of(run: NeutralRun, numbers: Iterable[int]) -> dict[int, str]:
    """The first words of each of these steps, on one line: what a tool was called with, what a model said."""
    return {number: " → ".join(map(_one_line, _first_words(run.steps[number - 1]))) for number in numbers}


def _first_words(step: Step) -> Iterator[str]:
    match step:
        case ModelStep():
            yield _said(step)
        case ToolStep():
            yield _compact(step.arguments)
            if step.error or says_error(step.value):
                yield step.error["message"] if step.error else _compact(step.value)
        case RetrievalStep():
            yield _compact(step.query)
        case HumanStep():
            yield _compact(step.decision if step.answered else step.question)
        case ClockStep():
            yield step.now
        case RandomStep():
            yield _compact(step.value)


def _said(step: ModelStep) -> str:
    """What the model answered in words, else which calls it asked for, else its answer as it stands."""
    if not step.answered:
        return ""
    answer = answer_of(step.response, step.source)
    if isinstance(answer.said, str) and answer.said.strip():
        return answer.said
    asked = [call.tool for choice in answer.choices for call in choice]
    return f"asks for {', '.join(asked)}" if asked else _compact(step.response)


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    words = " ".join(text[: 4 * EXCERPT].split())
    return words if len(words) <= EXCERPT and len(text) <= 4 * EXCERPT else f"{words[:EXCERPT]}…"


def _answer(name: str, value: Any, step: Step) -> Part:
    return _part(name, value) if step.answered else (name, None)


def _part(name: str, value: Any) -> Part:
    return name, value if isinstance(value, str) else words.as_text(value)
