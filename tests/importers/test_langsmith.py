from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers import langsmith
from replaycases.importers.completeness import report_of
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import ModelStep, NeutralRun, RetrievalStep, ToolStep

JSON = Any
CALL = {"name": "look", "args": {"n": 1}, "id": "c1", "type": "tool_call"}


def message(kind: str, **fields: JSON) -> dict[str, JSON]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": fields}


def run(id: str, kind: str, at: int, parent: str | None = "root", **fields: JSON) -> dict[str, JSON]:
    times = {"start_time": f"2026-01-02T03:04:{at:02}+00:00", "end_time": f"2026-01-02T03:04:{at + 1:02}+00:00"}
    above = {} if parent is None else {"parent_run_id": parent}
    return {"id": id, "trace_id": "trace-1", "run_type": kind, "name": kind, **times, **above, **fields}


def llm(id: str, at: int, sent: list[JSON], answer: dict[str, JSON], **fields: JSON) -> dict[str, JSON]:
    extra = {"invocation_params": {"model": "m-1", "temperature": 0, "tools": [{"name": "look"}]},
             "metadata": {"ls_provider": "p"}}  # fmt: skip
    outputs = {"generations": [[{"message": answer}]]}
    return run(id, "llm", at, inputs={"messages": [sent]}, outputs=outputs, **{"extra": extra, **fields})


HUMAN = message("HumanMessage", content="hi", id="h")
ASKS = message("AIMessage", content="", tool_calls=[CALL], response_metadata={"model_name": "m-1-b"})
TOLD = message("ToolMessage", content="one", tool_call_id="c1", name="look")
SYSTEM = message("SystemMessage", content="Help.")
TOOL = run("t", "tool", 4, name="look", inputs={"n": 1}, outputs={"output": {
    "content": "one", "type": "tool", "tool_call_id": "c1", "status": "success"}})  # fmt: skip
RUNS = [
    run("root", "chain", 0, None),
    llm("m1", 2, [SYSTEM, HUMAN], ASKS),
    TOOL,
    llm("m2", 6, [SYSTEM, HUMAN, ASKS, TOLD], message("AIMessage", content="done")),
]


def read(document: JSON, index: int = 0) -> NeutralRun:
    file = ForeignFile(json.dumps(document).encode())
    assert langsmith.sniff(file)
    return langsmith.read(file, index)


def kinds(found: NeutralRun) -> list[str]:
    return [note.kind for note in found.notes]


def types(found: NeutralRun) -> list[type]:
    return [type(step) for step in found.steps]


def tool(found: NeutralRun) -> ToolStep:
    return next(step for step in found.steps if isinstance(step, ToolStep))


def model(found: NeutralRun) -> ModelStep:
    return next(step for step in found.steps if isinstance(step, ModelStep))


def test_model_calls_and_tools_become_steps_in_order_of_time_and_chains_do_not() -> None:
    found = read(list(reversed(RUNS)))
    assert types(found) == [ModelStep, ToolStep, ModelStep]
    assert (tool(found).value, tool(found).call_id, tool(found).started_at) == (
        "one",
        "c1",
        "2026-01-02T03:04:04+00:00",
    )
    assert (found.system, found.input, found.trace_id) == ("Help.", {"messages": [HUMAN]}, "trace-1")
    assert found.started_at == "2026-01-02T03:04:00+00:00"
    assert report_of(found, ()).mode == "replay"


def test_what_the_model_was_set_to_is_serving_and_its_tools_stand_in_the_request() -> None:
    found = read(RUNS)
    settings = {"settings": {"temperature": 0}}
    assert found.serving == {"provider": "p", "requested_model": "m-1", "returned_model": "m-1-b", **settings}
    assert model(found).serving == found.serving
    assert model(found).request == {"messages": [SYSTEM, HUMAN], "tools": [{"name": "look"}]}
    assert found.tools == [{"name": "look"}]
    assert model(found).reconstructed


def test_a_system_text_in_blocks_is_the_system_text_and_every_usual_setting_is_one() -> None:
    inputs = {"system": [{"type": "text", "text": "Help."}], "messages": [{"role": "user", "content": "hi"}], "n": 2}
    found = read([run("m", "llm", 1, None, inputs={**inputs, "model": "m-1"}, outputs={"content": "x"})])
    assert (found.system, "system" in found.absent) == ("Help.", False)
    assert (found.serving or {})["settings"] == {"n": 2}


def test_a_parameter_of_an_unusual_name_does_not_pass_for_unset() -> None:
    odd = {"model": "m-1", "_type": "chat", "stop": None, "stream": True, "repetition_penalty": 1.3}
    found = read([{**RUNS[1], "extra": {"invocation_params": odd}}])
    assert (found.serving or {})["settings"] == {"repetition_penalty": 1.3}


