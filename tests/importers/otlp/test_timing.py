"""What a trace tells of a tool call that ran out of time, and nothing more."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.importers.registry import to_case
from replaycases.importers.supplied import Supplied
from tests.importers.otlp.exports import START, export, pairs, span
from tests.importers.otlp.runs import kinds, run_of, tools
from tests.importers.otlp.test_genai import FIRST, TOOL

BARE = {key: value for key, value in TOOL.items() if "result" not in key}
SERVER, CLIENT = {"kind": 2}, {"kind": 3}


def at(milliseconds: int) -> str:
    rest = f".{milliseconds:03}".rstrip("0") if milliseconds else ""
    return f"2026-09-21T14:13:20{rest}+00:00"


def exception(kind: str, milliseconds: int) -> dict[str, Any]:
    thrown = pairs({"exception.type": kind})
    return {"name": "exception", "timeUnixNano": str(START + milliseconds * 1_000_000), "attributes": thrown}


def failed(number: int, kind: str, *, when: int, **parts: Any) -> dict[str, Any]:
    return span(number, status={"code": 2}, events=[exception(kind, when)], **parts)


def timing(*rows: dict[str, Any]) -> Any:
    (step,) = tools(run_of(export(*rows)))
    return step.timing


def test_a_call_that_ended_in_the_ordinary_way_has_none() -> None:
    assert timing(span(1, at=0, lasts=90), span(2, attributes=TOOL, parent=1)) is None


def test_the_budget_began_with_the_span_that_names_it() -> None:
    around = span(1, at=0, lasts=90, attributes={"agent.timeout_ms": 50})
    call = failed(2, "asyncio.exceptions.CancelledError", when=50, attributes=BARE, at=20, lasts=30, parent=1)
    assert timing(around, call) == {
        "budget_started_at": at(0),
        "deadline_at": at(50),
        "dispatched_at": at(20),
        "ended_by": "asyncio.exceptions.CancelledError",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("request.deadline", at(50)),
        ("deadline_at", at(50)),
        ("deadline.unix_nano", START + 50_000_000),
        ("call.timeout.seconds", 0.05),
    ],
)
def test_a_deadline_is_read_in_its_forms(name: str, value: Any) -> None:
    found = timing(span(1, at=0, lasts=90, attributes={name: value}), span(2, attributes=TOOL, parent=1))
    assert (found["deadline_at"], found["budget_started_at"]) == (at(50), at(0))


@pytest.mark.parametrize("value", ["soon", True, -1, 10**30])
def test_a_deadline_that_cannot_be_read_is_none(value: Any) -> None:
    rows = (span(1, lasts=90, attributes={"deadline": value, "timeout_ms": value}), span(2, attributes=TOOL, parent=1))
    assert not (timing(*rows) or {}).get("deadline_at")


def test_a_time_limit_without_a_unit_says_nothing() -> None:
    assert timing(span(1, lasts=90, attributes={"tool.timeout": 5}), span(2, attributes=TOOL, parent=1)) is None


def test_client_and_server_spans_say_when_the_call_went_out_and_was_seen() -> None:
    call = failed(1, "httpx.ReadTimeout", when=30, attributes=BARE, at=0, lasts=30)
    found = timing(call, span(2, at=4, lasts=26, parent=1, **CLIENT), span(3, at=6, lasts=2, parent=2, **SERVER))
    assert found == {"dispatched_at": at(4), "received_at": at(6), "ended_by": "httpx.ReadTimeout"}


def test_an_answer_of_the_server_after_the_end_is_a_late_one() -> None:
    call = failed(1, "CancelledError", when=10, attributes=BARE, at=0, lasts=10)
    found = timing(call, span(2, at=1, lasts=9, parent=1, **CLIENT), span(3, at=2, lasts=40, parent=2, **SERVER))
    assert found["late_result"] == {"answered_at": at(42)}


@pytest.mark.parametrize(
    ("said", "late"),
    [
        ({"http.response.status_code": 499}, False),
        ({"http.status_code": "400"}, False),
        ({"http.response.status_code": 204}, True),
        ({"rpc.grpc.status_code": 1}, False),
        ({"rpc.response.status_code": "CANCELLED"}, False),
        ({"rpc.grpc.status_code": 0, "rpc.response.status_code": "OK"}, True),
        ({"error.type": "aborted"}, False),
    ],
)
def test_a_late_answer_that_is_an_error_completed_nothing(said: dict[str, Any], late: bool) -> None:
    call = failed(1, "TimeoutError", when=30, attributes=BARE, at=0, lasts=30)
    server = span(2, at=5, lasts=50, parent=1, attributes=said, **SERVER)
    assert ("late_result" in timing(call, server)) is late


def test_a_result_that_came_after_the_cancellation_is_a_late_one() -> None:
    found = timing(failed(1, "CancelledError", when=10, attributes=TOOL, at=0, lasts=40))
    assert found["late_result"] == {"value": "at sea", "at": at(40)}


def test_an_exception_of_an_attempt_that_was_tried_again_ended_nothing() -> None:
    assert timing(span(1, attributes=TOOL, events=[exception("TimeoutError", 1)])) is None


def test_the_client_s_own_end_is_the_call_s() -> None:
    client = span(2, attributes={"error.type": "timeout"}, status={"code": 2}, at=4, lasts=26, parent=1, **CLIENT)
    assert timing(span(1, attributes=BARE, status={"code": 2}, at=0, lasts=31), client)["ended_by"] == "timeout"


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ({"status": {"code": 2, "message": "Deadline exceeded after 3s"}}, "status: deadline"),
        ({"status": {"code": 2}, "attributes": BARE | {"rpc.grpc.status_code": 4}}, "DEADLINE_EXCEEDED"),
        ({"attributes": BARE | {"error.type": "ToolTimeout"}}, "ToolTimeout"),
    ],
)
def test_the_end_is_named_by_what_the_span_has(parts: dict[str, Any], word: str) -> None:
    assert timing(span(1, **{"attributes": BARE, **parts}))["ended_by"] == word


def test_an_error_that_is_no_end_of_time_says_nothing_of_it() -> None:
    assert timing(span(1, attributes=BARE | {"error.type": "OrderGone"}, status={"code": 2, "message": "gone"})) is None


def test_clocks_that_contradict_each_other_are_said() -> None:
    call = failed(1, "TimeoutError", when=30, attributes=BARE, at=10, lasts=30)
    run = run_of(export(call, span(2, at=12, lasts=20, parent=1, **CLIENT), span(3, at=2, parent=2, **SERVER)))
    assert "clock_contradiction" in kinds(run)
    assert tools(run)[0].timing is not None


def test_timing_reaches_the_draft() -> None:
    call = failed(2, "TimeoutError", when=20, attributes=BARE, at=10, lasts=10)
    run = run_of(export(span(1, attributes=FIRST), call))
    events = to_case(run, Supplied(case_id="c", incident_id="i")).document["events"]
    assert [event["timing"]["ended_by"] for event in events if event["boundary"] == "tool"] == ["TimeoutError"]
