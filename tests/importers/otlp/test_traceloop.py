"""Traceloop's OpenLLMetry, by its flattened names and by its spans for tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.importers.otlp.exports import export, sdk_request, span
from tests.importers.otlp.runs import calls_of, models, run_of, tools

FIRST = {
    "llm.request.type": "chat",
    "gen_ai.system": "OpenAI",
    "gen_ai.request.model": "m",
    "gen_ai.request.temperature": 0.1,
    "llm.presence_penalty": 0.2,
    "llm.is_streaming": False,
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be brief.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "Where is it?",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.finish_reason": "tool_calls",
    "gen_ai.completion.0.tool_calls.0.id": "c1",
    "gen_ai.completion.0.tool_calls.0.name": "find",
    "gen_ai.completion.0.tool_calls.0.arguments": '{"id": "7"}',
    "llm.request.functions.0.name": "find",
    "llm.request.functions.0.parameters": '{"type": "object"}',
    "gen_ai.usage.prompt_tokens": 9,
    "llm.usage.total_tokens": 11,
}
SECOND = {
    "llm.request.type": "chat",
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "Where is it?",
    "gen_ai.prompt.1.role": "assistant",
    "gen_ai.prompt.1.tool_calls.0.id": "c1",
    "gen_ai.prompt.1.tool_calls.0.name": "find",
    "gen_ai.prompt.1.tool_calls.0.arguments": '{"id": "7"}',
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.tool_call_id": "c1",
    "gen_ai.prompt.2.content": "at sea",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "At sea.",
    "gen_ai.completion.0.finish_reason": "stop",
}


def ran(given: Any, output: Any) -> dict[str, Any]:
    return {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "find",
        "traceloop.entity.input": json.dumps(given),
        "traceloop.entity.output": json.dumps(output),
    }


def test_flattened_prompts_and_completions_become_a_chat() -> None:
    run = run_of(sdk_request((("openai.chat", FIRST), ("openai.chat", SECOND))))
    first, second = models(run)
    assert calls_of(first.response["message"]) == [("find", '{"id": "7"}')]
    assert first.response["finish_reason"] == "tool_calls"
    assert first.request["tools"] == [{"name": "find", "parameters": {"type": "object"}}]
    assert first.serving == {
        "provider": "OpenAI",
        "requested_model": "m",
        "settings": {"presence_penalty": 0.2, "temperature": 0.1},
    }
    assert first.usage == {"input_tokens": 9, "total_tokens": 11}
    assert [message["role"] for message in second.request["messages"]] == ["user", "assistant", "tool"]
    assert [(step.tool, step.value) for step in tools(run)] == [("find", "at sea")]


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"args": [], "kwargs": {"id": "7"}}, {"id": "7"}),
        ({"args": ["7"], "kwargs": {}}, {"args": ["7"], "kwargs": {}}),
        ({"input_str": "{}", "inputs": {"id": "7"}, "tags": []}, {"id": "7"}),
        ({"input_str": '{"id": "7"}', "inputs": None}, {"id": "7"}),
    ],
)
def test_a_tool_s_arguments_are_taken_out_of_what_wraps_them(given: Any, arguments: Any) -> None:
    (step,) = tools(run_of(export(span(1, attributes=ran(given, "at sea")))))
    assert (step.tool, step.arguments) == ("find", arguments)


@pytest.mark.parametrize(
    ("output", "value"),
    [("at sea", "at sea"), ({"at": "sea"}, {"at": "sea"}), ({"output": "at sea", "kwargs": {}}, "at sea")],
)
def test_a_tool_s_answer_is_what_the_recorder_encoded(output: Any, value: Any) -> None:
    (step,) = tools(run_of(export(span(1, attributes=ran({"args": [], "kwargs": {}}, output)))))
    assert (step.value, step.answered) == (value, True)


def test_content_that_holds_parts_is_read_as_parts() -> None:
    parts = [{"type": "text", "text": "Where is it?"}]
    row = {**FIRST, "gen_ai.prompt.1.content": json.dumps(parts)}
    assert models(run_of(export(span(1, attributes=row))))[0].request["messages"][1]["content"] == parts


def test_workflow_and_task_spans_are_no_boundary() -> None:
    rows = [{"traceloop.span.kind": kind} for kind in ("workflow", "task", "agent")]
    assert run_of(export(*(span(at, attributes=row) for at, row in enumerate(rows, 1)))).steps == ()


def test_places_point_to_the_attribute_in_which_a_message_begins() -> None:
    run = run_of(export(span(1, attributes=FIRST)))
    at = list(FIRST).index(next(key for key in FIRST if key.startswith("gen_ai.completion.0.")))
    assert tools(run)[0].source.startswith(f"/resourceSpans/0/scopeSpans/0/spans/0/attributes/{at}/value")


def test_hostile_numbers_in_names_take_no_room() -> None:
    row = {**FIRST, "gen_ai.prompt.999999999.content": "x", "gen_ai.prompt.99999999999.content": "x"}
    assert len(models(run_of(export(span(1, attributes=row))))[0].request["messages"]) == 3
