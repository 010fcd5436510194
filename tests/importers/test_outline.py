"""What is shown of a run without its content."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.importers.neutral import ModelStep, NeutralRun, Note, ToolStep
from replaycases.importers.outline import called_tools, outline_of, reach
from replaycases.importers.registry import open_recording, report_on
from replaycases.importers.supplied import Supplied
from tests.importers.transcripts import answers, asks, call, says, transcript, user

JSON = Any
TRACE = transcript(user("refund 4711"), asks(call("refund", {"id": 1})), answers("timed out"), says("Done."))


def run(*steps: ModelStep | ToolStep, notes: tuple[Note, ...] = ()) -> NeutralRun:
    return NeutralRun(format="x", input="hi", steps=steps, notes=notes)


def test_every_step_has_its_boundary_name_and_number() -> None:
    lines = outline_of(open_recording(TRACE).read())
    assert [(line.number, line.boundary, line.name) for line in lines] == [
        (1, "model", ""),
        (2, "tool", "refund"),
        (3, "model", ""),
    ]


def test_how_a_step_ended_is_told_apart() -> None:
    failed = ModelStep(source="/1", request={"a": 1}, response={"error": "x"})
    note = Note(kind="failed_call", source="/1/response/body", text="it failed", boundary="model")
    lines = outline_of(
        run(
            ToolStep(source="/0", tool="a", arguments={}, error={"kind": "x", "message": "y"}),
            failed,
            ToolStep(source="/2", tool="a", arguments={}, answered=False),
            ModelStep(source="/10", request={"a": 1}, response={"said": "x"}),
            notes=(note,),
        )
    )
    assert [line.ending for line in lines] == ["failed", "failed", "no answer", "answered"]


@pytest.mark.parametrize(
    ("value", "ending"),
    [
        ("Error: payment method not found", "error text"),
        ("An error occurred while running the tool.", "error text"),
        ("Traceback (most recent call last):", "error text"),
        ("ValueError: no such order", "error text"),
        ('{"error": "no such order"}', "error text"),
        ({"error": {"code": 4}}, "error text"),
        ({"isError": True, "content": []}, "error text"),
        ('{"error": null, "order": 7}', "answered"),
        ({"error": "", "order": 7}, "answered"),
        ("No error occurred", "answered"),
        ("Error rate is 2 %", "answered"),
        ("Errors are counted elsewhere", "answered"),
        (7, "answered"),
    ],
)
def test_an_answer_that_calls_itself_an_error_is_told_apart_from_one_that_does_not(value: JSON, ending: str) -> None:
    [line] = outline_of(run(ToolStep(source="/0", tool="a", arguments={}, value=value)))
    assert line.ending == ending


def test_a_draft_ends_before_the_first_step_that_is_kept_and_not_whole() -> None:
    steps = [ToolStep(source=f"/{n}", tool="a", arguments={}, answered=n != 1) for n in range(3)]
    lines = outline_of(run(*steps))
    assert [line.whole for line in lines] == [True, False, True]
    assert (reach(lines, ()), reach(lines, {2})) == (1, 3)


def test_a_step_took_what_lies_between_two_times_of_one_clock() -> None:
    at = {"started_at": "2026-11-01T09:00:00+01:00", "ended_at": "2026-11-01T08:00:02.5Z"}
    naive = {"started_at": "2026-11-01T09:00:00", "ended_at": "2026-11-01T08:00:02Z"}
    lines = outline_of(run(*(ToolStep(source="", tool="a", arguments={}, **times) for times in (at, naive, {}))))
    assert [line.seconds for line in lines] == [2.5, None, None]


def test_tools_are_named_once_in_the_order_of_their_calls() -> None:
    steps = [ToolStep(source="", tool=name, arguments={}) for name in ("b", "a", "b")]
    assert called_tools(run(*steps)) == ("b", "a")


def test_a_run_is_reported_on_before_it_has_a_name_or_a_time() -> None:
    report = report_on(open_recording(TRACE).read(), Supplied())
    gaps = {gap.name: gap.declared for gap in report.gaps}
    assert gaps["frozen_at"] is False
    assert gaps["identity"] is False
    assert report.mode == "replay"
