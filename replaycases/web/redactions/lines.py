"""A raw document and its redacted one as lines side by side: one for each value, in the order of the document.

Both are walked together, so that what differs is seen whatever the record of the redaction says of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from replaycases.cases import seen_spans
from replaycases.cases.seen_spans import PAGE
from replaycases.fixture.pointer import ABSENT, escape
from replaycases.redaction.leaves import text_of

JSON = Any
Sort = Literal["value", "key", "gone", "added"]
_READ: tuple[Sort, ...] = ("value", "added")


class Line(NamedTuple):
    """A value, or the name of a member (`key`). `source` and `pointer` are its places in the raw and in the redacted
    document, None on the side that lacks it; `raw` and `redacted` are what stands there."""

    sort: Sort
    page: int
    source: str | None
    pointer: str | None
    raw: JSON
    redacted: JSON

    @property
    def differs(self) -> bool:
        """1 and true are two values, and so are 1 and 1.0."""
        return type(self.raw) is not type(self.redacted) or self.raw != self.redacted


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """Which members have another name now, by their place in the raw document, and which names are shown as lines of
    their own because something was found in them, by their place in the redacted one."""

    names: Mapping[str, str] = field(default_factory=dict)
    shown: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Every line, and where the pages of `PAGE` counted values begin: texts and numbers of the redacted document are
    counted, as whoever says what was seen counts them."""

    lines: list[Line]
    pages: int

    def of_page(self, page: int) -> tuple[int, list[Line]]:
        """The lines of a page and the number of its first one."""
        numbers = [number for number, line in enumerate(self.lines) if line.page == page]
        if not numbers:
            return 0, []
        return numbers[0], self.lines[numbers[0] : numbers[-1] + 1]

    def pieces(self) -> dict[int, int]:
        """In how many pieces each text of the redacted document is read that no page shows whole, by its line."""
        texts = ((number, text_of(line.redacted)) for number, line in enumerate(self.lines) if line.sort in _READ)
        return {number: many for number, text in texts if text and (many := seen_spans.pieces(len(text)))}


def of_one(document: JSON, shown: Collection[str] = ()) -> Lines:
    """A document that has no raw side: both sides are the same."""
    return side_by_side(document, document, Renamed(shown=shown))


def side_by_side(raw: JSON, redacted: JSON, renamed: Renamed) -> Lines:
    walk = _Walk(renamed)
    walk.both(raw, redacted, "", "")
    pages = seen_spans.pages(walk.counted)
    lines = walk.lines
    last = pages - 1
    if lines and lines[-1].page > last:
        lines = [line if line.page <= last else line._replace(page=last) for line in lines]
    return Lines(lines=lines, pages=pages)


class _Walk:
    def __init__(self, renamed: Renamed) -> None:
        self._renamed = renamed
        self.lines: list[Line] = []
        self.counted = 0

    def both(self, raw: JSON, redacted: JSON, source: str, pointer: str) -> None:
        if isinstance(raw, dict) and isinstance(redacted, dict) and (raw or redacted):
            self._members(raw, redacted, source, pointer)
        elif isinstance(raw, list) and isinstance(redacted, list) and (raw or redacted):
            self._items(raw, redacted, source, pointer)
        elif type(raw) is not type(redacted) and (isinstance(raw, dict | list) or isinstance(redacted, dict | list)):
            self._gone(raw, source)
            self._added(redacted, pointer)
        else:
            self._value(raw, redacted, source, pointer)

    def _members(self, raw: dict[str, JSON], redacted: dict[str, JSON], source: str, pointer: str) -> None:
        """In the order of the redacted object; what was left out stands where it stood."""
        names = self._renamed.names
        mates: dict[str, str] = {}
        waiting: list[str] = []
        before: dict[str, list[str]] = {}
        for key in raw:
            now = names.get(f"{source}/{escape(key)}", key) if names else key
            if now in redacted:
                mates[now] = key
                if waiting:
                    before[now], waiting = waiting, []
            else:
                waiting.append(key)
        for now, value in redacted.items():
            for key in before.get(now, ()):
                self._gone(raw[key], f"{source}/{escape(key)}")
            place = f"{pointer}/{escape(now)}"
            if now not in mates:
                self._added(value, place)
                continue
            old = mates[now]
            at = f"{source}/{escape(old)}"
            if old != now or place in self._renamed.shown:
                self.lines.append(Line("key", self._page, at, place, old, now))
            was = raw[old]
            if isinstance(value, str) and isinstance(was, str):
                self.lines.append(Line("value", self.counted // PAGE, at, place, was, value))
                self.counted += 1
            else:
                self.both(was, value, at, place)
        for key in waiting:
            self._gone(raw[key], f"{source}/{escape(key)}")

    def _items(self, raw: list[JSON], redacted: list[JSON], source: str, pointer: str) -> None:
        common = min(len(raw), len(redacted))
        for index in range(common):
            self.both(raw[index], redacted[index], f"{source}/{index}", f"{pointer}/{index}")
        for index in range(common, len(raw)):
            self._gone(raw[index], f"{source}/{index}")
        for index in range(common, len(redacted)):
            self._added(redacted[index], f"{pointer}/{index}")

    def _value(self, raw: JSON, redacted: JSON, source: str, pointer: str) -> None:
        self.lines.append(Line("value", self._page, source, pointer, raw, redacted))
        self.counted += _is_counted(redacted)

    def _gone(self, raw: JSON, source: str) -> None:
        self.lines.append(Line("gone", self._page, source, None, raw, ABSENT))

    def _added(self, redacted: JSON, pointer: str) -> None:
        """What nobody recorded is read value by value too."""
        if isinstance(redacted, dict) and redacted:
            for key, value in redacted.items():
                self._added(value, f"{pointer}/{escape(key)}")
        elif isinstance(redacted, list) and redacted:
            for index, value in enumerate(redacted):
                self._added(value, f"{pointer}/{index}")
        else:
            self.lines.append(Line("added", self._page, None, pointer, ABSENT, redacted))
            self.counted += _is_counted(redacted)

    @property
    def _page(self) -> int:
        return self.counted // PAGE


def _is_counted(value: JSON) -> bool:
    return isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool))