def test_start_and_end_of_a_run_that_were_sent_apart_are_one_run() -> None:
    starts = [{key: value for key, value in row.items() if key not in ("end_time", "outputs")} for row in RUNS]
    ends = [
        {"id": row["id"], "end_time": row["end_time"], "outputs": row.get("outputs", {}), "inputs": {}} for row in RUNS
    ]
    found = read({"post": starts, "patch": ends})
    assert types(found) == [ModelStep, ToolStep, ModelStep]
    assert tool(found).source.startswith("/patch/1/outputs/")
    assert model(found).request["messages"] == [SYSTEM, HUMAN]


def test_a_start_without_an_end_is_a_call_without_an_answer() -> None:
    found = read({"post": [{key: value for key, value in RUNS[1].items() if key != "outputs"}]})
    assert [step.answered for step in found.steps] == [False]
    assert "content_lost" in kinds(found)
    assert report_of(found, ()).mode == "forensic"


def test_a_run_tree_is_read_through_its_children() -> None:
    inner = {**RUNS[0], "child_runs": [{**row, "parent_run_id": None, "trace_id": None} for row in RUNS[1:]]}
    found = read(inner)
    assert types(found) == [ModelStep, ToolStep, ModelStep]
    assert [step.source for step in found.steps if isinstance(step, ModelStep)] == ["/child_runs/0", "/child_runs/2"]


def test_json_lines_and_a_wrapped_list_are_read_alike() -> None:
    lines = ForeignFile("\n".join(json.dumps(row) for row in RUNS).encode())
    assert langsmith.sniff(lines)
    assert types(langsmith.read(lines, 0)) == types(read({"runs": RUNS}))


def test_each_trace_of_a_file_is_a_run_of_its_own() -> None:
    others = [{**row, "id": f"{row['id']}-2", "trace_id": "trace-2"} for row in RUNS]
    file = ForeignFile(json.dumps([*RUNS, *others]).encode())
    assert [head.label for head in langsmith.heads(file)] == ["trace-1", "trace-2"]
    assert len(langsmith.read(file, 1).steps) == 3


def test_without_a_trace_id_the_topmost_parent_names_it() -> None:
    rows = [{key: value for key, value in row.items() if key != "trace_id"} for row in RUNS]
    assert [head.label for head in langsmith.heads(ForeignFile(json.dumps(rows).encode()))] == ["root"]


def test_parents_are_read_from_the_dotted_order_where_no_field_says_them() -> None:
    rows = [{key: value for key, value in row.items() if key not in ("parent_run_id", "trace_id")} for row in RUNS]
    for row in rows[1:]:
        row["dotted_order"] = f"20260102T030400Zroot.20260102T030402Z{row['id']}"
    assert [head.label for head in langsmith.heads(ForeignFile(json.dumps(rows).encode()))] == ["root"]


def test_epoch_milliseconds_are_instants_and_times_without_an_offset_are_not() -> None:
    number = read([{**RUNS[1], "start_time": 1767323042000, "end_time": 1767323043000}])
    assert model(number).started_at == "2026-01-02T03:04:02+00:00"
    naive = read([{**RUNS[1], "start_time": "2026-01-02T03:04:02.5", "parent_run_id": None}])
    assert (model(naive).started_at, naive.started_at, kinds(naive)[:1]) == (None, None, ["content_lost"])


def test_errors_are_kept_where_the_format_marks_them() -> None:
    broken = [
        {**RUNS[1]},
        {**TOOL, "outputs": None, "error": "ValueError('no')"},
        {**RUNS[3], "outputs": None, "error": "RateLimitError"},
    ]
    found = read(broken)
    assert tool(found).error == {"kind": "ValueError", "message": "ValueError('no')"}
    last = found.steps[-1]
    assert isinstance(last, ModelStep)
    assert (last.response, last.answered) == ("RateLimitError", True)
    assert kinds(found).count("failed_call") == 1


def test_a_tool_message_with_an_error_status_is_a_failure() -> None:
    failed = {**TOOL, "outputs": {"output": {"content": "no", "type": "tool", "tool_call_id": "c1", "status": "error"}}}
    assert tool(read([RUNS[1], failed])).error == {"kind": "error", "message": "no"}


