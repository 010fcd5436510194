"""The GenAI conventions before 1.37: content in events beside the span."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers.completeness import report_of
from replaycases.importers.findings import ImportRefused
from replaycases.importers.registry import open_recording
from tests.importers.otlp.exports import export, pairs, record, span
from tests.importers.otlp.runs import calls_of, models, run_of, tools

BARE = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": "7"}'}}
CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}}
FIRST: list[tuple[str, dict[str, Any]]] = [
    ("gen_ai.system.message", {"content": "Be brief."}),
    ("gen_ai.user.message", {"content": "Where is it?"}),
    ("gen_ai.choice", CHOICE),
]
SECOND: list[tuple[str, dict[str, Any]]] = [
    *FIRST[:2],
    ("gen_ai.assistant.message", {"tool_calls": [CALL]}),
    ("gen_ai.tool.message", {"id": "c1", "content": "at sea"}),
    ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "At sea."}}),
]


def spans() -> list[dict[str, Any]]:
    return [span(1, attributes=BARE), span(2, attributes=BARE)]


def logs() -> list[dict[str, Any]]:
    first = [record(name, body, of=1, at=at) for at, (name, body) in enumerate(FIRST)]
    return first + [record(name, body, of=2, at=100 + at) for at, (name, body) in enumerate(SECOND)]


def assert_whole(data: bytes) -> None:
    run = run_of(data)
    first, second = models(run)
    assert calls_of(first.response["message"]) == [("find", '{"id": "7"}')]
    assert first.response["finish_reason"] == "tool_calls"
    assert [message["role"] for message in second.request["messages"]] == ["system", "user", "assistant", "tool"]
    assert second.request["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "at sea"}
    assert [(step.tool, step.arguments, step.value) for step in tools(run)] == [("find", {"id": "7"}, "at sea")]
    assert run.system == "Be brief."
    assert run.serving == {"provider": "openai", "requested_model": "m"}


def test_log_records_are_joined_to_their_spans() -> None:
    assert_whole(export(*spans(), logs=logs()))


def test_records_go_by_their_time_and_not_by_the_file() -> None:
    assert_whole(export(*spans(), logs=logs()[::-1]))


def test_spans_and_records_of_two_files_make_one_run() -> None:
    assert_whole(export(*spans()) + b"\n" + export(logs=logs()))


def test_events_of_the_span_hold_the_same() -> None:
    rows = []
    for number, told in ((1, FIRST), (2, SECOND)):
        events = [
            {"name": name, "timeUnixNano": str(at + 1), "attributes": pairs({"gen_ai.event.content": json.dumps(body)})}
            for at, (name, body) in enumerate(told)
        ]
        rows.append(span(number, attributes=BARE, events=events))
    assert_whole(export(*rows))


def test_records_without_spans_are_refused_by_name() -> None:
    data = b'{"resourceLogs": ' + export(logs=logs()).split(b'"resourceLogs":')[1]
    with pytest.raises(ImportRefused) as caught:
        open_recording(data)
    assert caught.value.finding.id == "import.no-spans"


def test_events_that_were_recorded_without_their_content_can_be_listed_and_not_replayed() -> None:
    asked = {"id": "c1", "type": "function", "function": {"name": "find"}}
    rows = [
        record("gen_ai.user.message", {}, of=1, at=1),
        record("gen_ai.choice", {"message": {"role": "assistant", "tool_calls": [asked]}}, of=1, at=2),
        record("gen_ai.user.message", {}, of=2, at=3),
        record("gen_ai.assistant.message", {"tool_calls": [asked]}, of=2, at=4),
        record("gen_ai.tool.message", {"id": "c1"}, of=2, at=5),
        record("gen_ai.choice", {"message": {"role": "assistant"}}, of=2, at=6),
    ]
    run = run_of(export(*spans(), logs=rows))
    assert [(step.request, step.answered) for step in models(run)] == [({}, False), ({}, False)]
    assert [(step.tool, step.arguments, step.answered) for step in tools(run)] == [("find", None, False)]
    assert report_of(run, ()).mode == "forensic"


def test_records_of_another_trace_are_nobody_s() -> None:
    other = [{**row, "traceId": "f" * 32} for row in logs()]
    assert [step.answered for step in models(run_of(export(*spans(), logs=other)))] == [False, False]


def test_blocks_of_converse_in_events_are_calls_and_answers() -> None:
    use = {"toolUse": {"toolUseId": "c1", "name": "find", "input": {"id": "7"}}}
    result = {"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "at sea"}]}}
    first = [event("gen_ai.user.message", content=[{"text": "Where is it?"}]), event("gen_ai.choice", message=[use])]
    second = [
        *first[:1],
        event("gen_ai.assistant.message", content=[use]),
        event("gen_ai.tool.message", content=[result]),
        event("gen_ai.choice", message=[{"text": "At sea."}], finish_reason="end_turn"),
    ]
    run = run_of(export(span(1, attributes=BARE, events=first), span(2, attributes=BARE, events=second)))
    assert [(step.tool, step.arguments, step.value) for step in tools(run)] == [
        ("find", {"id": "7"}, [{"text": "at sea"}])
    ]
    last = models(run)[1]
    assert [message["role"] for message in last.request["messages"]] == ["user", "assistant", "tool"]
    assert last.response == {"message": {"role": "assistant", "content": "At sea."}, "finish_reason": "end_turn"}


def test_what_a_tool_answered_stays_the_text_that_it_was_though_it_holds_json() -> None:
    rows = logs()
    told = next(row for row in rows if row["eventName"] == "gen_ai.tool.message")
    told["body"] = record("", {"id": "c1", "content": '[{"order": 7}]'}, of=2)["body"]
    run = run_of(export(*spans(), logs=rows))
    assert [step.value for step in tools(run)] == ['[{"order": 7}]']
    assert models(run)[1].request["messages"][3]["content"] == '[{"order": 7}]'


def event(name: str, **fields: Any) -> dict[str, Any]:
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in fields.items()}
    return {"name": name, "timeUnixNano": "1", "attributes": pairs(texts)}


@pytest.mark.parametrize("status", ["success", "error"])
def test_a_tool_s_run_with_its_call_and_answer_in_events(status: str) -> None:
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.status": status}
    told = [event("gen_ai.tool.message", content={"id": "7"}), event("gen_ai.choice", message=[{"text": "at sea"}])]
    (step,) = tools(run_of(export(span(1, attributes=named, events=told))))
    assert (step.arguments, step.value, step.error is None) == ({"id": "7"}, [{"text": "at sea"}], status == "success")
