"""Where in the lines of a redaction its changed spans, its open findings and its pages are, by the numbers under which
a reviewer has seen them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from replaycases.cases import seen_spans
from replaycases.redaction.changes import Change, Seam
from replaycases.redaction.record import Open, Record
from replaycases.web.redactions.lines import Line, Lines, Renamed

Address = tuple[str, bool]


@dataclass(frozen=True, kw_only=True)
class Span:
    """A replaced span. `seam` is None for a member that a person left out."""

    number: int
    change: Change
    seam: Seam | None


@dataclass(frozen=True, kw_only=True)
class OpenAt:
    """An open finding; `number` is the one under which it is seen, `index` its place in the record."""

    number: int
    index: int
    one: Open


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Of one redaction, by where they stand. `key` is that by which values of findings are known, b"" without one.
    `pieces` are the numbers under which the pieces of a long text are seen, by its line; none for a redaction from
    before they were counted."""

    record: Record
    changed: Mapping[Address, Sequence[Span]] = field(repr=False)
    gone: Mapping[str, Span] = field(repr=False)
    open: Mapping[Address, Sequence[OpenAt]] = field(repr=False)
    key: bytes = field(default=b"", repr=False)
    pieces: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def of_line(self, line: Line) -> Sequence[Span]:
        if line.sort == "gone":
            found = self.gone.get(line.source or "")
            return (found,) if found else ()
        return self.changed.get((line.pointer or "", line.sort == "key"), ()) if line.pointer is not None else ()

    def open_at(self, line: Line) -> Sequence[OpenAt]:
        """By its place in the redacted document, else by that in the raw one, from which a suggestion may come."""
        in_key = line.sort == "key"
        places = dict.fromkeys(place for place in (line.pointer, line.source) if place is not None)
        return next((found for place in places if (found := self.open.get((place, in_key)))), ())

    def page(self, number: int) -> int:
        """The number under which a page of values is seen."""
        return seen_spans.first_page(self.record) + number

    def piece_of(self, number: int) -> tuple[int, int] | None:
        """The line, and the part of its text from 1, that is seen under a number; None where that is no such piece."""
        found = ((line, numbers.index(number) + 1) for line, numbers in self.pieces.items() if number in numbers)
        return next(found, None)

    def renamed(self) -> Renamed:
        named = {change.source: change.pointer for change in self.record.changes if change.in_key and change.pointer}
        return Renamed(
            names={source: _name(pointer) for source, pointer in named.items()},
            shown={one.place.pointer for one in self.record.open if one.place.in_key},
        )


def of(record: Record, key: bytes = b"") -> Spans:
    changed: defaultdict[Address, list[Span]] = defaultdict(list)
    gone: dict[str, Span] = {}
    for span in _numbered(record):
        change = span.change
        if change.pointer is None or span.seam is None:
            gone[change.source] = span
        else:
            changed[change.pointer, change.in_key].append(span)
    found: defaultdict[Address, list[OpenAt]] = defaultdict(list)
    first = seen_spans.first_open(record)
    for index, one in enumerate(record.open):
        found[one.place.pointer, one.place.in_key].append(OpenAt(number=first + index, index=index, one=one))
    return Spans(record=record, changed=changed, gone=gone, open=found, key=key)


def pieces(record: Record, lines: Lines, all_of_it: int) -> dict[int, Sequence[int]]:
    """`Spans.pieces`. `all_of_it` is how many places the redaction has."""
    many, first = lines.pieces(), seen_spans.first_page(record) + lines.pages
    if first + sum(many.values()) != all_of_it:
        return {}
    ends = list(accumulate(many.values(), initial=first))
    return {line: range(start, end) for line, (start, end) in zip(many, pairwise(ends), strict=True)}


def span_of(record: Record, number: int) -> Span | None:
    """The changed span of that number."""
    return next((span for span in _numbered(record) if span.number == number), None)


def addresses(record: Record) -> Iterator[tuple[int, Address]]:
    """Every changed span and open finding by its number, with where it stands: what was left out in the raw document,
    all else in the redacted one."""
    for span in _numbered(record):
        pointer = span.change.source if span.change.pointer is None else span.change.pointer
        yield span.number, (pointer, span.change.in_key)
    first = seen_spans.first_open(record)
    for index, one in enumerate(record.open):
        yield first + index, (one.place.pointer, one.place.in_key)


def places(lines: Lines, wanted: Mapping[int, Address]) -> dict[int, int]:
    """The line of each of these numbers. What stands at no place of the redacted document is looked for in the raw one,
    from which a suggestion may come."""
    now: dict[Address, int] = {}
    before: dict[Address, int] = {}
    pointers = {pointer for pointer, _ in wanted.values()}
    for number, line in enumerate(lines.lines):
        if line.pointer in pointers:
            now.setdefault((line.pointer or "", line.sort == "key"), number)
        elif line.source in pointers:
            before.setdefault((line.source or "", line.sort == "key"), number)
    found = {number: now.get(address, before.get(address)) for number, address in wanted.items()}
    return {number: line for number, line in found.items() if line is not None}


def _numbered(record: Record) -> Iterator[Span]:
    number = 0
    for change in record.changes:
        for seam in change.seams or (None,):
            yield Span(number=number, change=change, seam=seam)
            number += 1


def _name(pointer: str) -> str:
    return pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
