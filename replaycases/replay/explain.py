"""Why a call has no recorded answer: kind, place, what differs, the nearest candidate and what ruled it out.

Runs once in a run, after the miss, and may look at every event; nothing found here ever becomes an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from replaycases.fixture.model import Event
from replaycases.replay.matching import CONSUMED, LEFT, Miss, Script, subject
from replaycases.replay.prompt_delta import PromptDelta, measure
from replaycases.replay.request import BoundaryCall, CallBoundary, quoted
from replaycases.replay.rules import Rules, adjust, compared
from replaycases.verdict.differences import each_difference
from replaycases.verdict.observation import Difference, Divergence, DivergenceKind, RunStatus

_Told = tuple[RunStatus, Divergence]
SHOWN_DIFFERENCES = 100
SEARCHED_EVENTS = 50
"""How many events on either side of the place are searched for the nearest candidate."""
_REVIEW = "review the change: if the new call is right, the case needs a reviewed alternative or another recording"
_REMEDIES: Mapping[DivergenceKind, str] = {
    "unexpected_tool": "the recording cannot answer this tool: review the new path, or re-run with live-like tools",
    "arguments": f"{_REVIEW}; a value that cannot matter takes an ignore rule at its pointer",
    "extra_call": f"the recording answers no further call here; {_REVIEW}",
    "order": "keep the recorded order, or record calls that may run in parallel as one group",
    "prompt_delta": "the recorded answer belongs to another prompt: re-run the case with the model",
    "model_exhausted": "the run asks the model more often than recorded: re-run the case with the model",
    "retrieval": _REVIEW,
    "human": _REVIEW,
}
_DIFFERS: Mapping[CallBoundary, DivergenceKind] = {
    "tool": "arguments",
    "model": "prompt_delta",
    "retrieval": "retrieval",
    "human": "human",
}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An event (or one of its alternatives) of the call's own kind and what rules it out."""

    event: Event
    differences: tuple[Difference, ...]
    delta: PromptDelta | None = None

    @property
    def weight(self) -> int:
        return len(self.differences)


def explain(script: Script, call: BoundaryCall, miss: Miss) -> _Told:
    """The status that a miss gives the run, and its divergence (without the number of the call)."""
    at = [script.events[index] for index in miss.at]
    elsewhere = _recorded_elsewhere(script, call, miss)
    if elsewhere is not None and elsewhere["why"] != "already consumed":
        return _verdict("order", call, at, nearest=elsewhere)
    if not at:
        kind = _past_the_end(script, call)
        return _verdict(kind, call, at, nearest=elsewhere or _closest(script, call, miss))
    nearest = _nearest_here(script, call, at)
    if nearest is not None:
        return _differs(call, nearest, elsewhere)
    kind = _elsewhere_kind(script, call, elsewhere)
    return _verdict(kind, call, at, nearest=elsewhere or _closest(script, call, miss))


def left_over(script: Script) -> Divergence:
    """The first required event that a run with a clean finish never asked for."""
    left = [e for e, state in zip(script.events, script.state, strict=True) if state != CONSUMED and not e.optional]
    event = left[0]
    return Divergence(
        kind="unconsumed",
        boundary=event.boundary,
        seq=event.seq,
        pointer=event.pointer,
        expected=_shown(event),
        message=f"the run finished with {len(left)} events left over, first event {event.seq} ({_name(event)})",
        remedy="review the shorter path: a step that may be left out is marked optional in a reviewed revision",
    )


def _past_the_end(script: Script, call: BoundaryCall) -> DivergenceKind:
    if call.boundary == "model":
        return "model_exhausted"
    return "unexpected_tool" if call.boundary == "tool" and not _is_recorded(script, call.name) else "extra_call"


def _elsewhere_kind(script: Script, call: BoundaryCall, elsewhere: Mapping[str, Any] | None) -> DivergenceKind:
    """The kind of a call of another boundary or tool than the one that stands at the place."""
    if call.boundary == "model":
        return "order"
    if call.boundary == "tool":
        return "extra_call" if elsewhere else "unexpected_tool"
    return _DIFFERS[call.boundary]


def _is_recorded(script: Script, tool: str) -> bool:
    return any(tool == event.tool or any(tool == other.tool for other in event.alternatives) for event in script.events)


def _recorded_elsewhere(script: Script, call: BoundaryCall, miss: Miss) -> dict[str, Any] | None:
    """The event that records exactly this call at another place: one still to come or passed over before a consumed
    one, since both are a matter of order. Where the call's own tool stands at the place, a match that rests on an id
    not seen before says nothing: any made-up id would match there."""
    consumed: Event | None = None
    made_up_ids = not any(_is_of_kind(script.events[index], call) for index in miss.at)
    for index, event in enumerate(script.events):
        if index in miss.at or not _records(script, event, call, made_up_ids=made_up_ids):
            continue
        if script.state[index] != CONSUMED:
            why = "recorded later" if script.state[index] == LEFT else "passed over"
            return _nearest(event, why)
        consumed = event
    return None if consumed is None else _nearest(consumed, "already consumed")


def _is_of_kind(event: Event, call: BoundaryCall) -> bool:
    return event.boundary == call.boundary and event.tool == call.name


def _records(script: Script, event: Event, call: BoundaryCall, *, made_up_ids: bool) -> bool:
    if not _is_of_kind(event, call):
        return False
    adjusted, equal = compared(subject(event), call, script.rules.of(event), script.ids)
    return equal and (made_up_ids or not adjusted.pending)


