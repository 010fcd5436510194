"""One value of a redaction, whole, with every reading of it and what can be decided of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from replaycases.cases import redaction_rows, seen_spans
from replaycases.cases.available import available_actions
from replaycases.cases.models import Case
from replaycases.cases.seen_spans import PIECE
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.views.tree import read as read_views
from replaycases.web import raw_reading, revision_page
from replaycases.web.redactions import loading, marked, page, pointing, rows, told
from replaycases.web.redactions.lines import Line
from replaycases.web.redactions.loading import Read
from replaycases.web.redactions.marked import Marks
from replaycases.web.redactions.rows import segments
from replaycases.web.redactions.spans import Span
from replaycases.web.scope import user_of
from replaycases.web.words import Shown

READINGS = 20
READ_SHOWN = 2_000
OTHERS = 200


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A text that was decoded from the value. `cut` is its whole length where not all of it is shown."""

    path: str
    text: str
    cut: int


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A replaced span to choose from, by its number."""

    number: int
    label: str


def render_value(
    request: HttpRequest, case: Case, number: int, *, refused: ValidationError | None = None
) -> HttpResponse:
    if case.current_revision is None:
        raise Http404
    user = user_of(request)
    sides = loading.sides_of(loading.current(case))
    raw = raw_reading.of(request, *sides.both, back=page.address(case))
    context: dict[str, Any] = {
        **revision_page.docket_of(case, "review"),
        "sides": sides,
        "raw": raw,
        "number": number,
        "refused": refused.messages if refused is not None else [],
        "said": request.POST.dict() if refused is not None else {},
        "actions": {one.name: one for one in available_actions(case, user, only={"redact"})},
    }
    if raw.open:
        redaction = redaction_rows.newest(sides.revision)
        read = loading.read(sides, redaction)
        if number >= len(read.lines.lines):
            raise Http404
        seen = seen_spans.of(user, redaction) if redaction is not None else frozenset()
        context |= {"redaction": redaction, **_value(request, case, read, number, seen)}
    return render(request, "redactions/value.html", context, status=422 if refused is not None else 200)


def _value(request: HttpRequest, case: Case, read: Read, number: int, seen: frozenset[int]) -> dict[str, Any]:
    line = read.lines.lines[number]
    changed = read.spans.of_line(line)
    row = rows.row_of(number, line, read.spans, seen, part=rows.part_of(line, read.document))
    raw_text = "" if line.source is None else rows.text_at(line.raw)
    redacted_text = "" if line.pointer is None else rows.text_at(line.redacted)
    longest = max(len(raw_text), len(redacted_text))
    part = Paginator(range(max(1, -(-longest // PIECE))), 1).get_page(request.GET.get("part"))
    pieces = read.spans.pieces.get(number, ())
    source = read.sides.raw or read.sides.revision
    opened = read.spans.open_at(line)
    if opened and not line.differs:
        old = new = marked.of_equal(raw_text, opened)
    else:
        old, new = marked.of_sides(raw_text, redacted_text, changed, opened, read.spans.key)
    return {
        "row": row,
        "part": part,
        "piece": pieces[part.number - 1] if part.number <= len(pieces) else None,
        "pieces_left": sum(piece not in seen for piece in pieces),
        "pieces_count": len(pieces),
        "row_page": line.page + 1,
        "seen_pieces": seen.intersection(pieces),
        "old": _part(raw_text, old, part.number - 1),
        "new": _part(redacted_text, new, part.number - 1),
        "back": page.address(case, page=line.page, line=number),
        "spans": [
            (mark, _label(raw_text, span)) for mark, span in zip(row.marks[: len(changed)], changed, strict=True)
        ],
        "open": [(mark, at.index) for mark, at in zip(row.marks[len(changed) :], opened, strict=True)],
        "readings": _readings(raw_text) if isinstance(line.raw, str) else [],
        "is_text": isinstance(line.raw, str),
        "decidable": line.source is not None and line.sort != "gone" and not isinstance(line.raw, bool | dict | list),
        "kinds": told.MARKED,
        "others": _others(read, line),
        "members": list(enumerate(pointing.members(line, pointing.raw_document(source)))) if line.source else [],
    }


def _part(text: str, marks: Marks, part: int) -> Shown:
    start, end = min(part * PIECE, len(text)), min((part + 1) * PIECE, len(text))
    return Shown(segments=segments(text, marks, start, end))


def _label(text: str, span: Span) -> str:
    if span.seam is None:
        return ""
    return text[span.seam.start : span.seam.end][:80]


def _readings(text: str) -> list[Reading]:
    """Those that hold text of their own, the recorded one left out."""
    found = []
    for view in read_views(text).root.walk():
        if view.parent is None or any(child.name.startswith("json") for child in view.children):
            continue
        cut = len(view.text) if len(view.text) > READ_SHOWN else 0
        found.append(Reading(path=told.path(view.path), text=view.text[:READ_SHOWN], cut=cut))
        if len(found) == READINGS:
            break
    return found


def _others(read: Read, line: Line) -> list[Choice]:
    """Replaced spans that a span of the line can be joined with: each surrogate once."""
    own = {span.number for span in read.spans.of_line(line)}
    found: dict[str, Choice] = {}
    for other in read.lines.lines:
        if other.pointer is None or len(found) >= OTHERS:
            continue
        for span in read.spans.of_line(other):
            if span.seam is None or span.number in own:
                continue
            text = rows.text_at(other.redacted)[span.seam.new_start : span.seam.new_end][:60]
            label = f"{kind_word(span.seam.kind)}: {text}"
            found.setdefault(label, Choice(number=span.number, label=label))
    return list(found.values())[:OTHERS]
