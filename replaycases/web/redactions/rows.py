"""One page of a redaction as rows to read: raw | what happened | redacted, with equal stretches folded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from replaycases.cases.seen_spans import SHOWN
from replaycases.fixture.pointer import split
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.leaves import text_of
from replaycases.redaction.placed import UNFIT
from replaycases.web import document_rows
from replaycases.web.document_rows import EVENTS, Part
from replaycases.web.redactions import marked, told
from replaycases.web.redactions.lines import Line
from replaycases.web.redactions.marked import Marks
from replaycases.web.redactions.spans import OpenAt, Span, Spans
from replaycases.web.words import Segment, Shown

JSON = Any
FEWEST = 3
"""Fewer equal values than this are not worth a fold."""
LEAD = 200
_WORDS = {"key": ("~", "renamed"), "gone": ("−", "left out"), "added": ("+", "added")}


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A changed span or an open finding of a row, as it stands in the seam. `name` is that of the kind, `kind` its
    word."""

    number: int
    kind: str
    detector: str
    certainty: str
    path: str
    seen: bool
    name: str = ""
    is_open: bool = False

    @property
    def text_number(self) -> str:
        return str(self.number)


@dataclass(frozen=True, kw_only=True)
class Row:
    """`raw` and `redacted` are what each side shows, None where it has nothing and `hole` says why. `cut`: not all of
    it is shown here; `unread`: and nobody said that the whole of it was."""

    number: int
    name: str
    css: str
    sign: str
    word: str
    raw: Shown | None
    redacted: Shown | None
    hole: str = ""
    marks: tuple[Mark, ...] = ()
    cut: bool = False
    unread: bool = False

    @property
    def sides(self) -> tuple[str, str]:
        """By which marks each side is marked: what was found there and stands is neither old nor new."""
        return ("f", "f") if self.css == "opn" else ("o", "n")

    @property
    def all_seen(self) -> bool:
        return all(mark.seen for mark in self.marks)

    @property
    def unseen(self) -> str:
        """The numbers of what nobody said was seen, as the form sends them."""
        return numbered(mark.number for mark in self.marks if not mark.seen)


@dataclass(frozen=True, kw_only=True)
class Fold:
    """`count` equal values in a row, from line `first` on."""

    first: int
    count: int


@dataclass(frozen=True, kw_only=True)
class Heading:
    part: Part


@dataclass(kw_only=True)
class PageOfRows:
    """What a page shows. `unseen` are the numbers of what is to be seen on it and was not; `folded` how many values are
    not shown."""

    items: list[Heading | Fold | Row] = field(default_factory=list)
    unseen: list[int] = field(default_factory=list)
    changes: int = 0
    folded: int = 0


def of_page(
    first: int,
    lines: Sequence[Line],
    document: JSON,
    spans: Spans,
    seen: Collection[int],
    *,
    whole: bool,
    opened: int | None = None,
) -> PageOfRows:
    """`first` is the number of the first line. `whole`: nothing is folded; `opened` is the first line of a fold that
    is."""
    page = PageOfRows()
    part: Part | None = None
    for start, end in _stretches(first, lines, spans):
        stretch = lines[start - first : end - first]
        if not whole and start != opened and end - start >= FEWEST and _is_equal(stretch[0], spans):
            page.items.append(Fold(first=start, count=end - start))
            page.folded += end - start
            continue
        for number, line in enumerate(stretch, start):
            now = part_of(line, document)
            if now != part:
                page.items.append(Heading(part=now))
                part = now
            row = row_of(number, line, spans, seen, part=now)
            page.items.append(row)
            page.changes += row.css == "chg"
            page.unseen += [mark.number for mark in row.marks if not mark.seen]
    return page


def row_of(number: int, line: Line, spans: Spans, seen: Collection[int], *, part: Part | None = None) -> Row:
    changed, opened = spans.of_line(line), spans.open_at(line)
    marks = (*(_mark(span, seen) for span in changed), *(_open(one, seen) for one in opened))
    sign, word = _WORDS.get(line.sort, ("~", "replaced") if changed else ("~", "changed"))
    if line.sort == "value" and not line.differs and not changed:
        sign, word = ("!", "to decide") if opened else ("=", "equal")
    raw, redacted = _sides(line, changed, opened, spans.key)
    css = "chg" if line.differs or changed else "opn" if opened else ""
    hole = "Left out by a rule" if line.sort == "gone" else "Not in the raw revision"
    return Row(
        number=number,
        name=_name(line, part),
        css=css,
        sign=sign,
        word=word,
        raw=raw,
        redacted=redacted,
        hole=hole if raw is None or redacted is None else "",
        marks=marks,
        cut=any(side is not None and side.cut for side in (raw, redacted)),
        unread=any(piece not in seen for piece in spans.pieces.get(number, ())),
    )


