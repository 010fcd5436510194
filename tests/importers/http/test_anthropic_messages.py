from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.importers.http import anthropic_messages
from tests.importers.http.streams import ARGUMENTS, WORDS, interleaved, pieces, stream

JSON = Any
HEAD = {"id": "msg-1", "type": "message", "role": "assistant", "model": "m-1", "stop_sequence": None}
SECRET = "EqQBCkYIBxgCKkA8/+=="


def use(id: str, name: str, given: JSON, **more: JSON) -> JSON:
    return {"type": "tool_use", "id": id, "name": name, "input": given, **more}


def body(*content: JSON, stop: str = "end_turn", **more: JSON) -> JSON:
    return {
        **HEAD,
        "content": list(content),
        "stop_reason": stop,
        "usage": {"input_tokens": 3, "output_tokens": 4},
        **more,
    }


def started() -> JSON:
    message = {**HEAD, "content": [], "stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 1}}
    return {"type": "message_start", "message": message}


def ended(stop: str = "end_turn") -> list[JSON]:
    usage = {"output_tokens": 4, "input_tokens": None}
    return [
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


@st.composite
def lane(draw: Any, index: int, block: JSON) -> list[JSON]:
    def delta(**told: JSON) -> JSON:
        return {"type": "content_block_delta", "index": index, "delta": told}

    kind = block["type"]
    opened, deltas = dict(block), list[JSON]()
    if kind == "text":
        opened["text"] = ""
        deltas = [delta(type="text_delta", text=piece) for piece in draw(pieces(block["text"]))]
        deltas += [delta(type="citations_delta", citation=one) for one in block.get("citations", ())]
        opened.pop("citations", None)
    elif kind == "thinking":
        opened |= {"thinking": "", "signature": ""}
        deltas = [delta(type="thinking_delta", thinking=piece) for piece in draw(pieces(block["thinking"]))]
        deltas.append(delta(type="signature_delta", signature=block["signature"]))
    elif kind in ("tool_use", "server_tool_use"):
        opened["input"] = {}
        given = json.dumps(block["input"]) if block["input"] else ""
        deltas = [delta(type="input_json_delta", partial_json=piece) for piece in draw(pieces(given))]
    opening = {"type": "content_block_start", "index": index, "content_block": opened}
    return [opening, *deltas, {"type": "content_block_stop", "index": index}]


BLOCKS = st.lists(
    st.one_of(
        WORDS.map(lambda text: {"type": "text", "text": text}),
        WORDS.map(lambda text: {"type": "text", "text": text, "citations": [{"cited_text": "a"}, {"cited_text": "b"}]}),
        WORDS.map(lambda text: {"type": "thinking", "thinking": text, "signature": SECRET}),
        st.just({"type": "redacted_thinking", "data": SECRET}),
        ARGUMENTS.map(lambda given: use("t-1", "look", given)),
        ARGUMENTS.map(lambda given: {**use("s-1", "web_search", given), "type": "server_tool_use"}),
        st.just({"type": "web_search_tool_result", "tool_use_id": "s-1", "content": [{"encrypted_content": SECRET}]}),
    ),
    max_size=4,
)


@given(st.data(), BLOCKS)
def test_a_stream_comes_to_the_body_that_the_call_would_have_had_without_it(data: Any, blocks: list[JSON]) -> None:
    events = data.draw(interleaved([data.draw(lane(at, block)) for at, block in enumerate(blocks)]))
    whole = anthropic_messages.streamed(stream(started(), {"type": "ping"}, *events, *ended()))
    assert (whole.body, whole.cut, whole.error) == (body(*blocks), False, None)


def test_a_stream_that_breaks_off_in_a_call_keeps_what_there_is_of_it() -> None:
    opening = {"type": "content_block_start", "index": 0, "content_block": use("t", "look", {})}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"n": '}}
    whole = anthropic_messages.streamed(stream(started(), opening, delta))
    asked = anthropic_messages.said(whole.body, "").choices[0]
    assert whole.cut
    assert [(one.tool, one.arguments) for one in asked] == [("look", '{"n": ')]


def test_an_error_event_is_the_answer() -> None:
    told = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    whole = anthropic_messages.streamed(stream(told))
    assert (whole.body, whole.cut) == (told, False)
    assert anthropic_messages.said(whole.body, "").failed


def test_blocks_that_come_with_the_start_are_kept() -> None:
    begun = started()
    begun["message"]["content"] = [use("t", "look", {"n": 1})]
    whole = anthropic_messages.streamed(stream(begun, {"type": "message_stop"}))
    assert [one.arguments for one in anthropic_messages.said(whole.body, "").choices[0]] == [{"n": 1}]


def test_what_an_answer_asks_for_says_and_cost() -> None:
    counts = {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 2}
    said = anthropic_messages.said(
        body(
            {"type": "text", "text": "hi "}, use("t", "look", {"n": 1}), {"type": "text", "text": "you"}, usage=counts
        ),
        "/b",
    )
    assert [(one.source, one.tool, one.arguments, one.call_id) for one in said.choices[0]] == [
        ("/b/content/1", "look", {"n": 1}, "t")
    ]
    assert (said.said, said.returned_model) == ("hi you", "m-1")
    assert said.usage == {"input_tokens": 3, "output_tokens": 4, "cached_tokens": 2}


@pytest.mark.parametrize(
    ("block", "calls"),
    [
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, 0),
        ({"type": "mcp_tool_use", "id": "s", "name": "n", "input": {}}, 0),
        ({"type": "code_execution_tool_result", "tool_use_id": "s", "content": {}}, 0),
        (use("t", "look", {}, caller={"type": "code_execution_20250825", "tool_id": "s"}), 1),
    ],
)
def test_what_the_provider_runs_itself_is_a_note(block: JSON, calls: int) -> None:
    said = anthropic_messages.said(body(block), "/b")
    assert len(said.choices[0]) == calls
    assert [(note.kind, note.source) for note in said.notes] == [("server_side", "/b/content/0")]


def test_a_call_that_the_model_made_directly_has_no_note() -> None:
    assert anthropic_messages.said(body(use("t", "look", {}, caller={"type": "direct"})), "").notes == ()


def test_what_should_be_a_call_and_is_none_is_noted() -> None:
    damaged = {"type": "tool_use", "id": "t", "input": {}}
    assert [note.source for note in anthropic_messages.said(body(damaged), "/b").notes] == ["/b/content/0"]
    turn = anthropic_messages.sent({"messages": [{"role": "assistant", "content": [damaged]}]}, "/q")[0]
    assert turn.unread == ("/q/messages/0/content/0",)


def test_a_turn_that_the_provider_paused_says_so() -> None:
    said = anthropic_messages.said(body(stop="pause_turn"), "/b")
    assert [(note.kind, note.source) for note in said.notes] == [("server_side", "/b/stop_reason")]


def test_the_turns_of_a_request() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": "one"},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "no"}], "is_error": True},
    ]
    asks = [{"type": "redacted_thinking", "data": SECRET}, use("a", "look", {}), use("b", "book", {})]
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": asks},
        {"role": "user", "content": results},
    ]
    turns = anthropic_messages.sent({"system": [{"type": "text", "text": "Help."}], "messages": messages}, "/q")
    assert [(turn.role, turn.content) for turn in turns[:2]] == [("system", "Help."), ("user", "hi")]
    assert [(one.tool, one.source) for one in turns[2].calls] == [
        ("look", "/q/messages/1/content/1"), ("book", "/q/messages/1/content/2"),
    ]  # fmt: skip
    first, second = turns[3].answers
    assert (first.value, first.error, first.call_id) == ("one", None, "a")
    assert (second.value, second.call_id) == (None, "b")
    assert second.error is not None
    assert second.error["message"] == "no"


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [1], [None], {"content": 1}])
def test_odd_shapes_say_nothing_and_raise_nothing(odd: JSON) -> None:
    for key in ("content", "usage", "messages", "system", "error", "message", "delta", "content_block", "index"):
        assert not any(anthropic_messages.said({key: odd}, "").choices)
        assert not any(turn.calls or turn.answers for turn in anthropic_messages.sent({key: odd}, ""))
        for kind in ("message_start", "content_block_start", "content_block_delta", "message_delta", odd):
            anthropic_messages.streamed(stream({key: odd, "type": kind}))
    block = {"type": odd, "name": odd, "input": odd, "content": odd, "caller": odd, "is_error": odd, "id": odd}
    for kind in ("tool_use", "tool_result", "text", odd):
        anthropic_messages.said({"content": [{**block, "type": kind}]}, "")
        anthropic_messages.sent({"messages": [{"role": odd, "content": [{**block, "type": kind}]}]}, "")
