"""OpenInference: flattened messages, and the provider's bodies where they are recorded."""

from __future__ import annotations

import json
from typing import Any

from tests.importers.otlp.exports import export, sdk_request, span
from tests.importers.otlp.runs import calls_of, models, retrievals, run_of, tools

KIND = "openinference.span.kind"
SYSTEM, USER = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is it?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": "7"}'}}
FLAT = {
    KIND: "LLM",
    "llm.provider": "openai",
    "llm.model_name": "m-1",
    "llm.invocation_parameters": json.dumps({"model": "m", "temperature": 0.1, "stream": True}),
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "Be brief.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "Where is it?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "find",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"id": "7"}',
    "llm.tools.0.tool.json_schema": json.dumps({"type": "function", "function": {"name": "find"}}),
    "llm.token_count.prompt": 9,
    "llm.token_count.completion": 2,
}
TOOL = {KIND: "TOOL", "tool.name": "find", "input.value": '{"id": "7"}', "output.value": '{"at": "sea"}'}


def test_flattened_messages_become_those_of_a_chat() -> None:
    run = run_of(sdk_request((("LLM", FLAT), ("find", TOOL))))
    (step,) = models(run)
    assert step.request["messages"] == [SYSTEM, {"role": "user", "content": [{"type": "text", "text": "Where is it?"}]}]
    assert calls_of(step.response["message"]) == [("find", '{"id": "7"}')]
    assert run.tools == [{"type": "function", "function": {"name": "find"}}]
    expected = {"provider": "openai", "requested_model": "m", "returned_model": "m-1", "settings": {"temperature": 0.1}}
    assert step.serving == expected
    assert step.usage == {"input_tokens": 9, "output_tokens": 2}


def test_a_tool_s_answer_stays_the_text_that_it_was() -> None:
    (step,) = tools(run_of(export(span(1, attributes=FLAT), span(2, attributes=TOOL))))
    assert (step.arguments, step.value) == ({"id": "7"}, '{"at": "sea"}')


def test_the_provider_s_own_bodies_come_before_the_flattened_messages() -> None:
    sent = {"messages": [SYSTEM, USER], "model": "m", "seed": 3, "tools": [{"type": "function"}], "stream": False}
    said = {
        "id": "r",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}],
    }
    row = FLAT | {"input.value": json.dumps(sent), "output.value": json.dumps(said)}
    run = run_of(export(span(1, attributes=row)))
    (step,) = models(run)
    assert (step.reconstructed, step.response) == (False, said)
    assert step.request == {"messages": [SYSTEM, USER], "tools": [{"type": "function"}]}
    assert run.tools == [{"type": "function"}]
    assert step.serving is not None
    assert step.serving["settings"] == {"temperature": 0.1, "seed": 3}
    assert [step.tool for step in tools(run)] == ["find"]


def test_a_body_that_takes_its_tools_from_elsewhere_was_put_together() -> None:
    row = FLAT | {"input.value": json.dumps({"messages": [USER], "model": "m"})}
    (step,) = models(run_of(export(span(1, attributes=row))))
    assert (step.reconstructed, set(step.request)) == (True, {"messages", "tools"})


def test_blocks_of_another_provider_are_read_as_calls() -> None:
    sent = {"messages": [USER], "model": "m", "system": "Be brief.", "max_tokens": 9}
    blocks = [{"type": "tool_use", "id": "c1", "name": "find", "input": {"id": "7"}}]
    said = {"id": "r", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}
    row = {KIND: "LLM", "input.value": json.dumps(sent), "output.value": json.dumps(said)}
    run = run_of(export(span(1, attributes=row)))
    assert run.system == "Be brief."
    assert models(run)[0].request == {"messages": [USER], "system": "Be brief."}
    assert [(step.tool, step.arguments) for step in tools(run)] == [("find", {"id": "7"})]


def test_plain_texts_are_a_request_and_an_answer() -> None:
    row = {KIND: "LLM", "input.value": "Say hi", "output.value": "Hi"}
    (step,) = models(run_of(export(span(1, attributes=row))))
    assert step.request == {"messages": ["Say hi"]}
    assert step.response == {"message": {"role": "assistant", "content": "Hi"}}


def test_a_retriever_s_documents_are_chunks() -> None:
    row = {
        KIND: "RETRIEVER",
        "input.value": "rules",
        "retrieval.documents.1.document.content": "Rule two.",
        "retrieval.documents.1.document.id": "b",
        "retrieval.documents.0.document.content": "Rule one.",
        "retrieval.documents.0.document.id": "a",
        "retrieval.documents.0.document.score": 0.5,
    }
    (step,) = retrievals(run_of(export(span(1, attributes=row))))
    assert step.chunks == [{"id": "a", "text": "Rule one.", "score": 0.5}, {"id": "b", "text": "Rule two."}]
    assert (step.query, step.answered) == ("rules", True)


def test_chunks_without_ids_are_named_by_their_place_and_that_is_said() -> None:
    row = {KIND: "RETRIEVER", "input.value": "rules", "retrieval.documents.0.document.content": "Rule one."}
    run = run_of(export(span(1, attributes=row)))
    assert [chunk["text"] for chunk in retrievals(run)[0].chunks] == ["Rule one."]
    assert [note.boundary for note in run.notes if note.kind == "content_lost"] == ["retrieval"]


def test_ids_in_the_metadata_name_the_chunk_and_its_document_also_where_no_text_was_recorded() -> None:
    told = '{"chunk_id": "c-1", "document_id": 7, "source": "rules.md", "page": 3}'
    row = {KIND: "RETRIEVER", "retrieval.documents.0.document.metadata": told}
    (bare,) = retrievals(run_of(export(span(1, attributes=row))))
    assert (bare.answered, bare.documents) == (False, ("c-1", "7", "rules.md"))
    (step,) = retrievals(run_of(export(span(1, attributes={**row, "retrieval.documents.0.document.content": "One."}))))
    assert (step.chunks, step.documents) == ([{"id": "c-1", "text": "One."}], bare.documents)


def test_a_retriever_without_documents_is_no_empty_answer() -> None:
    assert [s.answered for s in retrievals(run_of(export(span(1, attributes={KIND: "RETRIEVER"}))))] == [False]


def test_other_kinds_are_no_boundary() -> None:
    rows: list[dict[str, Any]] = [{KIND: kind} for kind in ("AGENT", "CHAIN", "GUARDRAIL", "EVALUATOR", "PROMPT")]
    run = run_of(export(*(span(at, attributes=row) for at, row in enumerate(rows, 1))))
    assert (run.steps, len(run.left_out)) == ((), 5)


def test_what_was_hidden_when_it_was_recorded_is_no_content() -> None:
    hidden = "__REDACTED__"
    whole = {KIND: "LLM", "input.value": hidden, "output.value": hidden, "llm.model_name": "m"}
    texts = {key: hidden if key.endswith(("content", "text")) else value for key, value in FLAT.items()}
    for row in (whole, texts):
        (step,) = models(run_of(export(span(1, attributes=row))))
        assert step.request == {}
        assert hidden not in str(step)
    run = run_of(export(span(1, attributes=TOOL | {"input.value": hidden, "output.value": hidden})))
    assert (tools(run)[0].arguments, tools(run)[0].answered) == (None, False)
