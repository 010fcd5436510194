"""Each call counts once, however many spans tell of it, in the order in which things happened."""

from __future__ import annotations

import json
from typing import Any

from tests.importers.otlp.exports import export, span
from tests.importers.otlp.runs import kinds, models, retrievals, run_of, tools
from tests.importers.otlp.test_genai import ASKED, CALL, CALLS, FIRST, SAID, SECOND, SYSTEM, TOLD, TOOL, chat

AGENT = {"gen_ai.operation.name": "invoke_agent"}
BARE = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}


def left_out(run: Any) -> list[str]:
    return [note.source[-1] for note in run.notes if note.kind == "left_out"]


def test_a_call_that_two_instrumentations_recorded_counts_once() -> None:
    inner = {"openinference.span.kind": "LLM", "input.value": "hi", "output.value": "ho"}
    run = run_of(export(span(1, attributes=FIRST, lasts=5), span(2, attributes=inner, parent=1)))
    assert [step.source[-1] for step in models(run)] == ["1"]
    assert left_out(run) == ["0"]


def test_the_record_with_the_content_is_taken_and_what_only_the_other_says_is_kept() -> None:
    outer = FIRST | {"gen_ai.usage.input_tokens": 9}
    run = run_of(
        export(span(1, attributes=outer, lasts=5), span(2, "HTTP", parent=1), span(3, attributes=BARE, parent=2))
    )
    assert [step.source[-1] for step in models(run)] == ["0"]
    said_inside = BARE | {"gen_ai.output.messages": json.dumps([CALLS])}
    (step,) = models(run_of(export(span(1, attributes=outer, lasts=5), span(2, attributes=said_inside, parent=1))))
    assert (step.source[-1], len(step.request["messages"]), step.usage) == ("1", 2, {"input_tokens": 9})


def test_attempts_inside_one_call_are_calls_of_their_own() -> None:
    failed = span(2, attributes=BARE | {"error.type": "Timeout"}, status={"code": 2}, parent=1)
    run = run_of(export(span(1, attributes=FIRST, lasts=9), failed, span(3, attributes=FIRST, parent=1)))
    assert [step.source[-1] for step in models(run)] == ["1", "2"]
    assert kinds(run).count("failed_call") == 1


def test_a_tool_with_model_calls_inside_is_no_step_and_its_calls_are() -> None:
    rows = (
        span(1, attributes=FIRST),
        span(2, attributes=TOOL, lasts=9),
        span(3, "agent", attributes=AGENT, parent=2),
        span(4, attributes=chat([ASKED], [SAID]), parent=3),
        span(20, attributes=SECOND),
    )
    run = run_of(export(*rows))
    assert [type(step).__name__ for step in run.steps] == ["ModelStep"] * 3
    assert left_out(run) == ["1"]


def test_tools_of_an_agent_that_is_a_tool_are_steps() -> None:
    inner = TOOL | {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c9"}
    asks = {**CALLS, "parts": [{**CALL, "name": "look", "id": "c9"}]}
    rows = (
        span(1, attributes=FIRST),
        span(2, attributes=TOOL, lasts=9),
        span(3, attributes=chat([ASKED], [asks]), parent=2),
        span(5, attributes=inner, parent=2),
    )
    assert [step.tool for step in tools(run_of(export(*rows)))] == ["look"]


def test_what_is_inside_a_tool_belongs_to_it() -> None:
    inner = TOOL | {"gen_ai.tool.name": "http", "gen_ai.tool.call.id": "h"}
    found = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": "x"}
    rows = (
        span(1, attributes=TOOL, lasts=9),
        span(2, attributes=inner, parent=1),
        span(3, attributes=found, parent=1),
        span(4, attributes={"gen_ai.operation.name": "embeddings"}, parent=3),
    )
    run = run_of(export(*rows))
    assert [type(step).__name__ for step in run.steps] == ["ToolStep"]
    assert len(run.left_out) == 3
    assert "left_out" in kinds(run)


def test_a_tool_that_two_instrumentations_recorded_is_the_fuller_one() -> None:
    bare = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}
    run = run_of(export(span(1, attributes=bare, lasts=9), span(2, attributes=TOOL, parent=1)))
    assert [(step.source[-1], step.answered) for step in tools(run)] == [("1", True)]
    run = run_of(export(span(1, attributes=TOOL, lasts=9), span(2, attributes=bare, parent=1)))
    assert [(step.source[-1], step.answered) for step in tools(run)] == [("0", True)]


def test_embeddings_for_a_retrieval_are_part_of_it() -> None:
    found = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": "x"}
    embeds = {"gen_ai.operation.name": "embeddings"}
    run = run_of(export(span(1, attributes=found, lasts=9), span(2, attributes=embeds, parent=1)))
    assert (len(retrievals(run)), models(run)) == (1, [])


def test_a_span_that_was_exported_twice_counts_once_and_the_fuller_is_taken() -> None:
    run = run_of(export(span(1, attributes=BARE), span(1, attributes=FIRST), span(1, attributes=FIRST)))
    assert [step.answered for step in models(run)] == [True]
    assert kinds(run).count("left_out") == 1


