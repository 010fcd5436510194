"""JSON as programs write it down: strict where it is, else read so that nothing is lost or changed in silence.

A number that a fixture cannot hold stays the text in which it was written, half of a surrogate pair becomes U+FFFD, and
of a key that stands twice the last value is kept, as most readers of JSON do. Each such place is marked by its type
until the run is whole; `with_mended` then says where they are and takes the marks away.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any, TypeVar

from replaycases.fixture.canonical import MAX_INTEGER
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.strict_json import LIMITS, Limits, parse
from replaycases.importers.neutral import Boundary, NeutralRun, Note, Step, boundary_of

JSON = Any
R = TypeVar("R", Step, NeutralRun)
_MENDABLE = frozenset(
    {"json.integer-range", "json.number-range", "json.number-precision", "json.number-digits", "json.not-a-number",
     "json.duplicate-key", "json.lone-surrogate", "fixture.more-faults"}
)  # fmt: skip
_HALF = re.compile("[\\ud800-\\udfff]")
_MOST_DIGITS = 400
_SHARED = 2  # request, its list of messages, a message
_NONE: frozenset[type[Any]] = frozenset()
_NO_JSON = frozenset({"steps", "notes", "source", "left_out", "absent"})


class KeptText(str):
    """A number that a fixture cannot hold, in the characters in which it was written."""

    __slots__ = ()


class MendedText(str):
    """A text in which halves of surrogate pairs were replaced."""

    __slots__ = ()


class LastOfSeveral(dict[str, JSON]):
    """An object that names a key twice, with what it names last."""


class _Met:
    documents = 0


_SAID: dict[type[Any], tuple[str, str]] = {
    KeptText: (
        "a number that JSON does not hold exactly is kept as text",
        "a replay compares text and answers with it where the run had a number",
    ),
    MendedText: ("half of a surrogate pair was replaced by U+FFFD", ""),
    LastOfSeveral: (
        "a key stands twice in an object; the last one is kept",
        "readers of JSON differ in which of the two they take",
    ),
}


def read_json(data: bytes, *, limits: Limits = LIMITS) -> JSON:
    """The JSON value, marked where it is not strict. Raises FixtureInvalid for what is no JSON, or over a limit."""
    try:
        return parse(data, limits=limits)
    except FixtureInvalid as error:
        if any(finding.id not in _MENDABLE for finding in error.findings):
            raise
    _Met.documents += 1
    return _whole_characters(_DECODER.decode(data.decode("utf-8")))


def kept(written: str) -> KeptText:
    """A number of another notation that a fixture cannot hold."""
    _Met.documents += 1
    return KeptText(written)


def fits(value: float) -> bool:
    """Whether a fixture can hold the number."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return value != int(value) or -MAX_INTEGER <= value <= MAX_INTEGER


def odd_documents() -> int:
    """How many documents that are not strict were read so far, whoever read them: where none was, nothing is marked,
    and a run need not be looked through."""
    return _Met.documents


def unmarked(value: JSON) -> JSON:
    """The value in plain types."""
    return _Plain().of(value)[0]


def is_strict(value: JSON) -> bool:
    """Whether nothing in the value is marked."""
    return not _Plain().of(value)[1]


def with_mended(run: NeutralRun) -> NeutralRun:
    """The run without marks, with a note at each step that holds one; for what no step holds, one of the run."""
    plain, notes = _Plain(), list[Note]()
    steps = tuple(_unmarked(step, plain, notes, step.source, boundary_of(step)) for step in run.steps)
    said, around = {note.text for note in notes}, list[Note]()
    whole = _unmarked(run, plain, around, "", None)
    notes += [note for note in around if note.text not in said]
    return replace(whole, steps=steps, notes=(*run.notes, *notes)) if notes else run


def _unmarked(of: R, plain: _Plain, notes: list[Note], source: str, boundary: Boundary | None) -> R:
    """A step or a run with every field that is JSON in plain types."""
    changed: dict[str, JSON] = {}
    met: set[type[Any]] = set()
    for name in (field.name for field in fields(of) if field.name not in _NO_JSON):
        value, marks = plain.of(getattr(of, name))
        if marks:
            changed[name] = value
            met |= marks
    for text, cost in (_SAID[mark] for mark in _SAID if mark in met):
        notes.append(Note(kind="content_lost", source=source, text=text, cost=cost, boundary=boundary))
    return replace(of, **changed) if changed else of


class _Plain:
    """Values without marks. Messages and tools are shared by the requests of a run: each is looked at once."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[JSON, frozenset[type[Any]]]] = {}

    def of(self, value: JSON, depth: int = 0) -> tuple[JSON, frozenset[type[Any]]]:
        """(the value, the marks that it held). What held none is given back as it is."""
        if isinstance(value, str):
            mark = type(value)
            return (str(value), frozenset({mark})) if mark in _SAID else (value, _NONE)
        if not isinstance(value, dict | list | tuple) or not value:
            return value, _NONE
        if depth > _SHARED:
            return self._inside(value, depth)
        if id(value) not in self.known:
            self.known[id(value)] = self._inside(value, depth)
        return self.known[id(value)]

    def _inside(self, value: JSON, depth: int) -> tuple[JSON, frozenset[type[Any]]]:
        keys = list(value) if isinstance(value, dict) else []
        held = [self.of(item, depth + 1) for item in (value.values() if keys else value)]
        named = [self.of(key) for key in keys]
        own = {type(value)} & _SAID.keys()
        marks = _NONE.union(own, *(found for _, found in held), *(found for _, found in named))
        if not marks:
            return value, _NONE
        plain = [item for item, _ in held]
        if isinstance(value, tuple):
            return tuple(plain), marks
        return dict(zip((key for key, _ in named), plain, strict=True)) if keys else plain, marks


def _whole_characters(value: JSON) -> JSON:
    if type(value) is str and _HALF.search(value):
        return MendedText(_HALF.sub("\ufffd", value))
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        whole = {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
        return LastOfSeveral(whole) if isinstance(value, LastOfSeveral) else whole
    return value


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else LastOfSeveral(value)


def _int(literal: str) -> JSON:
    return int(literal) if len(literal) <= _MOST_DIGITS and fits(int(literal)) else KeptText(literal)


def _float(literal: str) -> JSON:
    value = float(literal) if len(literal) <= _MOST_DIGITS else math.inf
    exact = fits(value) and (repr(value) == literal or Decimal(literal) == Decimal(repr(value)))
    return value if exact else KeptText(literal)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_int=_int, parse_constant=KeptText)
