"""What a form of the review points at, by its number, as a place of the raw revision."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from replaycases.cases import evidence, redaction_scans
from replaycases.cases.models import FixtureRevision, Redaction
from replaycases.fixture import strict_json
from replaycases.redaction.manual import PlaceUnknown, mac, value_at
from replaycases.redaction.places import Place
from replaycases.web.redactions import spans
from replaycases.web.redactions.lines import Line
from replaycases.web.redactions.loading import Read

_GONE = "There is nothing to decide about at this place. Open the review again."


@dataclass(frozen=True, kw_only=True)
class Target:
    """`sort` is span, finding, line or document; `number` counts those."""

    sort: str
    number: int = 0

    @classmethod
    def of(cls, text: str) -> Target:
        sort, _, number = text.partition(":")
        return cls(sort=sort, number=int(number or 0))


def place_of(target: Target, read: Read, redaction: Redaction, source: FixtureRevision) -> Place:
    """Raises ValidationError where the raw revision has no such place."""
    if target.sort == "document":
        return Place(pointer="", start=0, end=0)
    if target.sort == "span":
        return span_place(read, target.number)
    if target.sort == "finding":
        return _finding_place(read, target.number, redaction, source)
    line = line_of(read, target.number)
    return Place(pointer=line.source or "", in_key=line.sort == "key", start=0, end=0)


def span_place(read: Read, number: int) -> Place:
    """In the text as it was recorded, whatever the reading in which it was found."""
    found = spans.span_of(read.record, number)
    if found is None or found.seam is None:
        raise ValidationError(_GONE)
    change, seam = found.change, found.seam
    return Place(pointer=change.source, in_key=change.in_key, start=seam.start, end=seam.end)


def line_of(read: Read, number: int) -> Line:
    """A line that the raw revision has."""
    if not 0 <= number < len(read.lines.lines) or read.lines.lines[number].source is None:
        raise ValidationError(_GONE)
    return read.lines.lines[number]


def member_of(line: Line, up: int, document: Any) -> Place:
    """The member that holds the line, `up` steps further out. Raises ValidationError where that is no member."""
    pointer = line.source or ""
    for _ in range(up):
        pointer = pointer.rpartition("/")[0]
    if pointer not in members(line, document):
        raise ValidationError("That is no member of an object. Only members can be left out.")
    return Place(pointer=pointer, start=0, end=0)


def members(line: Line, document: Any) -> list[str]:
    """The members of objects that the line stands in, itself first, as places of the raw document."""
    found: list[str] = []
    node, at = document, ""
    for step in (line.source or "").split("/")[1:]:
        at = f"{at}/{step}"
        if isinstance(node, dict):
            found.append(at)
            node = node.get(step.replace("~1", "/").replace("~0", "~"))
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            break
    return list(reversed(found))


def raw_document(source: FixtureRevision) -> Any:
    return strict_json.parse(evidence.read(source.payload))


def _finding_place(read: Read, index: int, redaction: Redaction, source: FixtureRevision) -> Place:
    """Where the raw revision has the same value at the same place: a second look may have found it only in the redacted
    one."""
    if not 0 <= index < len(read.record.open):
        raise ValidationError(_GONE)
    one = read.record.open[index]
    try:
        value = value_at(raw_document(source), one.place)
    except PlaceUnknown:
        value = ""
    key = redaction_scans.opened(redaction.mapping).key
    if not value or not hmac.compare_digest(mac(key, value), one.fits):
        raise ValidationError("The raw revision has another value there. Decide about the whole value, from its row.")
    return one.place
