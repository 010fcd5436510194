"""Records of one trace, in whatever order a file holds them -> what crossed a boundary, in the order of time.

A model call inside another is the one that was made: the outer one wraps it. A tool that holds model calls is code of
the workflow. What else is inside a tool or a retrieval is code of it, which is answered from the recording as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from replaycases.importers.neutral import Note
from replaycases.importers.times import Moment

JSON = Any
Kind = Literal["model", "tool", "retrieval", "embedding", "code"]
_FIRST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Record:
    """One record of a trace. `row` is it as recorded, `end` points to the record of its end where the format has one
    of its own. `place` orders records of the same time: a dotted order of the
    tracer, else nothing, and the file decides."""

    id: str
    parent: str | None
    kind: Kind
    name: str
    source: str
    row: dict[str, JSON]
    end: str = ""
    started: Moment | None = None
    ended: Moment | None = None
    place: str = ""

    @property
    def started_at(self) -> str | None:
        return self.started.text if self.started else None

    @property
    def ended_at(self) -> str | None:
        return self.ended.text if self.ended else None


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """A record that crossed a boundary; `agent` is a tool that holds model calls."""

    record: Record
    agent: bool = False


@dataclass
class Tree:
    """`crossings` in order; `notes` on what is odd about the records."""

    records: Sequence[Record]
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_id = {record.id: record for record in self.records}
        self.crossings = tuple(self._crossings())
        self._odd()

    @property
    def started_at(self) -> str | None:
        """When the first of them began; None where times have no offset."""
        begun = [record.started for record in self.records if record.started]
        first = min(begun, key=lambda moment: moment.at, default=None)
        return None if first is None or any(moment.text is None for moment in begun) else first.text

    def _crossings(self) -> Iterator[Crossing]:
        holding = self._above(record for record in self.records if record.kind == "model")
        inside = self._inside(holding)
        for record in _in_order(self.records):
            if record.kind == "embedding":
                self._note("left_out", record, "an embedding is no boundary of a run")
            elif record.kind == "model" and record.id in holding:
                self._note("left_out", record, "a model call that wraps others is told by what is inside")
            elif record.kind in ("tool", "retrieval") and record.id in inside:
                self._note("left_out", record, "this happened inside a tool or a retrieval, and is code of it")
            elif record.kind != "code":
                yield Crossing(record=record, agent=record.kind == "tool" and record.id in holding)

    def _above(self, records: Iterator[Record]) -> set[str]:
        """The ids of whatever holds one of these."""
        found: set[str] = set()
        for record in records:
            parent = record.parent
            while parent is not None and parent not in found and parent in self.by_id and parent != record.id:
                found.add(parent)
                parent = self.by_id[parent].parent
        return found

    def _inside(self, holding: set[str]) -> set[str]:
        """The ids of what is inside a retrieval, or a tool that is no agent."""
        known: dict[str, bool] = {}
        for record in self.records:
            path, at = [], record
            while at.id not in known:
                known[at.id] = False
                path.append(at)
                if at.parent is None or at.parent not in self.by_id:
                    break
                at = self.by_id[at.parent]
            for one in reversed(path):
                above = self.by_id.get(one.parent) if one.parent is not None else None
                known[one.id] = above is not None and (known[above.id] or _is_whole(above, holding))
        return {name for name, inside in known.items() if inside}

    def _odd(self) -> None:
        naive = [record for record in self.records if record.started and record.started.text is None]
        if naive:
            self._note("content_lost", naive[0], "times have no offset: they say the order and no instant")
        for record in self.records:
            above = self.by_id.get(record.parent) if record.parent is not None else None
            if record.parent is not None and above is None:
                self._note("unresolved_reference", record, "what this is a part of is not in the file")
            if record.started and record.ended and record.ended.at < record.started.at:
                self._note("clock_contradiction", record, "this ends before it starts")
            if above and above.started and record.started and record.started.at < above.started.at:
                self._note("clock_contradiction", record, "this starts before what it is a part of")

    def _note(self, kind: Any, record: Record, text: str) -> None:
        self.notes.append(Note(kind=kind, source=record.source, text=text))


def distinct(records: Sequence[Record]) -> tuple[list[Record], list[Note]]:
    """Each id once, as it was recorded last."""
    last = {record.id: record for record in records}
    kept = list(last.values())
    text = "the same record stands twice in the file: the last one is read"
    again = [
        Note(kind="left_out", source=record.source, text=text) for record in records if last[record.id] is not record
    ]
    return kept, again


def _is_whole(record: Record, holding: set[str]) -> bool:
    return record.kind in ("tool", "retrieval") and record.id not in holding


def _in_order(records: Sequence[Record]) -> list[Record]:
    """By start, then by end, then by the tracer's own order, then as they stand. One without a start follows what
    stands before it."""
    last = _FIRST
    keyed = []
    for at, record in enumerate(records):
        last = record.started.at if record.started else last
        ended = record.ended.at if record.ended else last
        keyed.append(((last, ended, record.place, at), record))
    return [record for _, record in sorted(keyed, key=lambda pair: pair[0])]
