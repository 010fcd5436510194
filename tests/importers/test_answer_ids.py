"""Ids of documents in the answers of tools, whatever the tool is called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers.answer_ids import LONGEST_ID, MOST_IDS, named_by, named_in
from replaycases.importers.neutral import RetrievalStep
from replaycases.importers.registry import open_recording
from tests.api.otlp_requests import chat, request, span
from tests.importers.test_langsmith import RUNS, run
from tests.importers.transcripts import answers, asks, call, says, transcript, user

JSON = Any
DOCUMENTS = [
    {"page_content": "Within 30 days.", "metadata": {"source": "handbook.md", "chunk_id": "c-7"}},
    {"page_content": "Not for gifts.", "metadata": {"source": "gifts.md", "chunk_id": "c-8"}},
]
NAMED = ["handbook.md", "c-7", "gifts.md", "c-8"]
QUERY = {"queryId": "q-1", "results": [{"id": "c-7", "document_id": "handbook.md", "text": "Within 30 days."},
                                       {"id": "c-8", "document_id": "gifts.md", "text": "No."}]}  # fmt: skip


def otlp(**said: str) -> bytes:
    retrieval = span(2, parent=1)
    retrieval["attributes"] = [{"key": key, "value": {"stringValue": text}} for key, text in said.items()]
    return json.dumps(request(chat(1), retrieval)).encode()


OTLP_RETRIEVAL = otlp(
    **{"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "refunds"},
    **{"gen_ai.retrieval.documents": json.dumps([{"id": "c-7", "score": 0.9}, {"id": "c-8", "score": 0.7}])},
)
OTLP_TOOL = otlp(
    **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up", "gen_ai.tool.call.id": "call-1"},
    **{"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": json.dumps(QUERY)},
)
OPENAI = transcript(user("May I?"), asks(call("look_up")), answers(json.dumps(QUERY)), says("Yes."))
USE = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"query": "refunds"}}
BLOCKS = [
    {"type": "search_result", "source": "handbook.md", "title": "Refunds", "content": [{"type": "text", "text": "x"}]},
    {"type": "text", "text": json.dumps([{"chunk_id": "c-7", "text": "Within 30 days."}])},
]
ANTHROPIC = transcript(
    user("May I?"),
    {"role": "assistant", "content": [USE]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": BLOCKS}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
)
RETRIEVER = run("r", "retriever", 5, inputs={"query": "refunds"}, outputs={"documents": DOCUMENTS})
LANGSMITH = json.dumps([*RUNS, RETRIEVER]).encode()
TOLD = {"type": "tool", "tool_call_id": "c1", "content": "found", "artifact": DOCUMENTS[:1]}
INSIDE = {**RETRIEVER, "parent_run_id": "t", "outputs": {"documents": DOCUMENTS[1:]}}
LANGSMITH_TOOL = json.dumps([*RUNS[:2], {**RUNS[2], "outputs": {"output": TOLD}}, INSIDE, RUNS[3]]).encode()


def otlp_inside() -> bytes:
    spans = json.loads(OTLP_TOOL)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    within = json.loads(OTLP_RETRIEVAL)["resourceSpans"][0]["scopeSpans"][0]["spans"][1]
    answer = {"key": "gen_ai.tool.call.result", "value": {"stringValue": "Within 30 days."}}
    spans[1]["attributes"] = [*(said for said in spans[1]["attributes"] if said["key"] != answer["key"]), answer]
    return json.dumps(
        request(*spans, {**within, "spanId": "00000000000000ff", "parentSpanId": spans[1]["spanId"]})
    ).encode()


def of(data: bytes) -> list[str]:
    run = open_recording(data).read(0)
    retrieved = (name for step in run.steps if isinstance(step, RetrievalStep) for name in step.documents)
    return [*dict.fromkeys((*retrieved, *run.documents, *named_by(run.steps)))]


@pytest.mark.parametrize(
    ("data", "named"),
    [
        pytest.param(OTLP_RETRIEVAL, ["c-7", "c-8"], id="OTLP, a retrieval"),
        pytest.param(OTLP_TOOL, ["c-7", "handbook.md", "c-8", "gifts.md"], id="OTLP, a tool"),
        pytest.param(OPENAI, ["c-7", "handbook.md", "c-8", "gifts.md"], id="OpenAI, a tool message with JSON text"),
        pytest.param(ANTHROPIC, ["handbook.md", "c-7"], id="Anthropic, a tool_result of blocks"),
        pytest.param(LANGSMITH, NAMED, id="LangSmith, a retriever"),
        pytest.param(LANGSMITH_TOOL, NAMED, id="LangSmith, a retriever inside a tool, and what a tool kept beside"),
        pytest.param(otlp_inside(), ["c-7", "c-8"], id="OTLP, a retrieval inside a tool"),
    ],
)
def test_what_was_looked_up_is_named_in_every_format(data: bytes, named: list[str]) -> None:
    assert sorted(of(data)) == sorted(named)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"matches": [{"id": "v1", "score": 0.4, "metadata": {"path": "a.md"}}]}, ["v1", "a.md"]),
        ({"hits": {"hits": [{"_id": "e1", "_score": 2, "_source": {"doc_id": 7}}]}}, ["e1", "7"]),
        ({"ids": [["k1", "k2"]], "documents": [["x", "y"]], "metadatas": [[{"source": "b"}, None]]}, ["k1", "k2", "b"]),
        ({"node": {"id_": "n1", "text": "x", "metadata": {"file_path": "c.md"}}, "score": 0.1}, ["n1", "c.md"]),
        ([{"content": {"text": "x"}, "location": {"s3Location": {"uri": "s3://b/d.md"}}}], ["s3://b/d.md"]),
        ({"order_id": "o-1", "items": [{"id": "line-1", "quantity": 2}]}, []),
        ({"id": "o-1", "source": "shop"}, []),
        ("No document [c-7] is there.", []),
        ('{"id": "c-7", "text"', []),
        ([{"id": "x" * (LONGEST_ID + 1), "text": "x"}, {"id": True, "text": "x"}, {"id": 10**60, "text": "x"}], []),
        (None, []),
    ],
)
def test_an_id_counts_where_a_result_of_a_search_has_its_own(answer: JSON, named: list[str]) -> None:
    assert named_in(answer) == tuple(named)
    assert named_in(json.dumps(answer)) == tuple(named)


def test_of_one_answer_so_many_are_named_and_however_deep_it_is_it_ends() -> None:
    many = [{"id": str(at), "text": "x"} for at in range(MOST_IDS + 1)]
    assert named_in(many) == tuple(str(at) for at in range(MOST_IDS))
    deep: JSON = {"id": "below", "text": "x"}
    for _ in range(500):
        deep = [deep]
    assert named_in(deep) == ()
    assert named_in("[" * 100_000) == ()


def test_what_a_provider_looked_up_is_in_the_response_of_the_model() -> None:
    found = [{"file_id": "file-1", "filename": "refunds.md", "score": 0.8, "text": "x"}]
    said = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    output = [{"type": "file_search_call", "id": "fs_1", "status": "completed", "results": found}, said]
    body = {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": output}
    assert of(json.dumps(body).encode()) == ["file-1", "refunds.md"]
