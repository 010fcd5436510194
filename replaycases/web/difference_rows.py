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
    """A part of the documents that differs. `equal` counts its values that do not, None where one side lacks the part;
    `before` the parts between it and the one before it that are equal as a whole, `renumbered` the events between them
    that only have another number. `place` is its pointer in the new document, "" if it is not there."""

    part: Part
    found: tuple[Difference, ...]
    equal: int | None
    before: int
    renumbered: int
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
    """`after` and `renumbered_after` count what is folded after the last different part; `equal_parts` and `renumbered`
    all of it."""

    parts: tuple[DifferentPart, ...]
    after: int
    renumbered_after: int
    equal_parts: int
    renumbered: int

    @property
    def count(self) -> int:
        return sum(len(part.found) for part in self.parts)

    def places(self) -> list[Place]:
        return [_place(part, difference) for part in self.parts for difference in part.found]


def compare(old: Mapping[str, JSON], new: Mapping[str, JSON]) -> Differences:
    """Both documents, part by part; events are aligned first."""
    found: list[DifferentPart] = []
    folded, every = [0, 0], [0, 0]
    for part, before, after in _paired(old, new):
        differing = _differing(before, after)
        if part.is_event and [difference.pointer for difference in differing] == ["/seq"]:
            folded[1], every[1] = folded[1] + 1, every[1] + 1
        elif not differing:
            folded[0], every[0] = folded[0] + 1, every[0] + 1
        else:
            found.append(_different(part, before, after, differing, folded))
            folded = [0, 0]
    return Differences(
        parts=tuple(found),
        after=folded[0],
        renumbered_after=folded[1],
        equal_parts=every[0],
        renumbered=every[1],
    )


def _different(
    part: Part, before: JSON, after: JSON, differing: tuple[Difference, ...], folded: list[int]
) -> DifferentPart:
    both = before is not ABSENT and after is not ABSENT
    same = _size(after) - sum(_size(difference.new) for difference in differing)
    return DifferentPart(
        part=part,
        found=differing,
        equal=max(0, same) if both else None,
        before=folded[0],
        renumbered=folded[1],
        place="" if after is ABSENT else part.pointer,
    )


def _differing(before: JSON, after: JSON) -> tuple[Difference, ...]:
    if before is ABSENT:
        return (Difference(pointer="", kind="added", old=ABSENT, new=after, old_pointer=""),)
    if after is ABSENT:
        return (Difference(pointer="", kind="removed", old=before, new=ABSENT, old_pointer=""),)
    return tuple(differences(before, after))


def _size(value: JSON) -> int:
    return 0 if value is ABSENT else sum(1 for _ in leaves(value))


def _place(of: DifferentPart, difference: Difference) -> Place:
    name = difference.pointer.removeprefix("/") or ("the whole event" if of.part.is_event else "the whole of it")
    is_there = difference.kind != "removed" and bool(of.place or of.part.pointer == "")
    return Place(of=of, difference=difference, name=name, pointer=of.place + difference.pointer if is_there else "")


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