def numbered(numbers: Iterable[int]) -> str:
    """As a form sends them: "3,7-9"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def text_at(value: JSON) -> str:
    """What a line shows of a value, and what its spans are counted in: a text is its own characters."""
    found = text_of(value)
    return document_rows.told(value) if found is None else found or '""'


def segments(text: str, marks: Iterable[tuple[int, int, str]], start: int, end: int) -> tuple[Segment, ...]:
    """The characters from `start` to `end` with the marked spans among them."""
    found: list[Segment] = []
    at = start
    for begin, stop, mark in marks:
        begin, stop = max(begin, at), min(stop, end)
        if begin < stop:
            found += [Segment(text=text[at:begin]), Segment(text=text[begin:stop], marked=True, mark=mark)]
            at = stop
    found.append(Segment(text=text[at:end]))
    return tuple(segment for segment in found if segment.text)


def _sides(
    line: Line, changed: Sequence[Span], opened: Sequence[OpenAt], key: bytes
) -> tuple[Shown | None, Shown | None]:
    seams = any(span.seam is not None for span in changed)
    if line.sort == "gone":
        return _shown(text_at(line.raw), [], whole=True), None
    if line.sort == "added":
        return None, _shown(text_at(line.redacted), [], whole=True)
    raw, redacted = text_at(line.raw), text_at(line.redacted)
    if opened and not line.differs:
        both = _shown(raw, marked.of_equal(raw, opened), whole=False)
        return both, both
    old, new = marked.of_sides(raw, redacted, changed, opened, key)
    return _shown(raw, old, whole=line.differs and not seams), _shown(redacted, new, whole=line.differs and not seams)


def _shown(text: str, marks: Marks, *, whole: bool) -> Shown:
    """`whole`: all of it is marked. A long text is cut to what stands around its first mark."""
    spans = [(0, len(text), "")] if whole else marks
    start = max(0, spans[0][0] - LEAD) if spans and len(text) > SHOWN else 0
    end = min(len(text), start + SHOWN)
    cut = len(text) if end - start < len(text) else 0
    return Shown(segments=segments(text, spans, start, end), cut=cut, skipped=start if cut else 0)


def _stretches(first: int, lines: Sequence[Line], spans: Spans) -> Iterator[tuple[int, int]]:
    """Runs of lines that are all equal, and all others one by one, as numbers from and to."""
    start: int | None = None
    for number, line in enumerate(lines, first):
        if _is_equal(line, spans):
            start = number if start is None else start
            continue
        if start is not None:
            yield start, number
            start = None
        yield number, number + 1
    if start is not None:
        yield start, first + len(lines)


def _is_equal(line: Line, spans: Spans) -> bool:
    return line.sort == "value" and not line.differs and not spans.of_line(line) and not spans.open_at(line)


def _mark(span: Span, seen: Collection[int]) -> Mark:
    seam = span.seam
    return Mark(
        number=span.number,
        kind=kind_word(seam.kind) if seam else "left out",
        detector=seam.detector if seam else "",
        certainty=told.CERTAINTIES.get(seam.certainty, "") if seam else "",
        path=told.path(seam.path) if seam else "",
        seen=span.number in seen,
        name=seam.kind if seam else "",
    )


def _open(at: OpenAt, seen: Collection[int]) -> Mark:
    one = at.one
    return Mark(
        number=at.number,
        kind=kind_word(one.kind) if one.detector != UNFIT else "a rule that was not carried out",
        detector=one.detector,
        certainty=told.CERTAINTIES.get(one.certainty, ""),
        path=told.path(one.place.path),
        seen=at.number in seen,
        name=one.kind,
        is_open=True,
    )


def part_of(line: Line, document: JSON) -> Part:
    """The part of the redacted document that the line stands in."""
    pointer = line.pointer if line.pointer is not None else line.source or ""
    steps = split(pointer)
    if not steps:
        return Part(pointer="", title="Head")
    top = document.get(steps[0]) if isinstance(document, dict) else None
    if steps[0] in EVENTS and isinstance(top, list) and len(steps) > 1 and int(steps[1]) < len(top):
        return document_rows.event_part(steps[0], int(steps[1]), top[int(steps[1])])
    if len(steps) == 1 and not isinstance(top, dict | list):
        return Part(pointer="", title="Head")
    return Part(pointer="/" + pointer.split("/")[1], title=document_rows.title_of(steps[0]))


def _name(line: Line, part: Part | None) -> str:
    pointer = line.pointer if line.pointer is not None else line.source or ""
    name = pointer.removeprefix(part.pointer).removeprefix("/") if part else pointer
    return f"name of {name}" if line.sort == "key" else name or pointer
