from __future__ import annotations

from typing import Any

import pytest

from replaycases.importers.exchanges import AGENT_AS_TOOL
from replaycases.importers.lost_calls import with_lost_calls
from replaycases.importers.neutral import ModelStep, NeutralRun, Note, ToolStep

JSON = Any


def kinds(response: JSON, *calls: JSON, notes: tuple[Note, ...] = ()) -> list[str]:
    tools = tuple(ToolStep(source="/t", tool="look", arguments=arguments) for arguments in calls)
    steps = (ModelStep(source="/m", request={}, response=response), *tools)
    return [note.kind for note in with_lost_calls(NeutralRun(format="x", input={}, steps=steps, notes=notes)).notes]


CALL = {"type": "tool_use", "id": "c", "name": "look", "input": {"n": 1}}
TEXT = {"message": {"tool_calls": [{"id": "c", "function": {"name": "look", "arguments": '{"n": 1}'}}]}}


@pytest.mark.parametrize("response", [CALL, TEXT, [CALL, CALL], {"content": [CALL]}])
def test_a_call_that_is_a_step_leaves_no_note(response: JSON) -> None:
    assert kinds(response, {"n": 1}) == []


@pytest.mark.parametrize("response", [CALL, {**CALL, "type": ["tool_use"]}, {"content": [[CALL]]}, TEXT])
def test_what_looks_like_a_call_and_is_no_step_is_noted(response: JSON) -> None:
    assert kinds(response) == ["content_lost"]
    assert kinds(response, {"n": 2}) == ["content_lost"]


@pytest.mark.parametrize("response", [
    None, "text", {"content": "text"}, {"usage": {"input": 5, "id": 1}}, {"input": {"n": 1}},
    {"type": "server_tool_use", "name": "search", "input": {"q": 1}},
    {"type": "mcp_call", "name": "x", "arguments": "{}"},
])  # fmt: skip
def test_what_is_no_call_of_the_workflow_is_not_noted(response: JSON) -> None:
    assert kinds(response) == []


def test_two_tools_that_are_called_with_the_same_are_two_calls() -> None:
    assert kinds([CALL, {**CALL, "name": "seek"}], {"n": 1}) == ["content_lost"]


def test_a_step_after_the_next_answer_is_another_answers_call() -> None:
    steps = (
        ModelStep(source="/m", request={}, response=CALL),
        ModelStep(source="/n", request={}),
        ToolStep(source="/t", tool="look", arguments={"n": 1}),
    )
    notes = with_lost_calls(NeutralRun(format="x", input={}, steps=steps)).notes
    assert [note.source for note in notes] == ["/m"]


def test_an_agent_that_was_called_as_a_tool_is_known_already() -> None:
    known = Note(kind="left_out", source="/a", text=AGENT_AS_TOOL)
    assert kinds(CALL, notes=(known,)) == ["left_out"]
    assert kinds([CALL, {**CALL, "input": {"n": 2}}], notes=(known,)) == ["left_out", "content_lost"]


def test_a_call_that_has_a_note_of_its_own_is_known_already() -> None:
    known = Note(kind="branch", source="/m/choices/1", text="not followed", boundary="tool")
    assert kinds(CALL, notes=(known,)) == ["branch"]
    assert kinds([CALL, {**CALL, "input": {"n": 2}}], notes=(known,)) == ["branch", "content_lost"]
    elsewhere = Note(kind="branch", source="/m2/choices/1", text="not followed", boundary="tool")
    assert kinds(CALL, notes=(elsewhere,)) == ["branch", "content_lost"]