def test_dictionaries_of_openai_and_its_whole_answer_are_read_too() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
    outputs = {"choices": [{"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [call]}}],
               "model": "m-1-b", "usage_metadata": {"input_tokens": 3, "output_tokens": 4}}  # fmt: skip
    inputs = {"messages": [{"role": "user", "content": "hi"}], "model": "m-1", "stream": False, "temperature": 1}
    found = read([run("m", "llm", 1, None, inputs=inputs, outputs=outputs)])
    assert model(found).request == {"messages": [{"role": "user", "content": "hi"}]}
    assert (model(found).response, model(found).reconstructed) == (outputs, False)
    assert (tool(found).tool, tool(found).arguments, tool(found).answered) == ("look", {"n": 1}, False)
    assert found.serving == {"requested_model": "m-1", "returned_model": "m-1-b", "settings": {"temperature": 1}}


def test_a_batch_of_prompts_is_as_many_model_calls() -> None:
    generations = [[{"message": message("AIMessage", content="a")}], [{"message": ASKS}]]
    batch = run("m", "llm", 1, None, inputs={"messages": [[HUMAN], [SYSTEM]]}, outputs={"generations": generations})
    assert types(read([batch])) == [ModelStep, ModelStep, ToolStep]


def test_documents_are_chunks_and_what_was_not_recorded_is_no_empty_list() -> None:
    documents = [
        {"page_content": "text", "metadata": {"id": "d1", "score": 0.5}},
        {"page_content": "more", "metadata": {}},
    ]
    whole = read([run("r", "retriever", 1, None, inputs={"query": "q"}, outputs={"documents": documents})]).steps[0]
    assert isinstance(whole, RetrievalStep)
    assert whole.query == "q"
    assert whole.chunks == [{"id": "d1", "text": "text", "score": 0.5}, {"id": "chunk#2", "text": "more"}]
    assert not read([run("r", "retriever", 1, None, inputs={"query": "q"}, outputs=None)]).steps[0].answered


def test_a_tool_that_holds_model_calls_is_no_step_and_what_it_called_is() -> None:
    inside = llm("m3", 5, [HUMAN], message("AIMessage", content="sub"), parent_run_id="t")
    found = read([RUNS[1], TOOL, inside])
    assert types(found) == [ModelStep, ModelStep]
    assert "left_out" in kinds(found)


def test_a_tool_inside_a_tool_is_code_of_the_outer_one() -> None:
    found = read([RUNS[1], TOOL, {**TOOL, "id": "inner", "name": "seek", "parent_run_id": "t"}])
    assert [step.tool for step in found.steps if isinstance(step, ToolStep)] == ["look"]
    assert "left_out" in kinds(found)


def test_a_retrieval_inside_a_tool_or_a_retrieval_is_answered_with_it() -> None:
    documents = {"inputs": {"query": "q"}, "outputs": {"documents": [{"page_content": "text", "id": "d"}]}}
    inner = run("r", "retriever", 4, None, **documents, parent_run_id="t")
    found = read([RUNS[1], TOOL, inner, RUNS[3]])
    assert types(found) == [ModelStep, ToolStep, ModelStep]
    assert [note.source for note in found.notes if note.kind == "left_out"] == ["/2"]
    outer = run("o", "retriever", 4, None, **documents)
    assert types(read([RUNS[1], TOOL, outer, {**inner, "parent_run_id": "o"}])) == [ModelStep, ToolStep, RetrievalStep]


def test_an_embedding_is_no_boundary_and_is_noted() -> None:
    found = read([RUNS[1], TOOL, run("e", "embedding", 5), RUNS[3]])
    assert types(found) == [ModelStep, ToolStep, ModelStep]
    assert [note.source for note in found.notes if note.kind == "left_out"] == ["/2"]


def test_a_catalogue_that_not_every_call_was_offered_is_none_of_the_run() -> None:
    bare = {"invocation_params": {"model": "m-1"}, "metadata": {}}
    found = read([RUNS[1], TOOL, {**RUNS[3], "extra": bare}])
    assert (found.tools, "tools" in found.absent) == (None, False)
    assert [bool(step.request.get("tools")) for step in found.steps if isinstance(step, ModelStep)] == [True, False]


def test_what_was_retrieved_is_unknown_if_one_document_has_no_text() -> None:
    documents = [{"page_content": "text"}, {"metadata": {}}]
    found = read([run("r", "retriever", 1, None, inputs={"query": "q"}, outputs={"documents": documents})])
    assert (found.steps[0].answered, kinds(found)) == (False, ["content_lost"])


def test_a_model_call_that_wraps_another_is_counted_once() -> None:
    outer = {**RUNS[1], "id": "outer"}
    found = read([outer, {**RUNS[1], "parent_run_id": "outer"}])
    assert types(found) == [ModelStep, ToolStep]
    assert "left_out" in kinds(found)


def test_an_end_before_its_start_and_a_parent_that_is_missing_are_noted() -> None:
    found = read([{**RUNS[1], "end_time": "2026-01-02T03:04:00+00:00"}])
    assert kinds(found)[:2] == ["unresolved_reference", "clock_contradiction"]


@pytest.mark.parametrize("document", [{}, [], [1], {"post": []}, {"run_type": "other"}, {"runs": [{"run_type": 1}]}])
def test_anything_else_is_not_recognised(document: JSON) -> None:
    assert not langsmith.sniff(ForeignFile(json.dumps(document).encode()))
