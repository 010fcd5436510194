"""The last look before a run leaves an importer: does an answer of the model hold a call that is no step?

Importers read calls where their format has them. What merely looks like one, a damaged or a new kind of it, would
otherwise go by unseen.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from replaycases.importers.exchanges import AGENT_AS_TOOL
from replaycases.importers.neutral import ModelStep, NeutralRun, Note, ToolStep
from replaycases.importers.turns import PROVIDER_RUN, arguments_of

JSON = Any
_ARGUMENTS = ("arguments", "args", "input")
_TOLD = ("call_without_result", "branch", "content_lost")
_NAMES = ("name", "function", "toolName", "id", "call_id", "toolCallId")


def with_lost_calls(run: NeutralRun, *, witnessed: bool = False) -> NeutralRun:
    """The run, with a note at each answer that holds what looks like a call and is no step after it. `witnessed`: the
    recorder saw what was called, so that such a call was not made, or past it."""
    said = _not_called if witnessed else _unread
    agents = sum(note.text == AGENT_AS_TOOL for note in run.notes)
    known = _known(run)
    lost = []
    for step, made in _answers(run):
        unread = _held(step.response) - made
        if len(unread) <= _inside(known, step.source):
            continue
        agents -= len(unread)
        lost += [said(step)] if unread and agents < 0 else []
    return replace(run, notes=(*run.notes, *lost)) if lost else run


def _known(run: NeutralRun) -> list[str]:
    """Pointers to calls that are no steps and have a note of their own, in order."""
    made = {step.source for step in run.steps if isinstance(step, ToolStep)}
    return sorted({note.source for note in run.notes if note.kind in _TOLD and note.boundary == "tool"} - made)


def _inside(pointers: list[str], source: str) -> int:
    return bisect_left(pointers, f"{source}0") - bisect_left(pointers, f"{source}/")


def _answers(run: NeutralRun) -> Iterator[tuple[ModelStep, set[str]]]:
    """Each answer of the model with what tools were called with between it and the next."""
    answer, made = None, set[str]()
    for step in run.steps:
        if isinstance(step, ModelStep):
            if answer is not None:
                yield answer, made
            answer, made = step, set()
        elif isinstance(step, ToolStep):
            made |= {_key(None, step.arguments), _key(step.tool, step.arguments)}
    if answer is not None:
        yield answer, made


def _held(response: JSON) -> set[str]:
    return {_key(tool, arguments) for tool, arguments in _calls(response)}


def _calls(value: JSON) -> Iterator[tuple[str | None, JSON]]:
    """(tool, arguments) of what stands where a call has them, wherever in the answer; the tool is None where no text
    names it. What a provider ran itself is none."""
    if isinstance(value, list):
        for item in value:
            yield from _calls(item)
    elif isinstance(value, dict) and not _is_provider_run(value):
        given = next((value[key] for key in _ARGUMENTS if isinstance(value.get(key), dict | list | str)), None)
        if given is not None and any(name in value for name in _NAMES):
            named = (value.get(key) for key in ("name", "function", "toolName"))
            tool = next((name for name in named if isinstance(name, str)), None)
            yield tool, given if value.get("type") == "custom_tool_call" else arguments_of(given)
        else:
            for item in value.values():
                yield from _calls(item)


def _is_provider_run(value: dict[str, JSON]) -> bool:
    kind = str(value.get("type"))
    return kind in PROVIDER_RUN or kind.startswith("mcp_") or kind.endswith("_tool_result")


def _key(tool: str | None, arguments: JSON) -> str:
    return json.dumps([tool, arguments], sort_keys=True, default=str)


def _unread(step: ModelStep) -> Note:
    text = "this answer holds what looks like a call of a tool and is no step of the run"
    cost = "what was asked for here is not known for sure"
    return Note(kind="content_lost", source=step.source, text=text, cost=cost, boundary="tool")


def _not_called(step: ModelStep) -> Note:
    text = "the model asked for a tool here, and the workflow did not call it so through the recorder"
    return Note(kind="left_out", source=step.source, text=text, boundary="tool")
