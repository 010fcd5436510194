"""Which of several hits on the same characters counts: one value is replaced once."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from replaycases.redaction.places import Kind
from replaycases.redaction.scan import Found
from replaycases.redaction.views.view import View

_PRECEDENCE: tuple[Kind, ...] = (
    "secret",
    "card",
    "iban",
    "ssn",
    "email",
    "uuid",
    "ip",
    "phone",
    "text",
    "person",
    "username",
    "organisation",
    "address",
    "date",
    "id",
    "url",
    "opaque_id",
)
RANK = {kind: place for place, kind in enumerate(_PRECEDENCE)}
"""Of two kinds for one value the one with the lower rank counts: what can be checked before what a field says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """One value to be replaced: the hit that names it, and others that cover some of the same characters."""

    found: Found
    covered: tuple[Found, ...] = ()


def settle(found: Iterable[Found]) -> list[Value]:
    """The values behind the hits, in the order of the document. Longer hits cover shorter ones, also across views."""
    by_leaf: dict[tuple[str, bool], list[Found]] = defaultdict(list)
    for one in found:
        by_leaf[one.leaf.address].append(one)
    return [value for hits in by_leaf.values() for value in _in_leaf(hits)]


def _in_leaf(hits: list[Found]) -> Iterator[Value]:
    by_ground: dict[View, list[tuple[int, int, Found]]] = defaultdict(list)
    for one in hits:
        ground, start, end = on_ground(one.view, one.hit.start, one.hit.end)
        by_ground[ground].append((start, end, one))
    taken: dict[View, list[tuple[int, int]]] = defaultdict(list)
    for ground in sorted(by_ground, key=lambda view: view.depth):
        if _is_taken(ground, taken):
            continue
        for start, end, value in _apart(by_ground[ground]):
            taken[ground].append((start, end))
            yield value


def on_ground(view: View, start: int, end: int) -> tuple[View, int, int]:
    """The span in the text that the view was decoded from character by character: that of a block, or the raw one."""
    while view.units is not None and view.parent is not None:
        start, end = view.in_parent(start, end)
        view = view.parent
    return view, start, end


def grounds(view: View, start: int, end: int) -> Iterator[tuple[View, int, int]]:
    """The span on its ground, then that of the block it lies in, and so on out to the raw text."""
    ground, start, end = on_ground(view, start, end)
    yield ground, start, end
    if ground.parent is not None:
        yield from grounds(ground.parent, ground.start, ground.end)


def _is_taken(ground: View, taken: dict[View, list[tuple[int, int]]]) -> bool:
    """Whether a value that is replaced in a text further out covers the block that this text was read from."""
    while ground.parent is not None:
        outer, start, end = on_ground(ground.parent, ground.start, ground.end)
        spans = taken[outer]
        at = bisect_left(spans, (end, 0))
        if at > 0 and start < spans[at - 1][1]:
            return True
        ground = outer
    return False


def _apart(hits: list[tuple[int, int, Found]]) -> Iterator[tuple[int, int, Value]]:
    """Groups of hits that overlap, as one value each."""
    group: list[tuple[int, int, Found]] = []
    reach = 0
    for start, end, one in sorted(hits, key=lambda row: (row[0], row[1])):
        if group and start >= reach:
            yield _one_of(group, reach)
            group = []
        reach = max(reach, end) if group else end
        group.append((start, end, one))
    if group:
        yield _one_of(group, reach)


def _one_of(group: list[tuple[int, int, Found]], reach: int) -> tuple[int, int, Value]:
    """What a person marked counts before all else, then the longest hit."""

    def weight(row: tuple[int, int, Found]) -> tuple[bool, int, bool, int, int]:
        start, end, one = row
        return not one.is_by_hand, start - end, one.hit.certainty == "suggested", RANK[one.hit.kind], one.view.depth

    rows = sorted(group, key=weight)
    return group[0][0], reach, Value(found=rows[0][2], covered=tuple(row[2] for row in rows[1:]))
