"""Streamed answers: server-sent events, or one JSON chunk a line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.strict_json import parse
from replaycases.importers.foreign_file import LIMITS

JSON = Any
DONE = b"[DONE]"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


@dataclass(frozen=True, kw_only=True)
class Stream:
    """The JSON objects of a stream in order, each with its event's name or "". `done`: it ended with the mark that says
    so. `spoilt` counts what was no JSON object; a last event that breaks off is one."""

    events: tuple[tuple[str, dict[str, JSON]], ...]
    done: bool = False
    spoilt: int = 0


def is_stream(data: bytes, content_type: str = "") -> bool:
    """Whether a body is a stream of events or chunks, by its first line; by its type where it is empty."""
    head = data[:4096].removeprefix(codecs.BOM_UTF8).lstrip()
    if not head:
        return content_type == "text/event-stream"
    return head.startswith(_FIELDS) or _is_chunks(data)


def read_stream(data: bytes) -> Stream:
    """The events of a stream, whatever is wrong with it."""
    events: list[tuple[str, dict[str, JSON]]] = []
    done, spoilt = False, 0
    for name, text in pieces(data):
        if text.strip() == DONE:
            done = True
            continue
        value = _object(text)
        if value is None:
            spoilt += 1
        else:
            events.append((name, value))
    return Stream(events=tuple(events), done=done, spoilt=spoilt)


def pieces(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The name and the text of each event or chunk, unread."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return _chunks(data) if _is_chunks(data) else _events(data)


def _is_chunks(data: bytes) -> bool:
    """Whether the first of several lines is a JSON object by itself."""
    first, _, rest = data.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")
    return first.startswith(b"{") and rest.lstrip().startswith(b"{") and _object(first) is not None


def _chunks(data: bytes) -> Iterator[tuple[str, bytes]]:
    return (("", line) for line in data.splitlines() if line.strip())


def _events(data: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, data) of each event. A last one without its blank line is given too: recorders strip it."""
    name, held = "", list[bytes]()
    for line in (*data.splitlines(), b""):
        if not line.strip():
            if held:
                yield name, b"\n".join(held)
            name, held = "", []
        elif line.startswith(b"data:"):
            held.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            name = line[6:].strip().decode("utf-8", "replace")


def _object(text: bytes) -> dict[str, JSON] | None:
    try:
        value = parse(text, limits=LIMITS)
    except FixtureInvalid:
        return None
    return value if isinstance(value, dict) else None
