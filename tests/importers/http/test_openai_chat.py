from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.importers.http import openai_chat
from tests.importers.http.streams import ARGUMENTS, WORDS, interleaved, pieces, stream

JSON = Any
HEAD = {"id": "c-1", "created": 1_700_000_000, "model": "m-1"}


def call(id: str, name: str, arguments: JSON) -> JSON:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def body(*messages: JSON) -> JSON:
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", **message},
            "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
        }
        for index, message in enumerate(messages)
    ]
    return {**HEAD, "object": "chat.completion", "choices": choices}


def chunk(index: int, delta: JSON, **more: JSON) -> JSON:
    return {**HEAD, "object": "chat.completion.chunk", "choices": [{"index": index, "delta": delta, **more}]}


@st.composite
def lane(draw: Any, index: int, message: JSON) -> list[JSON]:
    """A choice's message as chunks."""
    chunks = [chunk(index, {"role": "assistant"}, finish_reason=None)]
    for name in ("content", "refusal"):
        if isinstance(message.get(name), str):
            chunks += [chunk(index, {name: piece}) for piece in draw(pieces(message[name]))]
    for at, asked in enumerate(message.get("tool_calls", ())):
        first = {**asked, "index": at, "function": {**asked["function"], "arguments": ""}}
        chunks.append(chunk(index, {"tool_calls": [first]}))
        for piece in draw(pieces(asked["function"]["arguments"])):
            chunks.append(chunk(index, {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}))
    chunks.append(chunk(index, {}, finish_reason="tool_calls" if message.get("tool_calls") else "stop"))
    return chunks


MESSAGES = st.one_of(
    WORDS.map(lambda text: {"content": text}),
    WORDS.map(lambda text: {"refusal": text}),
    st.lists(ARGUMENTS, min_size=1, max_size=3).map(
        lambda all: {"tool_calls": [call(f"id-{n}", f"tool-{n}", given) for n, given in enumerate(all)]}
    ),
)


@given(st.data(), st.lists(MESSAGES, min_size=1, max_size=3))
def test_a_stream_comes_to_the_body_that_the_call_would_have_had_without_it(data: Any, messages: list[JSON]) -> None:
    chunks = data.draw(interleaved([data.draw(lane(at, message)) for at, message in enumerate(messages)]))
    whole = openai_chat.streamed(stream(*chunks, done=True))
    assert (whole.body, whole.cut, whole.error) == (body(*messages), False, None)


def test_the_usage_of_the_last_chunk_is_kept_and_padding_is_not() -> None:
    last = {**HEAD, "object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}, "obfuscation": "x"}
    whole = openai_chat.streamed(stream(chunk(0, {"content": "a"}, finish_reason="stop"), last, done=True)).body
    assert whole["usage"] == {"total_tokens": 3}
    assert "obfuscation" not in whole


def test_calls_that_all_have_the_same_index_are_told_apart_by_their_ids() -> None:
    first = {"index": 0, **call("a", "look", {"n": 1})}
    second = {"index": 0, **call("b", "book", {})}
    rest = {"index": 0, "function": {"arguments": ""}}
    whole = openai_chat.streamed(stream(*(chunk(0, {"tool_calls": [one]}) for one in (first, second, rest)))).body
    assert whole["choices"][0]["message"]["tool_calls"] == [call("a", "look", {"n": 1}), call("b", "book", {})]


def test_a_name_that_is_repeated_in_each_fragment_is_one_name() -> None:
    parts = [{"index": 0, "id": "a", "function": {"name": "look", "arguments": text}} for text in ('{"a"', ": 1}")]
    whole = openai_chat.streamed(stream(*(chunk(0, {"tool_calls": [part]}) for part in parts))).body
    assert whole["choices"][0]["message"]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"a": 1}'}


def test_a_stream_without_its_end_is_cut() -> None:
    assert openai_chat.streamed(stream(chunk(0, {"content": "a"}, finish_reason=None))).cut
    assert not openai_chat.streamed(stream(chunk(0, {"content": "a"}, finish_reason="stop"))).cut


