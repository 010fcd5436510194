"""One decoded reading of a string, and how it lies in the text that it was decoded from."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Units:
    """Where an aligned decoding put other characters than it read.

    Between units a character stands for itself. A unit reads `source_length` characters and gives `view_length`, which
    is 0 for what the view leaves out. Kept as flat arrays: a text may hold a unit for every character.
    """

    __slots__ = ("_source_ends", "_source_starts", "_view_ends", "_view_starts")

    def __init__(self) -> None:
        self._view_starts = array("L")
        self._view_ends = array("L")
        self._source_starts = array("L")
        self._source_ends = array("L")

    def add(self, *, view: int, view_length: int, source: int, source_length: int) -> None:
        """Adds a unit after the ones that are there. Positions count from the start of the decoded region."""
        self._view_starts.append(view)
        self._view_ends.append(view + view_length)
        self._source_starts.append(source)
        self._source_ends.append(source + source_length)

    def __len__(self) -> int:
        return len(self._view_starts)

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the source that the view's span `start` to `end` (not empty) was read from.

        A span that begins or ends within a unit covers all of it: half an escape cannot be replaced.
        """
        return self._source_of(start)[0], self._source_of(end - 1)[1]

    def _source_of(self, position: int) -> tuple[int, int]:
        unit = bisect_right(self._view_starts, position) - 1
        if unit >= 0 and position < self._view_ends[unit]:
            return self._source_starts[unit], self._source_ends[unit]
        shift = self._source_ends[unit] - self._view_ends[unit] if unit >= 0 else 0
        return position + shift, position + shift + 1


NO_UNITS = Units()
"""For a view in which every character stands for itself."""


class Encoding(Protocol):
    """How a replacement is written back into the text that a view was decoded from."""

    def __call__(self, replacement: str, source: str) -> str:
        """`replacement` in the style of `source`, the encoded text whose place it takes."""


@dataclass(kw_only=True, slots=True, eq=False)
class View:
    """A text and where it comes from; the root of a tree of views is the raw text itself.

    `name` identifies the decoding among its siblings: `percent`, `json:/a/0`, `base64@120`. `keys` are the member names
    on the way to it inside nested JSON, outermost first, and `named` what the value is called there beside them.
    `start` and `end` are the span of the parent's text that was decoded. An aligned view has `units`, and each of its
    spans has a place in the parent's text; a block (base64, hex) has none and is encoded whole; where what it holds may
    as well be no text it is not `is_clean`. `readings` are the texts that were already read of the same characters: two
    decodings in either order give one text, and it is read once.
    """

    text: str = field(repr=False)
    parent: View | None = None
    name: str = ""
    keys: tuple[str, ...] = field(default=(), repr=False)
    named: str = field(default="", repr=False)
    in_key: bool = False
    start: int = 0
    end: int = 0
    units: Units | None = field(default=None, repr=False)
    encode: Encoding | None = field(default=None, repr=False)
    is_number: bool = False
    is_clean: bool = True
    children: Sequence[View] = field(default=(), repr=False)
    readings: set[str] | None = field(default=None, repr=False)
    spans: list[tuple[int, int]] | None = field(default=None, repr=False)

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the decodings from the raw text to here, outermost first."""
        return () if self.parent is None else (*self.parent.path, self.name)

    @property
    def depth(self) -> int:
        """How many decodings lie between the raw text and this view."""
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The spans of the text that hold other texts whole, for certain, apart and in order."""
        if self.spans is None:
            self.spans = []
            for start, end in sorted(
                (child.start, child.end) for child in self.children if child.units is None and child.is_clean
            ):
                if self.spans and start < self.spans[-1][1]:
                    start, end = self.spans[-1][0], max(end, self.spans.pop()[1])
                self.spans.append((start, end))
        return self.spans

    @property
    def is_structure(self) -> bool:
        """Whether the text is JSON, whose members are the views below it."""
        return bool(self.children) and self.children[0].name.startswith("json")

    def walk(self) -> Iterator[View]:
        """This view and all below it, parents first."""
        yield self
        waiting = list(reversed(self.children)) if self.children else None
        while waiting:
            view = waiting.pop()
            yield view
            if view.children:
                waiting.extend(reversed(view.children))

    def in_parent(self, start: int, end: int) -> tuple[int, int]:
        """The span of the parent's text that holds the span `start` to `end` (not empty) of this view."""
        if self.units is None:
            return self.start, self.end
        first, last = self.units.source_span(start, end)
        return self.start + first, self.start + last