def _nearest_here(script: Script, call: BoundaryCall, at: list[Event]) -> _Candidate | None:
    candidates = [candidate for event in at for candidate in _candidates(script, event, call)]
    return min(candidates, key=lambda candidate: candidate.weight, default=None)


def _candidates(script: Script, event: Event, call: BoundaryCall) -> Iterator[_Candidate]:
    if event.boundary != call.boundary:
        return
    if event.boundary == "model":
        adjusted = adjust(event.request, call.subject, script.rules.of(event), script.ids).actual
        delta = measure(event.request, adjusted, event.match.tolerance)
        yield _Candidate(event, delta.differences[:SHOWN_DIFFERENCES], delta)
    elif event.tool == call.name:
        yield _Candidate(event, _ruled_out(script, subject(event), call, script.rules.of(event)))
    for other in event.alternatives:
        if other.tool == call.name:
            yield _Candidate(event, _ruled_out(script, other.arguments, call, Rules((), event.match.generated)))


def _ruled_out(script: Script, expected: Any, call: BoundaryCall, rules: Rules) -> tuple[Difference, ...]:
    adjusted = adjust(expected, call.subject, rules, script.ids)
    return tuple(islice(each_difference(expected, adjusted.actual), SHOWN_DIFFERENCES))


def _differs(call: BoundaryCall, here: _Candidate, elsewhere: Mapping[str, Any] | None) -> _Told:
    delta = here.delta or PromptDelta()
    stale = bool(delta.system or delta.catalogue)
    status, divergence = _verdict(
        "arguments" if delta.request and not stale else _DIFFERS[call.boundary],
        call,
        [here.event],
        nearest=elsewhere or _nearest(here.event, "differs", here.differences),
        found=here.differences,
    )
    return ("stale" if stale else status), divergence


def _verdict(
    kind: DivergenceKind,
    call: BoundaryCall,
    at: list[Event],
    *,
    nearest: Mapping[str, Any] | None,
    found: tuple[Difference, ...] = (),
) -> _Told:
    divergence = Divergence(
        kind=kind,
        boundary=call.boundary,
        seq=at[0].seq if at else None,
        pointer=found[0].pointer if found else "",
        expected=_shown(at[0]) if at else None,
        actual=dict(call.params),
        differences=found,
        nearest=nearest,
        message=_message(kind, call, at, nearest, found),
        remedy=_REMEDIES[kind],
    )
    return ("exhausted" if kind == "model_exhausted" else "diverged"), divergence


def _message(
    kind: DivergenceKind,
    call: BoundaryCall,
    at: list[Event],
    nearest: Mapping[str, Any] | None,
    found: tuple[Difference, ...],
) -> str:
    got = f"the tool call {quoted(call.name)}" if call.boundary == "tool" else f"the {call.boundary} call"
    stands = f"event {at[0].seq} ({_name(at[0])}) stands" if at else "the recording has ended"
    if len(at) > 1:
        stands = f"events {', '.join(str(event.seq) for event in at[:10])} of one group stand"
    if found:
        # A question is one text, without places in it.
        pointers = [each.pointer for each in found[:10] if each.pointer]
        where = f", at {', '.join(pointers)}" if pointers else ""
        return f"{got} differs from {_name(at[0])}, event {at[0].seq}{where}"
    why = f"; it is {nearest['why']}" if nearest else ""
    seq = f" (event {nearest['seq']})" if nearest and nearest["seq"] is not None else ""
    return f"{got} has no recorded answer where {stands}{why}{seq}"


def _name(event: Event) -> str:
    return f"tool {event.tool}" if event.boundary == "tool" else event.boundary


def _nearest(event: Event, why: str, found: tuple[Difference, ...] = ()) -> dict[str, Any]:
    return {"seq": event.seq, "tool": event.tool, "why": why, "differences": [_as_dict(d) for d in found]}


def _closest(script: Script, call: BoundaryCall, miss: Miss) -> dict[str, Any]:
    """The event of the call's own kind that differs least, among those around the place; or that none was recorded."""
    place = miss.at[0] if miss.at else len(script.events)
    around = script.events[max(place - SEARCHED_EVENTS, 0) : place + SEARCHED_EVENTS]
    candidates = [candidate for event in around for candidate in _candidates(script, event, call)]
    if not candidates:
        return {"seq": None, "tool": call.name, "why": "never recorded", "differences": []}
    nearest = min(candidates, key=lambda candidate: candidate.weight)
    return _nearest(nearest.event, "differs", nearest.differences)


def _as_dict(found: Difference) -> dict[str, Any]:
    """A difference as JSON: {pointer, expected?, actual?, only?}; the absent side has no member."""
    document: dict[str, Any] = {"pointer": found.pointer}
    if found.only != "actual":
        document["expected"] = found.expected
    if found.only != "expected":
        document["actual"] = found.actual
    return document if found.only is None else {**document, "only": found.only}


def _shown(event: Event) -> dict[str, Any]:
    """A recorded event in the shape of the call that asks for it."""
    if event.boundary == "tool":
        return {"tool": event.tool, "arguments": event.arguments}
    if event.boundary == "model":
        return {"request": event.request}
    if event.boundary == "human":
        return {"question": event.question}
    return {"query": event.query, "parameters": event.parameters}
