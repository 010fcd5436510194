"""Streamed answers: server-sent events, or one JSON chunk a line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers.findings import refused
from replaycases.importers.foreign_file import LIMITS
from replaycases.importers.mended import read_json

JSON = Any
DONE = b"[DONE]"
MAX_EVENTS = 500_000
MAX_SPOILT = 1000
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
    """The events of a stream, whatever is wrong with it; after so much that is wrong the rest is not read. Raises
    ImportRefused for more events than any answer has."""
    found = list(islice(pieces(data), MAX_EVENTS + 1))
    if len(found) > MAX_EVENTS:
        hint = "Export one run at a time."
        raise refused("too-large", "", f"a streamed answer has more than {MAX_EVENTS} events", hint)
    told = [(name, text) for name, text in found if text.strip() != DONE]
    values = _all_objects([text for _, text in told])
    events = tuple((name, value) for (name, _), value in zip(told, values, strict=False) if value is not None)
    return Stream(events=events, done=len(told) < len(found), spoilt=values.count(None))


def _all_objects(texts: list[bytes]) -> list[dict[str, JSON] | None]:
    """The object in each text, None where it is none: all at once if they are whole, or all but the last."""
    for whole in (len(texts), len(texts) - 1):
        together = _parsed(b"[" + b",".join(texts[:whole]) + b"]") if whole > 0 else None
        if isinstance(together, list) and len(together) == whole and all(isinstance(item, dict) for item in together):
            return [*together, *(_object(text) for text in texts[whole:])]
    values: list[dict[str, JSON] | None] = []
    spoilt = 0
    for text in texts:
        values.append(_object(text))
        spoilt += values[-1] is None
        if spoilt > MAX_SPOILT:
            break
    return values


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
    value = _parsed(text)
    return value if isinstance(value, dict) else None


def _parsed(text: bytes) -> JSON:
    try:
        return read_json(text, limits=LIMITS)
    except FixtureInvalid:
        return None
