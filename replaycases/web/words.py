"""Which words of two texts differ, and how much of a long text a page shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

SHOWN = 4_000
LINE = 60
LEAD = 200
# Characters of a text that stand in a cell of a table; the rest is opened.
BRIEF = 600
BRIEF_LEAD = 120
MOST_WORDS = 3_000
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class Segment:
    """`mark` is by which one it is marked, "" for that of its side."""

    text: str
    marked: bool = False
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The segments of a text as a page shows it. `cut` is the text's whole length if it is not shown whole, else 0;
    `skipped` is how many characters stand before what is shown."""

    segments: tuple[Segment, ...]
    cut: int = 0
    skipped: int = 0

    @property
    def length(self) -> int:
        return sum(len(segment.text) for segment in self.segments)

    @property
    def marks(self) -> int:
        return sum(segment.marked for segment in self.segments)


def brief(text: Shown) -> Shown | None:
    """What a cell shows of a long text at first: its beginning, or what stands around the first mark. None for a text
    that is short enough to stand there whole."""
    if text.length <= BRIEF * 3 // 2:
        return None
    before = "".join(segment.text for segment in takewhile(lambda segment: not segment.marked, text.segments))
    start = min(max(0, len(before) - BRIEF_LEAD), text.length - BRIEF) if text.marks else 0
    segments = tuple(_window(text.segments, start, start + BRIEF))
    return Shown(segments=segments, cut=text.cut or text.length, skipped=text.skipped + start)


def _window(segments: Sequence[Segment], start: int, end: int) -> Iterator[Segment]:
    at = 0
    for segment in segments:
        part = segment.text[max(0, start - at) : max(0, end - at)]
        if part:
            yield replace(segment, text=part)
        at += len(segment.text)


def whole(text: str) -> Shown:
    """One text with nothing to compare it to."""
    return _shown(text, [], start=0)


def differing(old: str, new: str) -> tuple[Shown, Shown]:
    """Both texts with the words marked that the other lacks, each cut to a window that holds the first difference."""
    start = max(0, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))) - LEAD)
    if max(len(old), len(new)) - start <= SHOWN:
        start = 0
    left, right = old[start : start + SHOWN], new[start : start + SHOWN]
    marks_old, marks_new = _marks(left, right)
    return _shown(old, marks_old, start=start), _shown(new, marks_new, start=start)


def as_text(value: Any) -> str:
    """A JSON value for reading: on one line where that is short, else indented. Strings keep their quotes."""
    return as_texts(value)[0]


def as_texts(*values: Any) -> tuple[str, ...]:
    """JSON values for reading side by side: all on one line, or all indented, so that only what differs is marked."""
    lines = tuple(json.dumps(value, ensure_ascii=False) for value in values)
    if max(map(len, lines)) <= LINE:
        return lines
    return tuple(json.dumps(value, ensure_ascii=False, indent=2) for value in values)


Spans = list[tuple[int, int]]


def _marks(old: str, new: str) -> tuple[Spans, Spans]:
    """Character spans that differ. Texts of more words than can be compared in good time differ as a whole."""
    words = _WORD.findall(old), _WORD.findall(new)
    if max(map(len, words)) > MOST_WORDS:
        return [(0, len(old))], [(0, len(new))]
    places = [_places(side) for side in words]
    marks: tuple[Spans, Spans] = [], []
    for tag, i, j, k, m in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        if tag != "equal":
            marks[0].append((places[0][i], places[0][j]))
            marks[1].append((places[1][k], places[1][m]))
    return _joined(old, marks[0]), _joined(new, marks[1])


def _joined(text: str, spans: Spans) -> Spans:
    """Neighbouring spans as one where only white space lies between them, so that a phrase is marked whole; and no
    white space at their edges."""
    joined: Spans = []
    for begin, end in spans:
        if joined and not text[joined[-1][1] : begin].strip():
            joined[-1] = (joined[-1][0], end)
        elif begin != end:
            joined.append((begin, end))
    return [_trimmed(text, *span) for span in joined]


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int]:
    """Without white space at the edges; a span of nothing else stays, or the difference would not show."""
    part = text[begin:end]
    if not part.strip():
        return begin, end
    return begin + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def _places(words: list[str]) -> list[int]:
    places = [0]
    for word in words:
        places.append(places[-1] + len(word))
    return places


def _shown(text: str, marks: Spans, *, start: int) -> Shown:
    part = text[start : start + SHOWN]
    segments, at = [], 0
    for begin, end in marks:
        segments += [Segment(text=part[at:begin]), Segment(text=part[begin:end], marked=True)]
        at = end
    segments.append(Segment(text=part[at:]))
    is_cut = len(part) < len(text)
    return Shown(
        segments=tuple(segment for segment in segments if segment.text),
        cut=len(text) if is_cut else 0,
        skipped=start if is_cut else 0,
    )
