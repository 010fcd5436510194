from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.importers.http import openai_responses
from replaycases.importers.http.exchange import HttpExchange
from tests.importers.http.streams import ARGUMENTS, WORDS, interleaved, pieces, stream

JSON = Any
HEAD = {"id": "resp-1", "object": "response", "created_at": 1_700_000_000, "model": "m-1"}


def message(text: str) -> JSON:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg-1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def call(name: str, arguments: JSON, id: str = "call-1") -> JSON:
    return {"id": f"fc-{id}", "type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)}


def answer(id: str, output: JSON) -> JSON:
    return {"type": "function_call_output", "call_id": id, "output": output}


def body(*output: JSON, **more: JSON) -> JSON:
    return {**HEAD, "status": "completed", "output": list(output), "error": None, **more}


@st.composite
def lane(draw: Any, index: int, item: JSON) -> list[JSON]:
    """An item as events up to the last delta."""
    at = {"output_index": index}
    if item["type"] == "message":
        text = item["content"][0]["text"]
        opened = {**item, "content": [], "status": "in_progress"}
        kind, more, key = "response.output_text.delta", {"content_index": 0}, text
    else:
        opened = {**item, "arguments": ""}
        kind, more, key = "response.function_call_arguments.delta", {}, item["arguments"]
    deltas = [{"type": kind, **at, **more, "delta": piece} for piece in draw(pieces(key))]
    return [{"type": "response.output_item.added", **at, "item": opened}, *deltas]


ITEMS = st.lists(WORDS.map(message) | ARGUMENTS.map(lambda given: call("look", given)), min_size=1, max_size=3)


def created() -> JSON:
    return {"type": "response.created", "response": {**HEAD, "status": "in_progress", "output": []}}


@given(st.data(), ITEMS)
def test_the_last_event_holds_the_answer(data: Any, items: list[JSON]) -> None:
    deltas = data.draw(interleaved([data.draw(lane(at, item)) for at, item in enumerate(items)]))
    whole = openai_responses.streamed(
        stream(created(), *deltas, {"type": "response.completed", "response": body(*items)})
    )
    assert (whole.body, whole.cut, whole.error) == (body(*items), False, None)


@given(st.data(), ITEMS)
def test_a_stream_that_breaks_off_keeps_the_calls_that_it_holds(data: Any, items: list[JSON]) -> None:
    deltas = data.draw(interleaved([data.draw(lane(at, item)) for at, item in enumerate(items)]))
    whole = openai_responses.streamed(stream(created(), *deltas))
    said = openai_responses.said(whole.body, "")
    assert whole.cut
    assert [asked.arguments for asked in said.choices[0]] == [
        json.loads(item["arguments"]) for item in items if item["type"] == "function_call"
    ]
    assert said.said == ("".join(i["content"][0]["text"] for i in items if i["type"] == "message") or None)


def test_an_end_without_its_items_takes_those_that_were_done() -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": call("look", {})}
    ended = {"type": "response.completed", "response": body(output=None)}
    assert openai_responses.streamed(stream(created(), done, ended)).body == body(call("look", {}))


def test_an_error_event_without_an_end_is_the_answer_and_with_one_the_failed_response_is() -> None:
    error = {"type": "error", "sequence_number": 1, "code": "quota", "message": "no more"}
    alone = openai_responses.streamed(stream(error))
    assert (alone.body, alone.error is not None) == ({"error": {"code": "quota", "message": "no more"}}, True)
    failed = body(status="failed", error={"code": "quota"})
    ended = openai_responses.streamed(stream(error, {"type": "response.failed", "response": failed}))
    assert ended.body == failed
    assert openai_responses.said(ended.body, "").failed


def test_what_an_answer_says_and_cost() -> None:
    counts = {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "input_tokens_details": {"cached_tokens": 1},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    said = openai_responses.said(body(message("hi"), usage=counts, completed_at=1_700_000_001), "")
    assert (said.said, said.failed, said.returned_model) == ("hi", False, "m-1")
    assert (said.started_at, said.ended_at) == ("2023-11-14T22:13:20+00:00", "2023-11-14T22:13:21+00:00")
    assert said.usage == {
        "input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "cached_tokens": 1, "reasoning_tokens": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("item", "boundary", "costs"),
    [
        ({"type": "file_search_call", "queries": ["q"], "results": None}, "retrieval", True),
        ({"type": "file_search_call", "queries": ["q"], "results": []}, "retrieval", False),
        ({"type": "web_search_call", "action": {}}, "retrieval", True),
        ({"type": "mcp_call", "name": "n", "arguments": "{}", "output": "o"}, "tool", False),
        ({"type": "mcp_list_tools", "tools": []}, "tool", False),
        ({"type": "code_interpreter_call", "code": "1"}, "tool", False),
        ({"type": "mcp_approval_request", "name": "n", "arguments": "{}"}, "human", False),
    ],
)
def test_what_the_provider_runs_itself_is_a_note_and_no_call(item: JSON, boundary: str, costs: bool) -> None:
    said = openai_responses.said(body(item), "/b")
    assert said.choices == ((),)
    assert [(note.kind, note.source, note.boundary, bool(note.cost)) for note in said.notes] == [
        ("server_side", "/b/output/0", boundary, costs)
    ]


def test_what_should_be_a_call_and_is_none_is_noted() -> None:
    damaged = {"type": "function_call", "call_id": "a", "arguments": "{}"}
    assert [note.source for note in openai_responses.said(body(damaged), "/b").notes] == ["/b/output/0"]
    assert openai_responses.sent({"input": [damaged]}, "/q")[0].unread == ("/q/input/0",)


def test_a_custom_tool_and_a_shell_of_the_workflow_are_calls() -> None:
    custom = {"type": "custom_tool_call", "call_id": "a", "name": "run", "input": "x = 1"}
    shell = {"type": "local_shell_call", "call_id": "b", "action": {"command": ["ls"]}}
    said = openai_responses.said(body(custom, shell), "")
    asked = said.choices[0]
    assert said.notes == ()
    assert [(one.tool, one.arguments, one.call_id) for one in asked] == [
        ("run", "x = 1", "a"), ("local_shell", {"command": ["ls"]}, "b"),
    ]  # fmt: skip


def test_the_turns_of_a_request() -> None:
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "r"},
        call("look", {"n": 1}, "a"),
        call("look", {"n": 2}, "b"),
        answer("a", "one"),
        answer("b", [{"type": "input_text", "text": "two"}]),
    ]
    turns = openai_responses.sent({"instructions": "Help.", "input": items}, "/q")
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "tool", "tool"]
    assert [(one.source, one.call_id) for one in turns[2].calls] == [("/q/input/2", "a"), ("/q/input/3", "b")]
    assert [answer.value for turn in turns for answer in turn.answers] == [
        "one",
        [{"type": "input_text", "text": "two"}],
    ]


