"""The order of what happened in a trace, and where its times and its conversation contradict themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from replaycases.fixture.canonical import NotCanonical, canonical_bytes
from replaycases.importers.exchanges import AgentTool, ModelExchange, Recorded, Turn
from replaycases.importers.mended import unmarked
from replaycases.importers.neutral import ToolStep
from replaycases.importers.otlp.selection import Place, Selection
from replaycases.importers.otlp.site import Notes
from replaycases.importers.otlp.spans import Span

JSON = Any
_NO_TIME = "a span has no times: it stands by its place in the file"
_ENDS_FIRST = "a span ends before it starts"
_OUTSIDE = "a span starts outside the time of its parent"
_ASKED_LATER = "a tool ran before the model call that asked for it: it stands after it"
_BEFORE = "a tool call from before the first recorded request stands in what that request held: it is no step"
_GAP = "a request holds an answer of the model whose own call is not in the file"


def moment(place: Place, at: Mapping[int, int]) -> tuple[int, int, int]:
    """Sorts by start, then by end, then as in the file, which an exporter writes as spans end."""
    span = place.site.span
    return span.start_ns or span.end_ns, span.end_ns, at[id(span)]


def as_asked(timed: Sequence[tuple[Span, Recorded]], notes: Notes) -> list[Recorded]:
    """The steps as they are, but that a tool's run that names its call stands after the first model call that asks for
    it, whatever the clocks say."""
    asked: dict[str, int] = {}
    for at, (_, item) in enumerate(timed):
        for call in item.asked if isinstance(item, ModelExchange) else ():
            if call.call_id is not None:
                asked.setdefault(call.call_id, at)
    after: list[int] = []
    for at, (span, item) in enumerate(timed):
        first = asked.get(item.call_id or "", -1) if isinstance(item, ToolStep | AgentTool) else -1
        if first > at:
            notes.add("clock_contradiction", span.source, _ASKED_LATER, boundary="tool")
        after.append(max(first, at))
    order = sorted(range(len(timed)), key=lambda at: (after[at], after[at] != at, at))
    return [timed[at][1] for at in order]


def check_clocks(selection: Selection, notes: Notes) -> None:
    for place in selection.places:
        span = place.site.span
        if not span.start_ns and not span.end_ns:
            notes.add("sequence_gap", span.source, _NO_TIME)
        if span.start_ns and span.end_ns and span.end_ns < span.start_ns:
            notes.add("clock_contradiction", span.source, _ENDS_FIRST, boundary=place.kind)
        parent = selection.parents.get(span.span_id)
        if parent is not None and _outside(span, parent):
            notes.add("clock_contradiction", span.source, _OUTSIDE, boundary=place.kind)


def _outside(span: Span, parent: Span) -> bool:
    timed = bool(span.start_ns and parent.start_ns) and parent.end_ns >= parent.start_ns
    return timed and not parent.start_ns <= span.start_ns <= parent.end_ns


def note_missing_calls(recorded: Sequence[Recorded], notes: Notes) -> None:
    """A conversation that goes on holds only answers that it began with or that model calls in the file gave."""
    said: set[bytes] = set()
    conversations: dict[int, set[int]] = {}
    for item in recorded:
        if isinstance(item, ModelExchange):
            _check(item, conversations, said, notes)
            said.add(_answer(item.asked, item.said))


def _check(exchange: ModelExchange, conversations: dict[int, set[int]], said: set[bytes], notes: Notes) -> None:
    start = next((turn for turn in exchange.sent if turn.role != "system"), None)
    if start is None:
        return
    known = conversations.get(id(start))
    answers = [turn for turn in exchange.sent if turn.role == "assistant"]
    source = exchange.step.source
    for turn in answers:
        if known is None:
            for _ in turn.calls:
                notes.add("left_out", source, _BEFORE, boundary="tool")
        elif id(turn) not in known and _of(turn) not in said:
            cost = "what the model was sent there is unknown"
            notes.add("sequence_gap", source, _GAP, cost=cost, boundary="model")
    conversations.setdefault(id(start), set()).update(id(turn) for turn in answers)


def _of(turn: Turn) -> bytes:
    return _answer(turn.calls, turn.content)


def _answer(calls: Sequence[Any], content: JSON) -> bytes:
    try:
        asked = [[call.tool, unmarked(call.arguments)] for call in calls]
        return canonical_bytes([asked, None if calls else content])
    except NotCanonical:
        return b""
