"""Spans of Vercel's AI SDK under its own names."""

from __future__ import annotations

import json

from tests.importers.otlp.exports import export, span
from tests.importers.otlp.runs import calls_of, kinds, models, run_of, tools

USER = {"role": "user", "content": [{"type": "text", "text": "Where is it?"}]}
CALL = {"type": "tool-call", "toolCallId": "c1", "toolName": "find", "input": {"id": "7"}}
TOLD = {"type": "tool-result", "toolCallId": "c1", "toolName": "find", "output": {"type": "text", "value": "at sea"}}
FIRST = {
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "m",
    "ai.model.provider": "openai.chat",
    "ai.settings.maxRetries": 2,
    "gen_ai.request.temperature": 0.5,
    "ai.prompt.messages": json.dumps([USER]),
    "ai.prompt.tools": ['{"type": "function", "name": "find"}'],
    "ai.response.finishReason": "tool-calls",
    "ai.response.toolCalls": json.dumps([CALL]),
    "gen_ai.usage.input_tokens": 9,
}
SECOND = FIRST | {
    "ai.prompt.messages": json.dumps(
        [USER, {"role": "assistant", "content": [CALL]}, {"role": "tool", "content": [TOLD]}]
    ),
    "ai.response.text": "At sea.",
    "ai.response.finishReason": "stop",
}
del SECOND["ai.response.toolCalls"]
RAN = {
    "ai.operationId": "ai.toolCall",
    "ai.toolCall.name": "find",
    "ai.toolCall.id": "c1",
    "ai.toolCall.args": '{"id": "7"}',
    "ai.toolCall.result": '{"at": "sea"}',
}


def test_the_calls_inside_a_wrapper_are_the_steps() -> None:
    outer = {"ai.operationId": "ai.generateText", "ai.prompt": "Where is it?", "ai.response.text": "At sea."}
    rows = (
        span(1, attributes=outer, lasts=9),
        span(2, attributes=FIRST, parent=1),
        span(3, attributes=RAN, parent=1),
        span(4, attributes=SECOND, parent=1),
    )
    run = run_of(export(*rows))
    assert [type(step).__name__ for step in run.steps] == ["ModelStep", "ToolStep", "ModelStep"]
    first, last = models(run)
    assert calls_of(first.response["message"]) == [("find", '{"id": "7"}')]
    assert last.response == {"message": {"role": "assistant", "content": "At sea."}, "finish_reason": "stop"}
    assert [(step.arguments, step.value, step.call_id) for step in tools(run)] == [({"id": "7"}, {"at": "sea"}, "c1")]
    expected = {"provider": "openai.chat", "requested_model": "m", "settings": {"temperature": 0.5}}
    assert (run.serving, run.tools) == (expected, [{"type": "function", "name": "find"}])
    assert "sequence_gap" not in kinds(run)


def test_what_a_later_request_says_answers_a_call() -> None:
    run = run_of(export(span(1, attributes=FIRST), span(2, attributes=SECOND)))
    assert [step.value for step in tools(run)] == [{"type": "text", "value": "at sea"}]
