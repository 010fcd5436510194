"""The lines of a recording, pinned to the last key: what the recorder cannot have written is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import jsonschema_rs

from replaycases.fixture.instants import parse_instant
from replaycases.fixture.pointer import join
from replaycases.importers.findings import refused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.mended import is_strict

JSON = Any
Line = Mapping[str, JSON]
_START = b'{"line":"head","recording":'
_HINT = "A recording is only ever what the recorder wrote: take the file as it was."


def is_recording(file: ForeignFile) -> bool:
    return file.head.replace(b" ", b"").startswith(_START)


def lines_of(file: ForeignFile) -> tuple[Line, ...]:
    """Every whole line. Raises ImportRefused where one has another shape, or stands where it cannot."""
    return file.read_once(_checked)


def _checked(file: ForeignFile) -> tuple[Line, ...]:
    lines = file.json_lines
    odd = next((f"/{at}" for at, line in enumerate(lines) if not is_strict(line)), "")
    if not lines or odd or file.broken_lines:
        raise refused("recording-line", odd, "a line of the recording is no strict JSON", _HINT)
    for at, line in enumerate(lines):
        _require_shape(at, line)
    for at, fault in _misplaced(lines, cut=file.cut_line):
        raise refused("recording-order", f"/{at}", fault, _HINT)
    return lines


def _require_shape(at: int, line: Line) -> None:
    error = next(iter(_schema().iter_errors(line)), None)
    if error is not None:
        place = join(f"/{at}", *error.instance_path)
        raise refused("recording-shape", place, f"the line breaks its schema's rule {error.kind.name!r}", _HINT)
    times = [name for name in ("at", "now") if name in line and parse_instant(line[name]) is None]
    if times:
        raise refused("recording-time", f"/{at}/{times[0]}", "is no ISO 8601 time with an offset", _HINT)


def _misplaced(lines: Sequence[Line], *, cut: bool) -> Iterator[tuple[int, str]]:
    """What no recorder writes: lines that are doubled, left out or in another order."""
    calls = 0
    open_calls: set[int] = set()
    for at, line in enumerate(lines):
        kind = line["line"]
        if (kind == "head") != (at == 0):
            yield at, "a recording has one head, which stands first"
        if kind in ("call", "read"):
            calls += 1
            if line["seq"] != calls:
                yield at, "calls are numbered from 1 without a gap"
        if kind == "call":
            open_calls.add(line["seq"])
        if kind == "answer" and line["seq"] not in open_calls:
            yield at, "an answer comes once, after its call"
        if kind == "answer":
            open_calls.discard(line["seq"])
        if kind == "end":
            yield from _wrong_end(at, line, lines, calls, cut=cut)


def _wrong_end(at: int, line: Line, lines: Sequence[Line], calls: int, *, cut: bool) -> Iterator[tuple[int, str]]:
    if at != len(lines) - 1 or cut:
        yield at, "nothing comes after the end"
    if line["lines"] != at:
        yield at, "the end counts other lines than stand in the file"
    if not is_full(lines) and line["calls"] != calls:
        yield at, "the end counts other calls than stand in the file"


def is_full(lines: Sequence[Line]) -> bool:
    return any(line["line"] == "fault" and line["kind"] == "full" for line in lines)


@cache
def _schema() -> jsonschema_rs.Draft202012Validator:
    text = resources.files("replaycases.fixture").joinpath("schemas/recording-1.json").read_text("utf-8")
    return jsonschema_rs.Draft202012Validator(json.loads(text), offline=True)
