"""pydantic-ai, by the names of its instrumentation versions."""

from __future__ import annotations

import json

from tests.importers.otlp.exports import export, span
from tests.importers.otlp.runs import calls_of, models, run_of, tools

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": {"id": "7"}}}
EVENTS = [
    {"event.name": "gen_ai.system.message", "content": "Be brief.", "role": "system", "gen_ai.message.index": 0},
    {"event.name": "gen_ai.user.message", "content": "Where is it?", "role": "user", "gen_ai.message.index": 0},
    {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "tool_calls": [CALL]}},
]
OFFERED = {"function_tools": [{"name": "find", "description": "d", "parameters_json_schema": {"type": "object"}}]}
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.request.model": "m",
    "model_request_parameters": json.dumps(OFFERED),
}
RAN = {
    "gen_ai.tool.name": "find",
    "gen_ai.tool.call.id": "c1",
    "tool_arguments": '{"id":"7"}',
    "tool_response": "at sea",
}


def test_version_1_keeps_events_in_an_attribute_and_names_its_tools_otherwise() -> None:
    row = CHAT | {"events": json.dumps(EVENTS)}
    run = run_of(export(span(1, attributes=row), span(2, "running tool", attributes=RAN), scope="pydantic-ai"))
    (step,) = models(run)
    assert [message["role"] for message in step.request["messages"]] == ["system", "user"]
    assert calls_of(step.response["message"]) == [("find", '{"id": "7"}')]
    assert [(tool.arguments, tool.value, tool.call_id) for tool in tools(run)] == [({"id": "7"}, "at sea", "c1")]
    assert run.tools == [{"type": "function", "name": "find", "description": "d", "parameters": {"type": "object"}}]


def test_what_only_the_whole_conversation_tells_answers_the_last_call() -> None:
    call = {"type": "tool_call", "id": "c1", "name": "find", "arguments": '{"id": "7"}'}
    user = {"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}
    asked = {"role": "assistant", "parts": [call], "finish_reason": "tool_call"}
    told = {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "name": "find", "result": "at sea"}]}
    row = CHAT | {"gen_ai.input.messages": json.dumps([user]), "gen_ai.output.messages": json.dumps([asked])}
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "pydantic_ai.all_messages": json.dumps([user, asked, told]),
    }
    run = run_of(export(span(1, attributes=agent), span(2, attributes=row, parent=1), scope="pydantic-ai"))
    assert [(tool.value, tool.answered) for tool in tools(run)] == [("at sea", True)]


def test_messages_that_were_recorded_without_content_leave_the_calls_and_no_request() -> None:
    user = {"role": "user", "parts": [{"type": "text"}]}
    asked = {"role": "assistant", "parts": [{"type": "text"}, {"type": "tool_call", "id": "c1", "name": "find"}]}
    row = CHAT | {"gen_ai.input.messages": json.dumps([user]), "gen_ai.output.messages": json.dumps([asked])}
    run = run_of(export(span(1, attributes=row), span(2, attributes=RAN), scope="pydantic-ai"))
    assert [(step.request, step.answered) for step in models(run)] == [({}, False)]
    assert [(tool.tool, tool.arguments, tool.value) for tool in tools(run)] == [("find", {"id": "7"}, "at sea")]
