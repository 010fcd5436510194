from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers import langfuse
from replaycases.importers.completeness import report_of
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import ModelStep, NeutralRun, RetrievalStep, ToolStep

JSON = Any
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
USER = {"role": "user", "content": "hi"}
ASKS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
TOLD = {"role": "tool", "content": "one", "tool_call_id": "c1"}


def row(id: str, kind: str, at: int, parent: str | None = "root", **fields: JSON) -> dict[str, JSON]:
    times = {"startTime": f"2026-01-02T03:04:{at:02}.000Z", "endTime": f"2026-01-02T03:04:{at + 1:02}.000Z"}
    return {"id": id, "traceId": "trace-1", "type": kind, "name": id, "parentObservationId": parent, "level": "DEFAULT",
            "statusMessage": None, **times, **fields}  # fmt: skip


def generation(id: str, at: int, sent: JSON, answer: JSON, **fields: JSON) -> dict[str, JSON]:
    given = {"input": json.dumps(sent), "output": answer if isinstance(answer, str) else json.dumps(answer)}
    return row(id, "GENERATION", at, **{"model": "m-1", **given, **fields})


ROOT = row("root", "SPAN", 0, None)
FIRST = generation("g1", 2, [USER], ASKS)
TOOL = row("look", "TOOL", 4, input='{"n": 1}', output="one")
LAST = generation("g2", 6, [USER, ASKS, TOLD], {"role": "assistant", "content": "done"})
ROWS = [LAST, TOOL, ROOT, FIRST]


def read(*rows: JSON, **trace: JSON) -> NeutralRun:
    file = ForeignFile(json.dumps({"trace": {"id": "trace-1", **trace}, "observations": rows}).encode())
    assert langfuse.sniff(file)
    return langfuse.read(file, 0)


def types(found: NeutralRun) -> list[type]:
    return [type(step) for step in found.steps]


def kinds(found: NeutralRun) -> list[str]:
    return [note.kind for note in found.notes]


def tool(found: NeutralRun) -> ToolStep:
    return next(step for step in found.steps if isinstance(step, ToolStep))


def model(found: NeutralRun, at: int = 0) -> ModelStep:
    return [step for step in found.steps if isinstance(step, ModelStep)][at]


def test_observations_in_any_order_become_steps_in_order_of_time() -> None:
    found = read(*ROWS, userId="u-1", release="v9")
    assert types(found) == [ModelStep, ToolStep, ModelStep]
    assert (tool(found).value, tool(found).arguments) == ("one", {"n": 1})
    assert (found.identity, found.workflow_version, found.trace_id) == ({"user_id": "u-1"}, "v9", "trace-1")
    assert found.started_at == "2026-01-02T03:04:00.000Z"
    assert report_of(found, ()).mode == "replay"


@pytest.mark.parametrize("document", [
    {"trace": {"id": "trace-1", "observations": None}, "observations": ROWS},
    {"trace": {"id": "trace-1", "observations": ROWS}},
    {"id": "trace-1", "observations": ROWS},
    {"data": ROWS, "meta": {}},
    ROWS,
    [{"trace": {"id": "trace-1"}, "observations": ROWS}],
])  # fmt: skip
def test_a_trace_is_found_in_every_shape_of_export(document: JSON) -> None:
    file = ForeignFile(json.dumps(document).encode())
    assert langfuse.sniff(file)
    assert [head.label for head in langfuse.heads(file)] == ["trace-1"]
    assert types(langfuse.read(file, 0)) == [ModelStep, ToolStep, ModelStep]


def test_observations_of_several_traces_are_several_runs() -> None:
    others = [{**one, "traceId": "trace-2"} for one in ROWS]
    assert [head.label for head in langfuse.heads(ForeignFile(json.dumps(ROWS + others).encode()))] == [
        "trace-1",
        "trace-2",
    ]


def test_a_text_that_was_encoded_twice_is_read_and_a_tools_answer_stays_as_stored() -> None:
    twice = {**FIRST, "input": json.dumps(json.dumps([USER])), "output": json.dumps(json.dumps(ASKS))}
    found = read(twice, {**TOOL, "output": '{"a": 1}'})
    assert (model(found).request, model(found).reconstructed) == ({"messages": [USER]}, True)
    assert tool(found).value == '{"a": 1}'


def test_settings_that_were_stored_as_text_are_what_they_were() -> None:
    stored = {"temperature": "0.5", "parallel_tool_calls": "true", "tool_choice": "auto", "max_tokens": 9, "id": "x"}
    found = read(
        {**FIRST, "modelParameters": stored, "metadata": json.dumps({"ls_provider": "p", "ls_model_name": "m"})}
    )
    assert found.serving == {
        "provider": "p",
        "requested_model": "m",
        "returned_model": "m-1",
        "settings": {"temperature": 0.5, "parallel_tool_calls": True, "tool_choice": "auto", "max_tokens": 9},
    }


def test_a_span_that_holds_a_tools_message_is_a_tool() -> None:
    told = {"content": "one", "type": "tool", "name": "look", "tool_call_id": "c1", "status": "error"}
    found = read(FIRST, row("anything", "SPAN", 4, input="{'n': 1}", output=json.dumps(told)))
    assert types(found) == [ModelStep, ToolStep]
    assert (tool(found).value, tool(found).error) == ("one", {"kind": "error", "message": "one"})


