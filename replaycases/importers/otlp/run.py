"""One trace -> one neutral run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.agreement import absent_parts, serving_of, tools_of
from replaycases.importers.conversation import assemble
from replaycases.importers.exchanges import AgentTool, Recorded, Turn
from replaycases.importers.neutral import ModelStep, NeutralRun
from replaycases.importers.otlp import pydantic_ai
from replaycases.importers.otlp.chat_messages import Turns
from replaycases.importers.otlp.dropped import note_dropped
from replaycases.importers.otlp.genai import TRANSPORT
from replaycases.importers.otlp.instants import instant
from replaycases.importers.otlp.of_run import record_in
from replaycases.importers.otlp.order import as_asked, check_clocks, moment, note_missing_calls
from replaycases.importers.otlp.selection import Place, Selection, select
from replaycases.importers.otlp.site import Notes, Site
from replaycases.importers.otlp.spans import LogRecord, Span
from replaycases.importers.otlp.telling import exchange_of
from replaycases.importers.otlp.timing import timing_of
from replaycases.importers.otlp.values import json_in

JSON = Any
NAME = "otlp"
_IDENTITY = ("enduser.id", "enduser.role", "enduser.scope", "user.id", "user.roles", "tenant.id", "session.id")
_STARTED_WITH = ("input.value", "traceloop.entity.input", "gen_ai.input.messages")


def run_of(
    spans: Sequence[Span], records: Sequence[LogRecord], *, cut: bool = False, faults: Sequence[str] = ()
) -> NeutralRun:
    """`faults` are what could not be read of the file as a whole."""
    notes = Notes()
    notes.faults("", faults)
    selection = select(spans, records, notes)
    note_dropped(selection, notes)
    check_clocks(selection, notes)
    turns, places = Turns(notes), {id(span): at for at, span in enumerate(spans)}
    timed = sorted((place for place in selection.places if place.taken), key=lambda place: moment(place, places))
    items = [(place.site.span, _item(place, selection, turns, notes)) for place in timed]
    recorded = as_asked(items, notes)
    note_missing_calls(recorded, notes)
    assembled = assemble(recorded, ending=_ending(selection, turns, notes))
    models = [step for step in assembled.steps if isinstance(step, ModelStep)]
    serving, differing = serving_of(models)
    identity = _identity(selection)
    version = next((span.resource.get("service.version") for span in (*selection.roots, *spans)), None)
    return NeutralRun(
        format=NAME,
        input=assembled.input if assembled.input["messages"] else _started_with(selection),
        steps=assembled.steps,
        system=assembled.system,
        serving=serving,
        tools=tools_of(models),
        absent=absent_parts(assembled.steps, serving=serving, system=assembled.system, identity=identity),
        notes=(*differing, *assembled.notes, *notes.all()),
        cut="the file ends in the middle of an export" if cut else "",
        ends_on_answer=assembled.ends_on_answer,
        left_out=_left_out(selection),
        started_at=instant(min((span.start_ns for span in spans if span.start_ns), default=0)),
        identity=identity,
        trace_id=spans[0].trace_id or None,
        workflow_version=version if isinstance(version, str) and version else None,
        record=record_in(selection, spans),
        documents=_looked_up_inside(selection),
    )


def _looked_up_inside(selection: Selection) -> tuple[str, ...]:
    """What retrievals name that are no steps, since a tool was answered with them."""
    inside = (place for place in selection.places if place.kind == "retrieval" and not place.taken)
    named = (place.dialect.retrieval(place.site, Notes()).documents for place in inside)
    return tuple(dict.fromkeys(name for names in named for name in names))


def _left_out(selection: Selection) -> tuple[str, ...]:
    """Spans that are no step, and attributes that say how an answer travelled."""
    twice = (place.site.span.source for place in selection.places if not place.taken)
    models = (place.site for place in selection.places if place.taken and place.kind == "model")
    transport = (site.pointer(key) for site in models for key in TRANSPORT if key in site.span.attributes)
    return (*(span.source for span in selection.others), *twice, *transport)


def _item(place: Place, selection: Selection, turns: Turns, notes: Notes) -> Recorded:
    """What a boundary is in the run."""
    if place.kind == "model":
        told, place.told = place.tell(notes), None
        return exchange_of(place.site, told, turns, notes)
    if place.kind == "retrieval":
        return place.dialect.retrieval(place.site, notes)
    step = place.dialect.tool(place.site, notes)
    if place.agent:
        return AgentTool(source=step.source, tool=step.tool, arguments=step.arguments, call_id=step.call_id)
    return replace(step, timing=timing_of(place.site, selection, step.value, notes))


def _ending(selection: Selection, turns: Turns, notes: Notes) -> list[Turn]:
    """The whole conversation, where the span of the only agent holds it."""
    holders = [span for span in selection.others if pydantic_ai.ALL_MESSAGES in span.attributes]
    if len(holders) != 1:
        return []
    site = Site(span=holders[0])
    messages, base = site.messages(pydantic_ai.ALL_MESSAGES, notes), site.pointer(pydantic_ai.ALL_MESSAGES)
    listed = messages if isinstance(messages, list) else []
    return [turn for at, message in enumerate(listed) for turn in turns.of(message, f"{base}/{at}")]


def _identity(selection: Selection) -> JSON:
    """Who asked, as attributes of the outermost spans name them."""
    found: dict[str, JSON] = {}
    for span in selection.roots:
        found |= {key: span.attributes[key] for key in _IDENTITY if span.attributes.get(key) and key not in found}
    return found or None


def _started_with(selection: Selection) -> JSON:
    """What the outermost span was given, where no model call says what it was sent."""
    for span in selection.roots:
        for key in _STARTED_WITH:
            value = span.attributes.get(key)
            if value is not None:
                held = json_in(value, [])
                return value if held is ABSENT else held
    return {"messages": []}
