"""The wire from the supervisor's side: bounded, strict, and never surprised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.replay.output import Excerpt
from replaycases.replay.protocol import (
    InvalidRequest,
    Lines,
    MessageTooLong,
    Request,
    error_line,
    parse_request,
    result_line,
)
from replaycases.replay.session import Answer, ReplaySession, ToolError
from tests.replay.implementations import one_refund

LARGEST = 6


def cut(stream: bytes, sizes: list[int]) -> list[bytes | str]:
    """Feed `stream` in pieces of at most `sizes`, as the socket would; "too long" ends it."""
    lines, found, sizes = Lines(LARGEST), [], [*sizes, len(stream)]
    try:
        while True:
            while (line := lines.take()) is not None:
                found.append(line)
            if not stream:
                return found
            piece = stream[: max(1, min(sizes.pop(0) if len(sizes) > 1 else sizes[0], lines.room()))]
            assert len(piece) <= lines.room() <= LARGEST + 1
            lines.feed(piece)
            stream = stream[len(piece) :]
    except MessageTooLong:
        return [*found, "too long"]


@given(st.lists(st.binary(max_size=LARGEST + 3).map(lambda b: b.replace(b"\n", b"x"))), st.lists(st.integers(1, 9)))
def test_lines_are_the_same_however_the_stream_is_cut(parts: list[bytes], sizes: list[int]) -> None:
    whole: list[bytes | str] = []
    for part in parts:
        whole.append(part if len(part) <= LARGEST else "too long")
        if len(part) > LARGEST:
            break
    assert cut(b"".join(part + b"\n" for part in parts), sizes) == whole


def test_a_line_without_an_end_is_refused_at_the_limit() -> None:
    lines = Lines(LARGEST)
    lines.feed(b"x" * LARGEST)
    assert lines.take() is None
    assert lines.room() == 1
    lines.feed(b"x")
    with pytest.raises(MessageTooLong):
        lines.take()


JSONISH = st.recursive(
    st.sampled_from([None, True, 0, 1, 2**60, 0.5, "", "2.0", "finish", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "jsonrpc", "x"]), inner),
    max_leaves=6,
)
REQUESTISH = st.fixed_dictionaries({}, optional=dict.fromkeys(["jsonrpc", "id", "method", "params", "more"], JSONISH))


@given(st.binary(max_size=40) | (REQUESTISH | JSONISH).map(lambda value: json.dumps(value).encode()))
def test_any_line_is_a_request_or_refused(line: bytes) -> None:
    try:
        request = parse_request(line)
    except InvalidRequest:
        return
    document = json.loads(line)
    assert document["jsonrpc"] == "2.0"
    assert set(document) <= {"jsonrpc", "id", "method", "params"}
    assert (request.id, type(request.id)) == (document["id"], int)


def test_a_request_keeps_method_and_params_as_they_stand() -> None:
    line = b'{"params": {"b": 1.0, "a": "\\u00e9"}, "method": "tool.call", "id": -3, "jsonrpc": "2.0"}'
    assert parse_request(line) == Request(id=-3, method="tool.call", params={"b": 1.0, "a": "é"})


def test_params_may_be_left_out() -> None:
    assert parse_request(b'{"jsonrpc": "2.0", "id": 1, "method": "clock.now"}').params is None


def test_a_refusal_quotes_nothing_that_was_sent() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_request(b'{"jsonrpc": "secret", "id": 1, "method": "x"}')
    assert "secret" not in str(refused.value)


def test_answers_are_one_line_each() -> None:
    result, error = result_line(1, {"value": "a\nb"}), error_line(2, kind="timeout", message="no\nanswer")
    assert (result.count(b"\n"), error.count(b"\n")) == (1, 1)
    assert json.loads(result) == {"jsonrpc": "2.0", "id": 1, "result": {"value": "a\nb"}}
    assert json.loads(error)["error"]["data"] == {"kind": "timeout", "message": "no\nanswer"}
    assert json.loads(error)["error"]["code"] == 1


@given(st.lists(st.binary(max_size=9)))
def test_an_excerpt_keeps_both_ends_and_counts_the_rest(parts: list[bytes]) -> None:
    parts = [bytes(97 + byte % 26 for byte in part) for part in parts]
    excerpt, whole = Excerpt(head=5, tail=7), b"".join(parts).decode()
    for part in parts:
        excerpt.add(part)
    if len(whole) <= 12:
        assert excerpt.text() == whole
    else:
        assert excerpt.text() == f"{whole[:5]}\n… {len(whole) - 12} bytes left out …\n{whole[-7:]}"


def test_the_transcript_in_the_documentation_is_what_is_said() -> None:
    text = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
    said = [line[2:] for line in text.splitlines() if line.startswith(("→ ", "← "))]
    session = ReplaySession(one_refund(), serving=None, clock=None)
    assert len(said) == 8
    for sent, answer in zip(said[::2], said[1::2], strict=True):
        request = parse_request(sent.encode())
        reply = session.handle(request.method, request.params)
        line = result_line(request.id, reply.result) if isinstance(reply, Answer) else error_line_of(request, reply)
        assert json.loads(line) == json.loads(answer)
    assert session.finished


def error_line_of(request: Request, reply: object) -> bytes:
    assert isinstance(reply, ToolError)
    return error_line(request.id, kind=reply.kind, message=reply.message)
