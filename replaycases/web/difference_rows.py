"""The differences of two fixture documents as a table that reads old | what happened | new, event by event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.difference import Difference, aligned, differences
from replaycases.fixture.pointer import ABSENT, join, leaves
from replaycases.web import document_rows, words
from replaycases.web.document_rows import EVENTS, Part
from replaycases.web.rows import Cell, Kind, Row, compared

JSON = Any
_KINDS: Mapping[str, Kind] = {"changed": "changed", "removed": "only_old", "added": "only_new"}
WORDS: Mapping[Kind, str] = {"changed": "changed", "only_old": "removed", "only_new": "added"}


@dataclass(frozen=True, kw_only=True)
class DifferentPart:
    """A part of the documents that differs. `equal` counts its values that do not, `before` the parts between it and
    the one before it that are equal as a whole. `place` is its pointer in the new document, "" if it is not there."""

    part: Part
    found: tuple[Difference, ...]
    equal: int
    before: int
    place: str


@dataclass(frozen=True, kw_only=True)
class Place:
    """One difference, of which `row` is what a page shows. `pointer` is the place in the new document."""

    of: DifferentPart
    difference: Difference
    name: str
    pointer: str

    @property
    def word(self) -> str:
        return WORDS[_KINDS[self.difference.kind]]

    @property
    def row(self) -> Row:
        found = self.difference
        if found.kind == "changed":
            old, new = _texts(found.old, found.new)
            return compared(self.name, old, new)
        there = Cell(text=words.whole(document_rows.told(found.old if found.new is ABSENT else found.new)))
        hole = Cell(hole="not there")
        old_side, new_side = (there, hole) if found.kind == "removed" else (hole, there)
        return Row(name=self.name, kind=_KINDS[found.kind], old=old_side, new=new_side)


@dataclass(frozen=True, kw_only=True)
class Differences:
    """`after` counts the equal parts after the last different one; `equal_parts` are all of them."""

    parts: tuple[DifferentPart, ...]
    after: int
    equal_parts: int

    @property
    def count(self) -> int:
        return sum(len(part.found) for part in self.parts)

    def places(self) -> list[Place]:
        return [_place(part, difference) for part in self.parts for difference in part.found]


def compare(old: Mapping[str, JSON], new: Mapping[str, JSON]) -> Differences:
    """Both documents, part by part; events are aligned first."""
    found: list[DifferentPart] = []
    equal = run = 0
    for part, before, after in _paired(old, new):
        differing = _differing(before, after)
        if differing:
            same = _size(after) - sum(_size(difference.new) for difference in differing)
            place = "" if after is ABSENT else part.pointer
            found.append(DifferentPart(part=part, found=differing, equal=max(0, same), before=run, place=place))
        run = 0 if differing else run + 1
        equal += not differing
    return Differences(parts=tuple(found), after=run, equal_parts=equal)


def _differing(before: JSON, after: JSON) -> tuple[Difference, ...]:
    if before is ABSENT:
        return (Difference(pointer="", kind="added", old=ABSENT, new=after, old_pointer=""),)
    if after is ABSENT:
        return (Difference(pointer="", kind="removed", old=before, new=ABSENT, old_pointer=""),)
    return tuple(differences(before, after))


def _size(value: JSON) -> int:
    return 0 if value is ABSENT else sum(1 for _ in leaves(value))


def _place(of: DifferentPart, difference: Difference) -> Place:
    name = difference.pointer.removeprefix("/") or ("the whole event" if _is_event(of.part) else "the whole of it")
    is_there = difference.kind != "removed" and bool(of.place or of.part.pointer == "")
    return Place(of=of, difference=difference, name=name, pointer=of.place + difference.pointer if is_there else "")


def _is_event(part: Part) -> bool:
    return part.pointer.rpartition("/")[0].removeprefix("/") in EVENTS


def _texts(old: JSON, new: JSON) -> tuple[str, str]:
    if isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        return old, new
    left, right = words.as_texts(old, new)
    return left, right


def _paired(old: Mapping[str, JSON], new: Mapping[str, JSON]) -> Iterator[tuple[Part, JSON, JSON]]:
    """Every part of either with both its values, ABSENT where one has none."""
    keys = [*new, *(key for key in old if key not in new)]
    plain = [key for key in keys if not any(isinstance(side.get(key), dict | list) for side in (old, new))]
    head = [{key: side[key] for key in plain if key in side} for side in (old, new)]
    yield Part(pointer="", title="Head"), head[0], head[1]
    for key in keys:
        if key in EVENTS and key not in plain:
            yield from _events(key, old.get(key, []), new.get(key, []))
        elif key not in plain:
            part = Part(pointer=join("", key), title=document_rows.title_of(key))
            yield part, old.get(key, ABSENT), new.get(key, ABSENT)


def _events(key: str, old: list[JSON], new: list[JSON]) -> Iterator[tuple[Part, JSON, JSON]]:
    i = j = 0
    for left, right in (*aligned(old, new), (len(old), len(new))):
        yield from ((document_rows.event_part(key, k, old[k]), old[k], ABSENT) for k in range(i, left))
        yield from ((document_rows.event_part(key, k, new[k]), ABSENT, new[k]) for k in range(j, right))
        if left < len(old):
            yield document_rows.event_part(key, right, new[right]), old[left], new[right]
        i, j = left + 1, right + 1
