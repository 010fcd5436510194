"""JSON lines as programs write them: one that broke off in a crash, several objects on one line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.strict_json import Limits
from replaycases.importers.mended import read_json

JSON = Any
_BLANK = " \t\r"


@dataclass(kw_only=True)
class JsonLines:
    """`rows` are the objects in their order, `broken` the numbers, from 1, of lines that cannot be read. `cut`: the
    last line is one, and not among them. `spoilt`: most of the lines are such, and no rows are given."""

    rows: list[JSON] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    cut: bool = False
    spoilt: bool = False


def lines_of(data: bytes, limits: Limits) -> JsonLines:
    """The lines. No rows, and nothing broken, where the first line is no object or one is another value."""
    found, last = JsonLines(), 0
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        rows, last = _values(line, limits), number
        if rows is None:
            found.broken.append(number)
        elif not all(isinstance(row, dict) for row in rows):
            return JsonLines()
        found.rows += rows or ()
        if not found.rows:
            return JsonLines()
        if len(found.broken) > len(found.rows):
            return JsonLines(broken=found.broken, spoilt=True)
    found.cut = found.broken[-1:] == [last]
    del found.broken[len(found.broken) - found.cut :]
    return found


def _values(line: bytes, limits: Limits) -> list[JSON] | None:
    """What stands on a line, mostly one object; None where it cannot be read."""
    try:
        return [read_json(line, limits=limits)]
    except FixtureInvalid as error:
        return _several(line, limits) if error.findings[0].id == "json.syntax" else None


def _several(line: bytes, limits: Limits) -> list[JSON] | None:
    """Objects that stand one after the other: a line break between them was lost."""
    text, place, found = line.decode("utf-8").strip(), 0, list[JSON]()
    decoder = json.JSONDecoder()
    while place < len(text):
        try:
            end = decoder.raw_decode(text, place)[1]
            found.append(read_json(text[place:end].encode(), limits=limits))
        except (ValueError, RecursionError, FixtureInvalid):
            return None
        place = end
        while place < len(text) and text[place] in _BLANK:
            place += 1
    return found
