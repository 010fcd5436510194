from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers.completeness import report_of
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.http import bare
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.registry import open_recording
from tests.importers.cassettes import answer, asks, call, function_call, response, says, streamed
from tests.importers.http.streams import sse

JSON = Any
USE = {"type": "tool_use", "id": "t", "name": "look", "input": {}}


def message(id: str) -> JSON:
    return {"id": id, "type": "message", "role": "assistant", "content": [USE], "stop_reason": "tool_use"}


def events(id: str) -> list[JSON]:
    return [{"type": "message_start", "message": message(id)}, {"type": "ping"}, {"type": "message_stop"}]


def lines(*values: JSON) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def read(data: bytes) -> NeutralRun:
    found = open_recording(data)
    assert found.format.name == "provider-response"
    return found.read()


@pytest.mark.parametrize(
    ("data", "models", "tools"),
    [
        (json.dumps(answer(asks(call("look", {})))).encode(), 1, 1),
        (json.dumps(response("r", function_call("look", {}), says("x"))).encode(), 1, 1),
        (json.dumps(message("m")).encode(), 1, 1),
        (streamed({"content": "x"}), 1, 0),
        (lines(*events("m-1"), *events("m-2"), *events("m-3")), 3, 3),
        (sse(*events("m-1"), *events("m-2"), named=True), 2, 2),
        (lines(*({"type": f"response.{said}", "response": response("r")} for said in ("created", "completed"))), 1, 0),
    ],
)  # fmt: skip
def test_each_answer_is_a_call_whose_request_is_not_known(data: bytes, models: int, tools: int) -> None:
    run = read(data)
    assert [type(step).__name__ for step in run.steps].count("ModelStep") == models
    assert [type(step).__name__ for step in run.steps].count("ToolStep") == tools
    assert [note.kind for note in run.notes].count("content_lost") == models
    assert report_of(run, ()).mode == "forensic"
    assert set(run.absent) >= {"tools", "system"}
    assert set(run.serving or {}) <= {"returned_model"}


def test_chunks_of_two_answers_are_told_apart_by_their_ids() -> None:
    choice = {"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}
    chunks = [{"id": id, "object": "chat.completion.chunk", "choices": [choice]} for id in ("a", "a", "b")]
    assert len(read(lines(*chunks)).steps) == 2


@pytest.mark.parametrize("odd", [[], {}, None, 1, ["message_start"]])
def test_an_event_of_a_kind_that_is_no_text_is_part_of_the_answer_that_it_stands_in(odd: JSON) -> None:
    first, *rest = events("m-1")
    assert len(read(lines(first, {"type": odd}, *rest, *events("m-2"))).steps) == 4


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"data: {}\n\n", b'{"type": "message", "role": "user"}', b'{"object": "list"}',
     b'{"object": []}', b'{"type": {}}\n{"type": 1}', b"data: x"],
)  # fmt: skip
def test_anything_else_is_none(data: bytes) -> None:
    assert not bare.sniff(ForeignFile(data))
