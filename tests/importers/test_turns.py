from __future__ import annotations

from typing import Any

import pytest

from replaycases.importers.turns import arguments_of, provider_run, turn_of, turns_of

JSON = Any
LOOK = ("look", {"n": 1}, "c1")
CALLS: list[JSON] = [
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"n": 1}'}}]},
    {"role": "assistant", "tool_calls": [{"id": "c1", "name": "look", "arguments": {"n": 1}}]},
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": "look", "args": {"n": 1}}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"n": 1}}]},
    {"role": "assistant", "content": [
        {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"n": 1}}]},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"n": 1}'},
    {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {"n": 1}}]},
    {"type": "ai", "content": "", "invalid_tool_calls": [{"id": "c1", "name": "look", "args": '{"n": 1}'}]},
    {"role": "assistant", "content": "", "additional_kwargs": {
        "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"n": 1}'}}]}},
    {"lc": 1, "type": "constructor", "id": ["x", "AIMessageChunk"], "kwargs": {
        "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}],
        "tool_calls": [{"id": "c1", "name": "look", "args": {"n": 1}}]}},
]  # fmt: skip
ANSWERS: list[JSON] = [
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "one"}]},
    {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "one"}]},
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "output": "one"}]},
    {"type": "function_call_output", "call_id": "c1", "output": "one"},
    {"type": "tool", "tool_call_id": "c1", "content": "one", "id": "message-1"},
    {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": {"tool_call_id": "c1", "content": "one"}},
]


@pytest.mark.parametrize("message", CALLS)
def test_a_call_is_read_in_every_dialect(message: JSON) -> None:
    turn = turn_of(message, "/m")
    assert (turn.role, turn.unread) == ("assistant", ())
    assert [(call.tool, call.arguments, call.call_id) for call in turn.calls] == [LOOK]


@pytest.mark.parametrize("message", ANSWERS)
def test_an_answer_is_read_in_every_dialect(message: JSON) -> None:
    assert [(answer.value, answer.call_id) for answer in turn_of(message, "/m").answers] == [("one", "c1")]


@pytest.mark.parametrize("failed", [
    {"role": "tool", "content": "no", "status": "error"}, {"role": "tool", "content": "no", "error": True},
    {"content": [{"type": "tool_result", "content": [{"type": "text", "text": "no"}], "is_error": True}]},
])  # fmt: skip
def test_a_failure_is_one_where_the_dialect_marks_it(failed: JSON) -> None:
    assert turn_of(failed, "").answers[0].error == {"kind": "error", "message": "no"}


@pytest.mark.parametrize("message", [
    "hi", {"role": "user", "content": "hi"}, {"type": "human", "content": "hi"}, ["user", "hi"],
    {"type": "human", "data": {"content": "hi"}},
    {"role": "user", "parts": [{"type": "text", "content": "hi"}]},
])  # fmt: skip
def test_words_of_a_person_are_read_in_every_dialect(message: JSON) -> None:
    assert [(turn.role, turn.content) for turn in turns_of([message], "")] == [("user", "hi")]


@pytest.mark.parametrize("content", [
    "hi\n\nyou", [{"type": "text", "text": "hi"}, {"type": "text", "text": "you"}], [{"text": "hi"}, {"text": "you"}],
])  # fmt: skip
def test_several_texts_of_one_message_are_what_was_said(content: JSON) -> None:
    assert turn_of({"role": "system", "content": content}, "").content == "hi\n\nyou"


@pytest.mark.parametrize("content", [[], [{"type": "image_url"}, {"type": "text", "text": "hi"}], [{"text": 1}], None])
def test_a_content_that_is_more_than_texts_stays_as_it_is(content: JSON) -> None:
    assert turn_of({"role": "user", "content": content}, "").content == content


@pytest.mark.parametrize(("item", "tool", "arguments"), [
    ({"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}, "shell", {"commands": ["ls"]}),
    ({"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "{}"}, "sql", "{}"),
    ({"role": "assistant", "tool_calls": [{"id": "c1", "custom": {"name": "sql", "input": "{}"}}]}, "sql", "{}"),
])  # fmt: skip
def test_calls_that_are_made_with_an_action_or_a_text_keep_it(item: JSON, tool: str, arguments: JSON) -> None:
    (call,) = turn_of(item, "/m").calls
    assert (call.tool, call.arguments, call.call_id) == (tool, arguments, "c1")


def test_a_call_and_an_answer_of_which_only_the_frame_was_recorded_hold_nothing() -> None:
    asked = turn_of({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look"}}]}, "/m")
    told = turn_of({"role": "tool", "tool_call_id": "c1"}, "/m")
    assert (asked.calls[0].arguments, told.answers[0].answered) == (None, False)


def test_items_of_one_response_are_one_turn_wherever_the_call_stands_among_them() -> None:
    call, said = CALLS[6], {"role": "assistant", "content": "so"}
    for items in ([call, said], [call, {"type": "message", **said}], [{"type": "reasoning"}, call, said]):
        (turn,) = turns_of(items, "")
        assert ([found.tool for found in turn.calls], turn.content) == (["look"], "so")


@pytest.mark.parametrize("message", [{"role": "assistant", "content": "a"}, ["assistant", "a"], CALLS[7], CALLS[10]])
def test_two_messages_of_a_chat_are_two_turns(message: JSON) -> None:
    assert len(turns_of([message, message], "")) == 2


@pytest.mark.parametrize(("raw", "read"), [
    ("", {}), (None, {}), ('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), ("[1]", "[1]"), ("{", "{"), ("NaN", "NaN"),
    (3, 3),
])  # fmt: skip
def test_arguments_are_the_object_in_a_text_and_else_what_they_were(raw: JSON, read: JSON) -> None:
    assert arguments_of(raw) == read


def test_what_the_provider_ran_is_no_call_of_the_workflow() -> None:
    message = {"role": "assistant", "content": [{"type": "server_tool_use", "name": "search", "input": {}}]}
    assert turn_of(message, "/m").calls == ()
    assert provider_run(message, "/m") == ["/m/content/0"]


@pytest.mark.parametrize("message", [None, 1, [], [1, 2, 3], {}, {"role": []}, {"type": {}}, {"content": [1, None, {}]},
                                     {"tool_calls": "x"}, {"role": "tool", "parts": {}}])  # fmt: skip
def test_anything_else_is_a_turn_without_calls(message: JSON) -> None:
    turn = turn_of(message, "/m")
    assert turn.calls == ()
