"""A fixture document as rows to read: event by event, each with the place it stands at.

Rows are made in two steps: light ones for the whole document, then the text of those that one page shows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from replaycases.fixture.pointer import join
from replaycases.web import words
from replaycases.web.templatetags.evidence import is_hidden

JSON = Any
WHOLE = 600
"""A value of about so many characters is one row; a longer object or array is a row for each of its members."""
LINE = 76
"""A value of at most so many characters stays on one line within a longer one."""
EVENTS = ("events", "tool_events")
HEADING = 200
IN_HEADING = frozenset({"seq", "boundary", "attempt", "tool", "name"})
_TITLES = {
    "input": "Input",
    "identity": "Identity",
    "expected": "Expected",
    "serving": "Serving",
    "templates": "Templates",
    "policies": "Policies",
    "missing": "Declared gaps",
    "replayability": "Replayability",
    "recorded_by": "Recorder",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """A stretch of the document with a heading. `code` is the tool or name that an event is about, `note` holds the
    rest of what needs no rows of its own."""

    pointer: str
    title: str
    code: str = ""
    note: str = ""
    is_event: bool = False

    @property
    def anchor(self) -> str:
        return anchor_of(self.pointer or "/")


@dataclass(frozen=True, kw_only=True)
class Place:
    """One row. `name` is the pointer from its part on."""

    part: Part
    pointer: str
    name: str
    value: JSON

    @property
    def anchor(self) -> str:
        return anchor_of(self.pointer)

    @property
    def text(self) -> words.Shown:
        return words.whole(told(self.value))


def anchor_of(pointer: str) -> str:
    """An element's id, which is its fragment too: "/events/1/outcome"."""
    return quote(pointer, safe="/~!$&'()*+,;=:@")


def told(value: JSON) -> str:
    """A value for reading: a text of several lines as it is, anything else as JSON in which what is short stays on one
    line."""
    if isinstance(value, str) and "\n" in value:
        return value
    return _indented(value, 0)


def _indented(value: JSON, depth: int) -> str:
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    if _is_short(value, LINE):
        line = json.dumps(value, ensure_ascii=False)
        if len(line) <= LINE:
            return line
    pad, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        inner = [f"{json.dumps(key, ensure_ascii=False)}: {_indented(item, depth + 1)}" for key, item in value.items()]
    else:
        inner = [_indented(item, depth + 1) for item in value]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n{pad}" + f",\n{pad}".join(inner) + f"\n{end}{right}"


def parts(document: Mapping[str, JSON]) -> Iterator[tuple[Part, JSON]]:
    """Every part with its value: the plain values of the head first, then what has parts of its own, event by event."""
    head = {key: value for key, value in document.items() if not isinstance(value, dict | list)}
    if head:
        yield Part(pointer="", title="Head"), head
    for key, value in document.items():
        if key in EVENTS and isinstance(value, list):
            yield from ((event_part(key, index, event), event) for index, event in enumerate(value))
        elif key not in head:
            yield Part(pointer=join("", key), title=title_of(key)), value


def title_of(key: str) -> str:
    return _TITLES.get(key, key)


def event_part(key: str, index: int, event: JSON) -> Part:
    said = event if isinstance(event, dict) else {}
    headed = {name: str(value) for name, value in said.items() if _in_heading(name, value)}
    noted = [f"{name} {headed[name]}" for name in ("seq", "attempt") if name in headed]
    return Part(
        pointer=join("", key, index),
        title=f"Event {index + 1}",
        code=headed.get("tool", headed.get("name", "")),
        note=", ".join([headed.get("boundary", "tool"), *noted]),
        is_event=True,
    )


def _in_heading(name: str | int, value: JSON) -> bool:
    return name in IN_HEADING and not isinstance(value, dict | list) and len(str(value)) <= HEADING


def places(document: Mapping[str, JSON]) -> list[Place]:
    """Every row of the document, in its order."""
    found: list[Place] = []
    for part, value in parts(document):
        rows = list(_places(part, part.pointer, value))
        found += rows or [Place(part=part, pointer=part.pointer, name=part.pointer, value=value)]
    return found


def _places(part: Part, pointer: str, value: JSON) -> Iterator[Place]:
    """A part itself is always opened; what stands in it only if it is long."""
    is_part = pointer == part.pointer
    if isinstance(value, dict | list) and value and (is_part or not _is_short(value)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if not (is_part and part.is_event and _in_heading(key, item)):
                yield from _places(part, join(pointer, key), item)
    else:
        name = pointer.removeprefix(part.pointer).removeprefix("/")
        yield Place(part=part, pointer=pointer, name=name or pointer, value=value)


def _is_short(value: JSON, most: int = WHOLE) -> bool:
    """Looks at no more of the value than it takes to know."""
    left, stack = most, [value]
    while stack and left > 0:
        node = stack.pop()
        if isinstance(node, dict):
            left -= sum(len(key) + 4 for key in node)
            stack.extend(node.values())
        elif isinstance(node, list):
            left -= 2 * len(node)
            stack.extend(node)
        else:
            left -= len(node) if isinstance(node, str) else 1
    return left > 0


class Index:
    """Which row shows a pointer: the row itself, the row it stands in, or the first of those that stand in it."""

    def __init__(self, rows: Sequence[Place]) -> None:
        self._rows: dict[str, int] = {}
        for number, row in enumerate(rows):
            self._rows[row.pointer] = number
        for number, row in enumerate(rows):
            pointer = row.pointer
            while (pointer := pointer.rpartition("/")[0]) and pointer not in self._rows:
                self._rows[pointer] = number

    def row_of(self, pointer: str) -> int | None:
        """None for the whole document and for what no row shows."""
        while pointer and pointer not in self._rows:
            pointer = pointer.rpartition("/")[0]
        return self._rows.get(pointer)


def as_json(document: JSON) -> str:
    """The document to be edited: indented, and every character that could not be seen written as its escape."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    if text.isascii():
        return text
    return "".join(json.dumps(c)[1:-1] if not c.isascii() and is_hidden(c) else c for c in text)