def test_spans_that_were_written_as_they_ended_are_put_in_the_order_of_their_start() -> None:
    rows = (span(2, attributes=TOOL, at=5), span(1, attributes=FIRST, at=1), span(3, attributes=SECOND, at=9))
    assert [type(step).__name__ for step in run_of(export(*rows)).steps] == ["ModelStep", "ToolStep", "ModelStep"]


def test_at_equal_starts_what_ended_first_came_first() -> None:
    rows = (
        span(3, attributes=SECOND, at=5, lasts=4),
        span(2, attributes=TOOL, at=5, lasts=0),
        span(1, attributes=FIRST),
    )
    assert [step.value for step in tools(run_of(export(*rows)))] == ["at sea"]


def test_a_tool_that_ran_before_it_was_asked_for_is_still_that_call_s() -> None:
    run = run_of(export(span(1, attributes=TOOL, at=1), span(2, attributes=FIRST, at=4)))
    assert [type(step).__name__ for step in run.steps] == ["ModelStep", "ToolStep"]
    assert "clock_contradiction" in kinds(run)


def test_a_parent_that_is_not_in_the_file_is_said_once() -> None:
    run = run_of(export(span(1, attributes=FIRST, parent=77), span(2, attributes=TOOL, parent=77)))
    assert len(run.steps) == 2
    assert kinds(run).count("unresolved_reference") == 1


def test_parents_in_a_circle_are_cut_open() -> None:
    run = run_of(export(span(1, attributes=FIRST, parent=2), span(2, attributes=TOOL, parent=1), span(3, parent=3)))
    assert len(run.steps) == 2
    assert kinds(run).count("unresolved_reference") == 1


def test_impossible_times_are_said_and_lose_nothing() -> None:
    backwards = span(1, attributes=FIRST, lasts=-3)
    outside = span(9, attributes=SECOND, parent=2, at=50)
    never = {**span(5, attributes=TOOL), "startTimeUnixNano": "0", "endTimeUnixNano": "0"}
    run = run_of(export(backwards, span(2, attributes=AGENT, lasts=5), outside, never))
    assert len(run.steps) == 3
    assert {"clock_contradiction", "sequence_gap"} <= set(kinds(run))


def test_an_answer_in_a_request_whose_own_call_is_missing_is_a_gap() -> None:
    third = chat([SYSTEM, ASKED, CALLS, TOLD, SAID, ASKED], [SAID])
    run = run_of(export(span(1, attributes=FIRST), span(3, attributes=third)))
    assert [note.boundary for note in run.notes if note.kind == "sequence_gap"] == ["model"]
    whole = run_of(export(span(1, attributes=FIRST), span(2, attributes=SECOND), span(3, attributes=third)))
    assert "sequence_gap" not in kinds(whole)


def test_a_conversation_that_began_before_the_trace_is_no_gap() -> None:
    assert "sequence_gap" not in kinds(run_of(export(span(1, attributes=SECOND))))


def test_the_traces_of_a_file_are_its_runs() -> None:
    other = {**span(1, attributes=SECOND), "traceId": "f" * 32}
    data = export(span(1, attributes=FIRST), other)
    assert [len(models(run_of(data, run))) for run in (0, 1)] == [1, 1]
    assert run_of(data, 1).trace_id == "f" * 32


def test_another_tool_inside_a_tool_does_not_stand_for_it() -> None:
    bare = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    run = run_of(export(span(1, attributes=bare, lasts=9), span(2, attributes=TOOL, parent=1)))
    assert [step.tool for step in tools(run)] == ["look"]


def test_model_calls_go_by_their_start_and_at_equal_starts_by_their_end() -> None:
    short, long = chat([ASKED], [SAID]), chat([SYSTEM, ASKED], [SAID])
    by_start = run_of(export(span(2, attributes=long, at=9), span(1, attributes=short, at=1)))
    by_end = run_of(export(span(2, attributes=long, at=1, lasts=9), span(1, attributes=short, at=1, lasts=1)))
    for run in (by_start, by_end):
        assert [len(step.request["messages"]) for step in models(run)] == [1, 2]


def test_a_start_outside_the_parent_is_said() -> None:
    run = run_of(export(span(2, attributes=AGENT, at=2, lasts=5), span(9, attributes=FIRST, parent=2, at=50)))
    assert kinds(run).count("clock_contradiction") == 1


def test_each_failed_call_has_its_own_note_and_lacks_its_request_only() -> None:
    failed = BARE | {"error.type": "Timeout"}
    run = run_of(export(span(1, attributes=failed), span(2, attributes=failed)))
    assert kinds(run) == ["failed_call", "failed_call", "content_lost"]
    assert run.notes[-1].text.startswith("what this model call was sent is not in the file")


def test_what_the_outermost_span_was_given_starts_a_run_without_requests() -> None:
    rows = (span(1, attributes={"input.value": '{"question": "Where?"}'}), span(2, attributes=BARE, parent=1))
    assert run_of(export(*rows)).input == {"question": "Where?"}


def test_numbers_in_messages_that_cannot_stand_in_a_fixture_are_kept_as_text() -> None:
    part = {"type": "data", "id": 2**60}
    run = run_of(export(span(1, attributes=chat([{"role": "user", "parts": [part]}], [SAID]))))
    assert models(run)[0].request["messages"][0]["content"] == [{"type": "data", "id": str(2**60)}]
    assert kinds(run) == ["content_lost"]