def test_a_span_with_the_name_of_a_tool_that_was_asked_for_is_a_tool() -> None:
    assert tool(read(FIRST, {**TOOL, "type": "SPAN"})).value == "one"


def test_a_tool_is_called_what_its_metadata_say() -> None:
    named = {"attributes": {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1"}}
    found = read(FIRST, {**TOOL, "name": "running tool: look", "metadata": named})
    assert [step.value for step in found.steps if isinstance(step, ToolStep)] == ["one"]


def test_a_generation_that_holds_others_is_counted_once() -> None:
    found = read({**FIRST, "id": "outer"}, {**FIRST, "parentObservationId": "outer"}, TOOL)
    assert types(found) == [ModelStep, ToolStep]
    assert "left_out" in kinds(found)


def test_the_same_observation_twice_is_one() -> None:
    found = read(FIRST, TOOL, TOOL)
    assert types(found) == [ModelStep, ToolStep]
    assert "left_out" in kinds(found)


def test_a_generation_without_its_content_cannot_be_replayed_and_says_so() -> None:
    found = read(FIRST, TOOL, {**LAST, "input": '{"content":"role"}'})
    assert (model(found, 1).request, kinds(found)) == ({}, ["unresolved_reference"] * 3 + ["content_lost"])
    assert (report_of(found, ()).mode, report_of(found, ()).replayable) == ("prefix", 2)


def test_one_answer_that_stands_in_several_generations_is_one_model_call() -> None:
    def part(id: str, at: int, block: JSON) -> JSON:
        answer = {"role": "assistant", "content": [block]}
        return generation(id, at, {"content": "role"} if at > 2 else USER, answer, name="turn")

    asks = {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}
    found = read(part("a", 2, {"type": "text", "text": "so"}), part("b", 3, asks), row("look", "TOOL", 5, output="one"))
    assert types(found) == [ModelStep, ToolStep]
    assert model(found).response == {"role": "assistant", "content": [{"type": "text", "text": "so"}, asks]}
    assert "guessed_pairing" in kinds(found)


def test_a_whole_answer_of_a_provider_in_a_text_is_read_by_its_own_rules() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"n":1}'}
    answer = {"object": "response", "model": "m-1-b", "instructions": "Help.", "tools": [{"name": "look"}],
              "output": [call], "usage": {"input_tokens": 3}}  # fmt: skip
    found = read(generation("g", 2, [USER], answer), TOOL)
    assert types(found) == [ModelStep, ToolStep]
    assert model(found).request == {"instructions": "Help.", "tools": [{"name": "look"}], "input": [USER]}
    assert (model(found).reconstructed, found.system, model(found).usage) == (True, "Help.", {"input_tokens": 3})


def test_tools_that_stand_among_the_messages_are_what_was_offered() -> None:
    offered = {"type": "function", "function": {"name": "look"}}
    found = read(generation("g", 2, [USER, {"role": "tool", "content": offered}], ASKS))
    assert model(found).request == {"messages": [USER], "tools": [offered]}
    assert "result_without_call" not in kinds(found)


def test_messages_in_parts_are_read() -> None:
    asks = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"n": 1}}]}
    told = {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "name": "look", "result": "one"}]}
    said = {"role": "assistant", "parts": [{"type": "text", "content": "done"}]}
    found = read(generation("g1", 2, [USER], [asks]), generation("g2", 4, [USER, asks, told], [said]))
    assert (types(found), tool(found).value) == ([ModelStep, ToolStep, ModelStep], "one")


def test_failures_are_kept_where_the_format_marks_them() -> None:
    found = read(
        FIRST,
        {**TOOL, "output": None, "level": "ERROR", "statusMessage": "no"},
        {**LAST, "output": None, "level": "ERROR", "statusMessage": "overloaded"},
    )
    assert tool(found).error == {"kind": "error", "message": "no"}
    assert (model(found, 1).response, kinds(found).count("failed_call")) == ("overloaded", 1)


def test_times_that_contradict_each_other_are_noted() -> None:
    found = read(row("root", "SPAN", 9, None), FIRST, {**TOOL, "endTime": "2026-01-02T03:04:01.000Z"})
    assert kinds(found).count("clock_contradiction") == 3
    assert found.started_at == "2026-01-02T03:04:02.000Z"


def test_what_was_retrieved_is_chunks() -> None:
    documents = [{"id": "d", "page_content": "text"}]
    found = read(row("r", "RETRIEVER", 1, input='{"query": "q"}', output=json.dumps(documents))).steps[0]
    assert isinstance(found, RetrievalStep)
    assert (found.query, found.chunks) == ("q", [{"id": "d", "text": "text"}])


def test_observations_without_content_can_be_listed_and_not_replayed() -> None:
    bare = [{key: value for key, value in one.items() if key not in ("input", "output")} for one in ROWS]
    file = ForeignFile(json.dumps({"data": bare}).encode())
    assert report_of(langfuse.read(file, 0), ()).mode == "forensic"


@pytest.mark.parametrize("document", [
    {}, [], [1], {"observations": [{"type": "GENERATION"}]}, {"observations": [1]}, {"data": [{"traceId": "x"}]},
    {"observations": {"type": "SPAN", "traceId": "x"}},
])  # fmt: skip
def test_anything_else_is_not_recognised(document: JSON) -> None:
    assert not langfuse.sniff(ForeignFile(json.dumps(document).encode()))
