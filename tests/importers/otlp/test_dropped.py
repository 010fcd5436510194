"""What a recorder dropped past its limits is said, costs what it may have held, and survives the receiver."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from replaycases.importers.completeness import report_of
from replaycases.importers.neutral import NeutralRun, Note
from replaycases.importers.otlp import envelope
from tests.importers.otlp import test_genai_legacy as legacy
from tests.importers.otlp import test_openinference as openinference
from tests.importers.otlp import test_traceloop as traceloop
from tests.importers.otlp.exports import TRACE, export, pairs, record, sdk_request, span
from tests.importers.otlp.runs import models, retrievals, run_of, tools
from tests.importers.otlp.test_genai import FIRST, TOOL

KIND = openinference.KIND
TALK = {f"llm.input_messages.{at}.message.{part}": f"{part} {at}" for at in range(70) for part in ("role", "content")}
SAID = {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Done."}


def costly(run: NeutralRun, boundary: str) -> list[str]:
    return [note.text for note in run.notes if note.cost and note.boundary == boundary]


def lost(run: NeutralRun) -> list[Note]:
    return [note for note in run.notes if note.kind == "content_lost"]


def state(run: NeutralRun, boundary: str) -> str:
    return next(one.state for one in report_of(run, ()).coverage if one.boundary == boundary)


def without(attributes: dict[str, Any], *beginnings: str) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if not key.startswith(beginnings)}


@pytest.mark.parametrize("kind", [{}, {KIND: "LLM"}], ids=["the kind was dropped too", "the kind is there"])
def test_a_conversation_that_is_longer_than_an_sdk_keeps_is_not_whole(kind: dict[str, str]) -> None:
    first = {} if kind else {KIND: "LLM"}
    run = run_of(sdk_request((("ask", {**first, **TALK, **SAID, **kind}),)))
    (step,) = models(run)
    assert (step.partial, len(step.request["messages"])) == (True, 63)
    assert (state(run, "model"), report_of(run, ()).mode) == ("partly", "forensic")
    assert len(costly(run, "model")) == 2


def test_a_call_that_was_recorded_in_part_ends_what_can_be_replayed() -> None:
    whole = {KIND: "LLM", **SAID, "llm.input_messages.0.message.role": "user"}
    whole["llm.input_messages.0.message.content"] = "Hi"
    later = span(2, attributes=whole, droppedAttributesCount=3)
    report = report_of(run_of(export(span(1, attributes=whole), later)), ())
    assert (report.mode, report.replayable) == ("prefix", 1)
    assert report.why == "Step 2 of 2 was recorded in part: only what comes before it can be replayed."


@pytest.mark.parametrize(
    ("whole", "lost"),
    [
        (openinference.FLAT, "llm.input_messages.0."),
        (traceloop.SECOND, "gen_ai.prompt.0."),
        ({**openinference.FLAT, "llm.tools.1.tool.json_schema": "{}"}, "llm.tools.0."),
    ],
    ids=["messages", "prompts", "tools"],
)
def test_a_number_that_is_left_out_is_a_loss_that_nobody_counted(whole: dict[str, Any], lost: str) -> None:
    for attributes, partial in ((whole, False), (without(whole, lost), True)):
        run = run_of(export(span(1, attributes=attributes)))
        assert ([step.partial for step in models(run)], len(costly(run, "model"))) == ([partial], int(partial))


def test_a_part_of_a_message_that_is_left_out_is_a_note() -> None:
    calls = "llm.output_messages.0.message.tool_calls."
    second = {key.replace(f"{calls}0", f"{calls}1"): value for key, value in openinference.FLAT.items() if calls in key}
    for attributes, noted in (
        ({**openinference.FLAT, **second}, 0),
        (without({**openinference.FLAT, **second}, f"{calls}0"), 1),
    ):
        assert len(costly(run_of(export(span(1, attributes=attributes))), "model")) == noted


def test_parts_and_calls_that_are_numbered_together_lack_nothing() -> None:
    said = {key.replace("tool_calls.0", "tool_calls.1"): value for key, value in openinference.FLAT.items()}
    said["llm.output_messages.0.message.contents.0.message_content.text"] = "I look."
    assert costly(run_of(export(span(1, attributes=said))), "model") == []


def test_a_retrieval_of_which_documents_are_missing_has_no_answer() -> None:
    name = "retrieval.documents.{}.document.content"
    row = {KIND: "RETRIEVER", "input.value": "q", name.format(0): "One.", name.format(1): "Two."}
    for attributes, dropped, answered in ((row, 0, True), (without(row, name.format(0)), 0, False), (row, 1, False)):
        run = run_of(export(span(1, attributes=attributes, droppedAttributesCount=dropped)))
        assert [step.answered for step in retrievals(run)] == [answered]
        assert bool(costly(run, "retrieval")) is not answered


@pytest.mark.parametrize("counts", [{"droppedAttributesCount": 3}, {"droppedEventsCount": "3"}])
@pytest.mark.parametrize(("attributes", "boundary"), [(FIRST, "model"), (TOOL, "tool")])
def test_what_was_dropped_of_a_call_costs_it(counts: dict[str, Any], attributes: Any, boundary: str) -> None:
    run = run_of(export(span(1, attributes=attributes, **counts)))
    assert len(costly(run, boundary)) == 1
    assert state(run, boundary) == "partly"
    assert not any(step.partial for step in models(run))


def test_messages_that_are_events_are_not_whole_where_events_were_dropped() -> None:
    told = [{"name": "gen_ai.user.message", "attributes": pairs({"content": "Hi"})}]
    said = {"index": 0, "message": {"content": "Ho"}}
    told.append({"name": "gen_ai.choice", "attributes": pairs(said)})
    whole = span(1, attributes=legacy.BARE, events=told)
    cut = [{**told[0], "droppedAttributesCount": 1}, told[1]]
    for row, partial in (
        (whole, False),
        ({**whole, "droppedEventsCount": 1}, True),
        ({**whole, "events": cut}, True),
    ):
        run = run_of(export(row))
        assert ([step.partial for step in models(run)], bool(costly(run, "model"))) == ([partial], partial)


def test_a_record_of_which_attributes_were_dropped_costs_the_call() -> None:
    told = {**record("gen_ai.user.message", {"content": "Hi"}, of=1), "droppedAttributesCount": 2}
    said = record("gen_ai.choice", {"message": {"content": "Ho"}}, of=1, at=1)
    run = run_of(export(span(1, attributes=legacy.BARE), logs=[told, said]))
    assert len(costly(run, "model")) == 1


def test_a_span_of_which_nobody_knows_what_it_was_may_have_been_a_call() -> None:
    known = span(1, attributes={KIND: "CHAIN"}, droppedAttributesCount=3)
    other = span(2, attributes={"k": "v"}, droppedAttributesCount=3)
    whole = span(3, attributes=FIRST)
    found = [lost(run_of(export(row, whole))) for row in (known, other)]
    assert [[bool(note.cost) for note in notes] for notes in found] == [[False], [True]]


def test_dropped_links_and_what_was_dropped_elsewhere_cost_nothing() -> None:
    root = span(9, attributes={"k": "v"}, droppedEventsCount=3, at=0, lasts=9)
    run = run_of(export(root, span(1, attributes=TOOL, droppedLinksCount=2, parent=9)))
    assert [note.cost for note in lost(run)] == ["", ""]
    assert [step.answered for step in tools(run)] == [True]


def test_counts_links_and_flags_outlive_the_receiver() -> None:
    link = {
        "traceId": TRACE,
        "spanId": "00000000000000aa",
        "traceState": "a=b",
        "flags": 1,
        "droppedAttributesCount": 4,
    }
    event = {"name": "e", "timeUnixNano": "7", "attributes": [], "droppedAttributesCount": 5}
    row = span(1, links=[{**link, "attributes": pairs({"k": 1})}], events=[event], flags=257, traceState="c=d")
    row |= {"droppedAttributesCount": 1, "droppedEventsCount": "2", "droppedLinksCount": 3}
    told = record("e", "said", of=1) | {"severityNumber": 17, "severityText": "E", "flags": 1}
    found = envelope.read_file(export(row, logs=[{**told, "droppedAttributesCount": 6}]))
    assert found is not None
    (one,), (log,) = found.spans, found.logs
    assert (one.dropped.attributes, one.dropped.events, one.dropped.links) == (1, 2, 3)
    assert (one.flags, one.trace_state, one.links[0].span_id, one.links[0].dropped_attributes) == (
        257,
        "c=d",
        link["spanId"],
        4,
    )
    assert (one.events[0].dropped_attributes, log.dropped_attributes, log.severity, log.flags) == (5, 6, 17, 1)
    again = envelope.read_file(envelope.dump(found.spans, found.logs))
    assert again is not None
    assert [replace(span, source="") for span in again.spans] == [replace(one, source="")]
    assert [replace(row, source="") for row in again.logs] == [replace(log, source="")]


def test_protobuf_and_json_say_the_same_of_what_was_dropped() -> None:
    (ask, _) = envelope.read_traces(sdk_request((("ask", TALK),)), protobuf=True)
    assert ask.dropped.attributes == 12
    again = envelope.read_traces(envelope.dump([ask]), protobuf=False)
    assert [replace(row, source="") for row in again] == [replace(ask, source="")]


@pytest.mark.parametrize("count", ["many", -1, 2**32, [1], 1.5])
def test_a_count_that_is_none_is_said(count: Any) -> None:
    data = export(span(1, droppedAttributesCount="HERE")).replace(b'"HERE"', json.dumps(count).encode())
    found = envelope.read_file(data)
    assert found is not None
    assert (found.spans[0].dropped.attributes, found.spans[0].faults) == (0, ("a count could not be read",))