def test_a_text_by_itself_was_said_by_the_user() -> None:
    turn = openai_responses.sent({"input": "hi"}, "")[0]
    assert (turn.role, turn.raw) == ("user", {"role": "user", "content": "hi"})


def test_a_persons_approval_answers_what_the_provider_asked() -> None:
    asks = {"type": "mcp_approval_request", "id": "apr", "name": "book", "arguments": "{}"}
    denies = {"type": "mcp_approval_response", "approval_request_id": "apr", "approve": False}
    turns = openai_responses.sent({"input": [asks, denies]}, "")
    assert [(turn.role, turn.content) for turn in turns] == [
        ("assistant", {"approval_requests": [asks]}), ("user", {"approve": False}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "url", "id"),
    [
        ("GET", "https://h/v1/responses/resp-1?stream=false", "resp-1"),
        ("POST", "https://h/v1/responses/resp-1/cancel", "resp-1"),
        ("GET", "https://h/v1/responses", None),
        ("POST", "https://h/v1/responses", None),
        ("GET", "https://h/v1/files/f", None),
    ],
)
def test_an_answer_is_fetched_by_its_id(method: str, url: str, id: str | None) -> None:
    exchange = HttpExchange(source="", request_source="", response_source="", method=method, url=url, status=200)
    assert openai_responses.polls(exchange) == id


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [1], [None], {"output": 1}])
def test_odd_shapes_say_nothing_and_raise_nothing(odd: JSON) -> None:
    for key in ("output", "usage", "input", "created_at", "error", "instructions", "conversation", "response"):
        assert not any(openai_responses.said({key: odd}, "").choices)
        assert not any(turn.calls or turn.answers for turn in openai_responses.sent({key: odd}, ""))
        openai_responses.previous({key: odd})
        openai_responses.streamed(stream({key: odd}, {"type": "response.output_text.delta", "output_index": odd}))
    item = {"type": odd, "call_id": odd, "content": odd, "arguments": odd, "name": odd, "output": odd, "role": odd}
    for kind in ("function_call", "message", "function_call_output", "mcp_approval_response", odd):
        openai_responses.said({"output": [{**item, "type": kind}]}, "")
        openai_responses.sent({"input": [{**item, "type": kind}]}, "")
