from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.importers.findings import ImportRefused
from replaycases.importers.http import sse
from replaycases.importers.http.sse import is_stream, read_stream

OBJECTS = st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=2)
EVENTS = st.lists(st.tuples(st.sampled_from(["", "delta", "error"]), OBJECTS), max_size=5)


def written(events: list[tuple[str, dict[str, str]]], *, end: str = "\n", indent: int | None = None) -> bytes:
    lines = []
    for name, value in events:
        lines += [f"event: {name}"] if name else []
        lines += [f"data: {line}" for line in json.dumps(value, indent=indent).split("\n")]
        lines.append("")
    return end.join([*lines, ""]).encode()


@given(EVENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([None, 1]))
def test_events_are_read_whatever_ends_their_lines(
    events: list[tuple[str, dict[str, str]]], end: str, indent: int | None
) -> None:
    assert read_stream(written(events, end=end, indent=indent)).events == tuple(events)


def test_comments_and_other_fields_are_no_events_and_the_mark_of_the_end_is_seen() -> None:
    stream = read_stream(b': ping\nid: 4\nretry: 5\ndata:{"a":1}\n\ndata: [DONE]\n\n')
    assert (stream.events, stream.done, stream.spoilt) == ((("", {"a": 1}),), True, 0)


def test_a_last_event_without_its_blank_line_is_read() -> None:
    assert read_stream(b'data: {"a": 1}').events == (("", {"a": 1}),)


def test_an_event_that_breaks_off_is_counted_and_the_others_stay() -> None:
    stream = read_stream(b'data: {"a": 1}\n\ndata: {"b": ')
    assert (stream.events, stream.spoilt) == ((("", {"a": 1}),), 1)


def test_events_are_told_apart_even_where_their_texts_would_make_one_value_together() -> None:
    assert read_stream(b'data: {"a": [1\n\ndata: 2]}\n\n').spoilt == 2
    stream = read_stream(b'data: {"a": 1}\n\ndata: x\n\ndata: {"b": 2}\n\ndata: [DONE]\n\n')
    assert (stream.events, stream.spoilt, stream.done) == ((("", {"a": 1}), ("", {"b": 2})), 1, True)


def test_more_events_than_any_answer_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENTS", 3)
    assert len(read_stream(b"data: {}\n\n" * 3).events) == 3
    with pytest.raises(ImportRefused, match="3 events"):
        read_stream(b"data: {}\n\n" * 4)


def test_a_stream_of_nothing_but_damage_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_SPOILT", 3)
    assert read_stream(b"data: x\n\n" * 50).spoilt == 4


def test_chunks_on_lines_are_read_as_a_stream() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\n\n{"b": 2}\nnonsense\n'
    assert is_stream(data)
    stream = read_stream(data)
    assert (stream.events, stream.spoilt) == ((("", {"a": 1}), ("", {"b": 2})), 1)


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (b"event: a\n", "", True),
        (b": hi\n", "", True),
        (b"", "text/event-stream", True),
        (b"", "application/json", False),
        (b'{"a": 1}', "", False),
        (b'{"a":\n{"b": 1}}', "", False),
        (b"<html>", "text/event-stream", False),
    ],
)
def test_a_stream_is_known_by_its_first_line(data: bytes, kind: str, expected: bool) -> None:
    assert is_stream(data, kind) is expected


@given(st.binary(max_size=60) | st.text("data:event{}[]\"' \n\r1", max_size=60).map(str.encode))
def test_any_bytes_are_a_stream_of_something(data: bytes) -> None:
    read = read_stream(data)
    assert all(isinstance(event, dict) for _, event in read.events)
    assert is_stream(data) in (True, False)
