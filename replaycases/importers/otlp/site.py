"""A span with everything that was recorded at it, as the dialects look at it, and the notes they take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from replaycases.importers.neutral import Boundary, Note, NoteKind
from replaycases.importers.otlp import values
from replaycases.importers.otlp.spans import LogRecord, Span

JSON = Any
Kind = Literal["model", "embedding", "tool", "retrieval", "none"]


class Notes:
    """Notes of one run. What is said of many places in the same words is one note, at the first place, with their
    number; `each` keeps them apart. `shared` are values that stand on many spans, read once."""

    def __init__(self) -> None:
        self.shared: dict[str, JSON] = {}
        self._each: list[Note] = []
        self._same: dict[tuple[NoteKind, str, str, Boundary | None], list[str | int]] = {}

    def each(self, kind: NoteKind, source: str, text: str, *, cost: str = "", boundary: Boundary | None = None) -> None:
        self._each.append(Note(kind=kind, source=source, text=text, cost=cost, boundary=boundary))

    def add(self, kind: NoteKind, source: str, text: str, *, cost: str = "", boundary: Boundary | None = None) -> None:
        places = self._same.setdefault((kind, text, cost, boundary), [source, 0])
        places[1] = int(places[1]) + 1

    def faults(self, source: str, faults: Iterable[str]) -> None:
        for fault in faults:
            self.add("content_lost", source, fault)

    def all(self) -> tuple[Note, ...]:
        same = [
            Note(kind=kind, source=str(first), text=_counted(text, int(count)), cost=cost, boundary=boundary)
            for (kind, text, cost, boundary), (first, count) in self._same.items()
        ]
        return (*self._each, *same)


def _counted(text: str, count: int) -> str:
    return text if count == 1 else f"{text} ({count} places; this is the first)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event of a span or a log record of it, by one name: `fields` are its attributes and what its body holds;
    `partial` where the recorder dropped some of them."""

    name: str
    at_ns: int
    fields: dict[str, JSON]
    source: str
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """`happenings` are in the order of their times."""

    span: Span
    happenings: Sequence[Happening] = field(default=())

    def first(self, *names: str) -> JSON:
        """The first of these attributes that is there, None if none is."""
        attributes = self.span.attributes
        for name in names:
            found = attributes.get(name)
            if found is not None:
                return found
        return None

    def text(self, *names: str) -> str:
        found = self.first(*names)
        return found if isinstance(found, str) else ""

    def json(self, name: str, notes: Notes) -> JSON:
        """What an attribute holds as JSON text or as a structured value; ABSENT for another text, None for nothing."""
        value = self.span.attributes.get(name)
        if value is None:
            return None
        faults: list[str] = []
        found = values.json_in(value, faults)
        notes.faults(self.span.source, faults)
        return found

    def messages(self, name: str, notes: Notes) -> JSON:
        """As `json`, but not looked through for what cannot stand in a fixture: `Turns` does so, message by message."""
        value = self.span.attributes.get(name)
        faults: list[str] = []
        found = values.parsed(value, faults)
        notes.faults(self.span.source, faults)
        return found

    def json_once(self, name: str, notes: Notes) -> JSON:
        """As `json`, for what is likely to stand on many spans: they share one value."""
        text = self.span.attributes.get(name)
        if not isinstance(text, str):
            return text
        if text not in notes.shared:
            notes.shared[text] = self.json(name, notes)
        return notes.shared[text]

    def pointer(self, name: str) -> str:
        """To the value of an attribute."""
        return self.place(next((n for n, key in enumerate(self.span.attributes) if key == name), 0))

    def place(self, at: int) -> str:
        """The pointer to the value of the attribute at this place."""
        return f"{self.span.source}/attributes/{at}/value"


def site_of(span: Span, records: Sequence[LogRecord], notes: Notes) -> Site:
    if not span.events and not records:
        return Site(span=span)
    happenings = [
        Happening(
            name=event.name,
            at_ns=event.time_ns,
            fields={**event.attributes, **_object(event.attributes.get("gen_ai.event.content"), span.source, notes)},
            source=f"{span.source}/events/{at}",
            partial=event.dropped_attributes > 0,
        )
        for at, event in enumerate(span.events)
    ]
    happenings += [
        Happening(
            name=record.event_name,
            at_ns=record.at_ns,
            fields={**record.attributes, **_object(record.body, record.source, notes)},
            source=f"{record.source}/body",
            partial=record.dropped_attributes > 0,
        )
        for record in records
    ]
    return Site(span=span, happenings=sorted(happenings, key=lambda happening: happening.at_ns))


def _object(body: JSON, source: str, notes: Notes) -> dict[str, JSON]:
    faults: list[str] = []
    found = values.json_in(body, faults)
    notes.faults(source, faults)
    return found if isinstance(found, dict) else {}