def test_an_error_in_the_stream_is_its_answer() -> None:
    whole = openai_chat.streamed(stream({"error": {"code": "overloaded"}}))
    assert (whole.body, whole.error) == ({"error": {"code": "overloaded"}}, {"error": {"code": "overloaded"}})
    assert openai_chat.said(whole.body, "").failed


def test_what_an_answer_asks_for_says_and_cost() -> None:
    counts = {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    said = openai_chat.said(
        {**body({"content": "hi", "tool_calls": [call("a", "look", {"n": 1})]}), "usage": counts}, "/b"
    )
    asked = said.choices[0][0]
    assert (asked.source, asked.tool, asked.arguments, asked.call_id) == (
        "/b/choices/0/message/tool_calls/0", "look", {"n": 1}, "a",
    )  # fmt: skip
    assert (said.said, said.returned_model, said.started_at) == ("hi", "m-1", "2023-11-14T22:13:20+00:00")
    assert said.usage == {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "cached_tokens": 1,
        "reasoning_tokens": 2,
    }


def test_functions_of_old_and_custom_tools_are_calls() -> None:
    old = {"function_call": {"name": "look", "arguments": '{"n": 1}'}}
    custom = {"tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "run", "input": "print()"}}]}
    said = openai_chat.said(body(old, custom), "")
    assert [(one.tool, one.arguments, one.call_id) for choice in said.choices for one in choice] == [
        ("look", {"n": 1}, None), ("run", "print()", "a"),
    ]  # fmt: skip
    assert said.notes == ()


def test_arguments_that_hold_no_object_stay_text_and_are_noted() -> None:
    said = openai_chat.said(
        body({"tool_calls": [{"id": "a", "function": {"name": "look", "arguments": '{"n": '}}]}), ""
    )
    assert said.choices[0][0].arguments == '{"n": '
    assert [note.kind for note in said.notes] == ["content_lost"]


@pytest.mark.parametrize("damaged", [None, "x", {}, {"id": "a"}, {"function": {}}, {"function": {"name": ""}}])
def test_what_should_be_a_call_and_is_none_is_noted(damaged: JSON) -> None:
    message = {"role": "assistant", "tool_calls": [call("a", "look", {}), damaged]}
    said = openai_chat.said(body(message), "")
    assert ([len(choice) for choice in said.choices], [note.kind for note in said.notes]) == ([1], ["content_lost"])
    assert openai_chat.sent({"messages": [message]}, "/q")[0].unread == ("/q/messages/0/tool_calls/1",)


def test_the_turns_of_a_request() -> None:
    messages = [
        {"role": "developer", "content": "Help."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [call("a", "look", {})]},
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "function", "name": "look", "content": "two"},
    ]
    turns = openai_chat.sent({"messages": messages}, "/b")
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "tool", "tool"]
    assert turns[1].content == "hi"
    assert [(answer.value, answer.call_id, answer.tool) for turn in turns for answer in turn.answers] == [
        ("one", "a", None), ("two", None, "look"),
    ]  # fmt: skip
    assert [turn.raw for turn in turns] == messages


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [1], [None], {"choices": 1}])
def test_odd_shapes_say_nothing_and_raise_nothing(odd: JSON) -> None:
    for key in ("choices", "usage", "messages", "created", "error"):
        assert not any(openai_chat.said({key: odd}, "").choices)
        assert not any(turn.calls or turn.answers for turn in openai_chat.sent({key: odd}, ""))
        openai_chat.streamed(stream({key: odd}, {"choices": [{"delta": {"tool_calls": odd}, "index": odd}]}))
    openai_chat.said({"choices": [{"message": {"tool_calls": odd, "content": odd, "function_call": odd}}]}, "")
    openai_chat.sent({"messages": [{"role": odd, "content": odd, "tool_calls": odd}]}, "")
