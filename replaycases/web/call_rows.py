"""The calls of two runs as rows, aligned by the recorded event that answered them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from replaycases.fixture.model import Event, Fixture
from replaycases.fixture.pointer import ABSENT, resolve
from replaycases.verdict.alignment import Row as Aligned
from replaycases.verdict.alignment import align
from replaycases.verdict.differences import differences
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.observation import Difference
from replaycases.web import words
from replaycases.web.rows import Cell, Row

Call = Mapping[str, Any]

# Characters of an equal call that is shown for context alone.
CONTEXT = 400
_ASKED = {"tool": "arguments", "model": "request", "retrieval": "query", "human": "question"}


def call_rows(fixture: Fixture, old: Manifest, new: Manifest) -> Iterator[Row]:
    """A row for each aligned pair or gap, followed by a grey row for each field that a rule took out of it."""
    events = {event.seq: event for event in fixture.events}
    aligned_rows = _paired(list(align(fixture, old, new)), old, new)
    ended_at, context = _ended_at(aligned_rows, old, new), _context(aligned_rows)
    for place, aligned in enumerate(aligned_rows):
        left = old["calls"][aligned.old] if aligned.old is not None else None
        right = new["calls"][aligned.new] if aligned.new is not None else None
        event = events.get(aligned.seq) if aligned.seq is not None else None
        row = _row(aligned, left, right, event, place)
        if place > ended_at and (left is None or right is None):
            row = _downstream(row)
        if left is None or right is None:
            yield row
        else:
            row = _as_context(row, left, right, event) if place == context else row
            yield row
            yield from _ignored(aligned, left, right, shown=row.differs or row.always)


def _paired(rows: list[Aligned], old: Manifest, new: Manifest) -> list[Aligned]:
    """The call with which a side left the recording was matched to no event. Where it called the same tool as the
    other side did at that event, the two belong in one row."""
    for mine, theirs, side in ((new, old, "new"), (old, new, "old")):
        found = mine["first_divergence"]
        if found is None or found["seq"] is None or found["call"] is None:
            continue
        other = "old" if side == "new" else "new"
        lone = next((r for r in rows if r.seq is None and getattr(r, side) == found["call"]), None)
        partner = next((r for r in rows if r.seq == found["seq"] and getattr(r, side) is None), None)
        if lone is None or partner is None or getattr(lone, other) is not None:
            continue
        own, others = mine["calls"][found["call"]], theirs["calls"][getattr(partner, other)]
        if call_name(own) == call_name(others):
            indexes = {side: found["call"], other: getattr(partner, other)}
            sides = (others["params"], own["params"]) if side == "new" else (own["params"], others["params"])
            compared = differences(*sides)
            joined = replace(partner, **indexes, differences=compared.found, cut=compared.cut)
            rows = [joined if row is partner else row for row in rows if row is not lone]
    return rows


def _context(rows: list[Aligned]) -> int:
    """The place of the last equal call before the sides part, in their calls or after them: shown among the differences
    too, so that a reader sees from where."""
    return next((place for place, row in enumerate(rows) if not row.same), len(rows)) - 1


def _as_context(row: Row, left: Call, right: Call, event: Event | None) -> Row:
    """An equal call that is shown among the differences: of a long one only what it was answered."""
    row = replace(row, always=True)
    if max(map(len, _texts(event, left, right))) <= CONTEXT:
        return row
    old, new = (
        Cell(text=words.whole(_answer(call, event)), note="what it asked is equal and long") for call in (left, right)
    )
    return replace(row, short=replace(row, old=old, new=new))


def _ended_at(rows: list[Aligned], old: Manifest, new: Manifest) -> int:
    """The place of the call with which a side left the recording and was ended; past the last row if none did."""
    for side, manifest in (("new", new), ("old", old)):
        found = manifest["first_divergence"]
        if found is not None and found["call"] is not None:
            for place, row in enumerate(rows):
                if getattr(row, side) == found["call"] and not manifest["calls"][found["call"]]["answered"]:
                    return place
    return len(rows)


def _downstream(row: Row) -> Row:
    """A call that one side could not reach: nothing after the first divergence is compared."""
    hole = Cell(hole="Downstream of the divergence: this side had been ended")
    row = replace(row, old=hole) if row.old.hole else replace(row, new=hole)
    return replace(row, kind="downstream", always=True)


def call_name(call: Call) -> str:
    return str(call["params"].get("tool") or call["boundary"])


def asked(call: Call) -> Any:
    """What the call asked for: its arguments, request, query or question."""
    return call["params"].get(_ASKED[call["boundary"]])


def _texts(event: Event | None, *calls: Call) -> list[str]:
    """What each call asked and, from the recording, what it was answered."""
    texts = words.as_texts(*map(asked, calls))
    return [f"{text}\n{_answer(call, event)}" for text, call in zip(texts, calls, strict=True)]


def _answer(call: Call, event: Event | None) -> str:
    if not call["answered"]:
        return "not answered: the run ended here"
    if event is None:
        return "no recorded answer"
    outcome, source = event.outcome, ""
    if call["alternative"] is not None and call["alternative"] < len(event.alternatives):
        chosen = event.alternatives[call["alternative"]]
        outcome, source = chosen.outcome, f" ({chosen.origin} alternative)"
    if outcome is not None and outcome.type == "error":
        return f"error{source} {outcome.kind}: {outcome.message}"
    answers = {"model": event.response, "retrieval": event.chunks, "human": event.decision}
    value = answers.get(event.boundary, outcome.value if outcome else None)
    return f"result{source} {words.as_text(value)}"


def _row(aligned: Aligned, left: Call | None, right: Call | None, event: Event | None, place: int) -> Row:
    some: Call = left if left is not None else right or {}
    about: dict[str, Any] = {
        "name": f"{'?' if aligned.seq is None else aligned.seq} {call_name(some)}",
        "also": _note(event),
        "anchor": f"step-at-{place}" if aligned.seq is None else f"step-{aligned.seq}",
    }
    if left is None or right is None:
        return _gap(left, right, event, about)
    texts = _texts(event, left, right)
    if aligned.same:
        return Row(kind="equal", old=Cell(text=words.whole(texts[0])), new=Cell(text=words.whole(texts[1])), **about)
    one, other = words.differing(*texts)
    note = "too large to be compared to the end" if aligned.cut else ""
    return Row(kind="changed", old=Cell(text=one, note=note), new=Cell(text=other, note=note), **about)


def _gap(left: Call | None, right: Call | None, event: Event | None, about: dict[str, Any]) -> Row:
    if left is not None:
        hole = Cell(hole="Gap: the new version did not make this call")
        return Row(kind="only_old", old=Cell(text=words.whole(_texts(event, left)[0])), new=hole, **about)
    hole = Cell(hole="Gap: the old version did not make this call")
    made = Cell(text=words.whole(_texts(event, right or {})[0]))
    return Row(kind="only_new", old=hole, new=made, **about)


def _note(event: Event | None) -> str:
    if event is None:
        return "no recorded event"
    notes = ["optional"] if event.optional else []
    return ", ".join([*notes, f"effect {event.effect.action}"] if event.effect else notes)


def _ignored(aligned: Aligned, left: Call, right: Call, *, shown: bool) -> Iterator[Row]:
    """A grey row for each place that a rule took out of the comparison, with the rule's name. Among the differences it
    stands only below a call that is shown, or where the two sides differ in it."""
    found: dict[str, tuple[str, str, str]] = {}
    for pointer in dict.fromkeys((*left["ignored"], *right["ignored"])):
        found[f"ignore {pointer}"] = (pointer, _at(left, pointer), _at(right, pointer))
    for hidden in aligned.ignored:
        difference = hidden.difference
        values = _value(difference, "expected"), _value(difference, "actual")
        found.setdefault(hidden.rule, (difference.pointer, *values))
    for rule, (pointer, one, other) in found.items():
        cells = [Cell(text=words.whole(text)) for text in (one, other)]
        always = shown or one != other
        yield Row(name=pointer, also=f"rule: {rule}", kind="ignored", old=cells[0], new=cells[1], always=always)


def _value(difference: Difference, side: Literal["expected", "actual"]) -> str:
    only_other = difference.only is not None and difference.only != side
    return "absent" if only_other else words.as_text(getattr(difference, side))


def _at(call: Call, pointer: str) -> str:
    payload = call["params"].get("request" if call["boundary"] == "model" else "arguments")
    value = resolve(payload, pointer)
    return "absent" if value is ABSENT else words.as_text(value)
