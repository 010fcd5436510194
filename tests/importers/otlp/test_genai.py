"""The GenAI conventions as they are now."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers.completeness import report_of
from replaycases.importers.registry import import_run, report_on
from replaycases.importers.supplied import Supplied
from tests.importers.otlp.exports import export, record, sdk_request, span
from tests.importers.otlp.runs import calls_of, kinds, models, retrievals, run_of, tools

SYSTEM = {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]}
ASKED = {"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}
CALL = {"type": "tool_call", "id": "c1", "name": "find", "arguments": '{"id": "7"}'}
CALLS = {"role": "assistant", "parts": [CALL], "finish_reason": "tool_calls"}
TOLD = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "at sea"}]}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "At sea."}], "finish_reason": "stop"}
DETAILS = "gen_ai.client.inference.operation.details"
CATALOGUE = [{"type": "function", "name": "find", "parameters": {"type": "object"}}]


def chat(sent: Any, said: Any, **more: Any) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-1",
        "gen_ai.input.messages": sent if isinstance(sent, str) else json.dumps(sent),
        "gen_ai.output.messages": said if isinstance(said, str) else json.dumps(said),
        **more,
    }


TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "find",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.arguments": '{"id": "7"}',
    "gen_ai.tool.call.result": "at sea",
}
FIRST = chat([SYSTEM, ASKED], [CALLS])
SECOND = chat([SYSTEM, ASKED, CALLS, TOLD], [SAID])


def test_model_calls_and_the_tool_between_them_are_the_steps() -> None:
    run = run_of(sdk_request((("chat m", FIRST), ("execute_tool find", TOOL), ("chat m", SECOND))))
    assert [type(step).__name__ for step in run.steps] == ["ModelStep", "ToolStep", "ModelStep"]
    (tool,) = tools(run)
    assert (tool.tool, tool.arguments, tool.value, tool.call_id) == ("find", {"id": "7"}, "at sea", "c1")
    assert (run.system, run.workflow_version, run.input) == (
        "Be brief.",
        "7",
        {"messages": [{"role": "user", "content": "Where is it?"}]},
    )
    assert kinds(run) == []
    assert report_of(run, ()).mode == "replay"


def test_messages_in_parts_become_those_of_a_chat() -> None:
    second = models(run_of(export(span(1, attributes=FIRST), span(2, attributes=SECOND))))[1]
    _, _, asked, told = second.request["messages"]
    assert calls_of(asked) == [("find", '{"id": "7"}')]
    assert told == {"role": "tool", "tool_call_id": "c1", "content": "at sea"}
    assert second.response == {"message": {"role": "assistant", "content": "At sea."}, "finish_reason": "stop"}
    assert second.reconstructed


def test_structured_values_are_read_as_their_json_text_is() -> None:
    told = {**FIRST, "gen_ai.input.messages": [SYSTEM, ASKED], "gen_ai.output.messages": [CALLS]}
    structured, text = (models(run_of(export(span(1, attributes=row))))[0] for row in (told, FIRST))
    assert (structured.request, structured.response) == (text.request, text.response)


def test_content_is_taken_from_the_event_of_the_details_too() -> None:
    bare = {key: value for key, value in FIRST.items() if "messages" not in key}
    details = {key: value for key, value in FIRST.items() if "messages" in key}
    from_log = record(DETAILS, None, of=1) | {"attributes": export_pairs(details)}
    in_span = {"name": DETAILS, "timeUnixNano": "5", "attributes": export_pairs(details)}
    for data in (export(span(1, attributes=bare), logs=[from_log]), export(span(1, attributes=bare, events=[in_span]))):
        step = models(run_of(data))[0]
        assert (step.answered, len(step.request["messages"])) == (True, 2)
        assert step.serving == {"provider": "openai", "requested_model": "m", "returned_model": "m-1"}


def test_details_in_two_events_are_put_together() -> None:
    bare = {key: value for key, value in FIRST.items() if "messages" not in key}
    parts = [{key: value} for key, value in FIRST.items() if "messages" in key]
    events = [{"name": DETAILS, "timeUnixNano": "5", "attributes": export_pairs(part)} for part in parts]
    (step,) = models(run_of(export(span(1, attributes=bare, events=events))))
    assert (step.answered, len(step.request["messages"])) == (True, 2)


def test_a_tool_s_run_may_hold_its_call_and_answer_as_details() -> None:
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}
    messages = {
        "gen_ai.input.messages": json.dumps([{"role": "tool", "parts": [{**CALL, "arguments": {"id": "7"}}]}]),
        "gen_ai.output.messages": json.dumps([TOLD]),
    }
    event = {"name": DETAILS, "timeUnixNano": "5", "attributes": export_pairs(messages)}
    (step,) = tools(run_of(export(span(1, attributes=named, events=[event]))))
    assert (step.arguments, step.value) == ({"id": "7"}, "at sea")


def export_pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]


def test_arguments_recorded_as_an_object_are_written_anew_and_the_loss_is_said_once() -> None:
    parsed = {**CALLS, "parts": [{**CALL, "arguments": {"id": "7"}}]}
    run = run_of(export(span(1, attributes=chat([ASKED], [parsed])), span(2, attributes=chat([ASKED, parsed], [SAID]))))
    assert calls_of(models(run)[0].response["message"]) == [("find", '{"id": "7"}')]
    assert tools(run)[0].arguments == {"id": "7"}
    assert [note.kind for note in run.notes if "anew" in note.text] == ["content_lost"]
    assert "content_lost" not in kinds(run_of(export(span(1, attributes=FIRST), span(2, attributes=SECOND))))


def test_system_instructions_stand_before_the_messages() -> None:
    kept = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be kind."}])}
    run = run_of(export(span(1, attributes=chat([ASKED], [SAID], **kept))))
    assert run.system == "Be kind."
    assert models(run)[0].request["messages"][0] == {"role": "system", "content": "Be kind."}


def test_a_catalogue_that_all_calls_share_is_the_run_s() -> None:
    offered = {"gen_ai.tool.definitions": json.dumps(CATALOGUE)}
    both = run_of(export(span(1, attributes=FIRST | offered), span(2, attributes=SECOND | offered)))
    assert both.tools == CATALOGUE
    assert [step.request["tools"] for step in models(both)] == [CATALOGUE, CATALOGUE]
    one = run_of(export(span(1, attributes=FIRST | offered), span(2, attributes=SECOND)))
    assert one.tools is None
    assert [step.request.get("tools") for step in models(one)] == [CATALOGUE, None]
    assert "tools" not in one.absent


def test_settings_that_differ_are_unknown_for_the_run_and_none_of_them_passes_for_unset() -> None:
    same, other = {"gen_ai.request.temperature": 0.5, "gen_ai.request.seed": 1}, {"gen_ai.request.temperature": 0.5}
    run = run_of(export(span(1, attributes=FIRST | same), span(2, attributes=SECOND | other)))
    assert run.serving == {"provider": "openai", "requested_model": "m", "returned_model": "m-1"}
    assert models(run)[0].serving == {**run.serving, "settings": {"temperature": 0.5, "seed": 1}}
    assert [note.source[-1] for note in run.notes if "differ in settings" in note.text] == ["1"]
    assert "serving.settings" in {gap.name for gap in report_on(run, Supplied()).gaps if gap.caps and not gap.declared}


def test_usage_goes_by_the_names_of_a_fixture() -> None:
    counts = {
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 4,
    }
    step = models(run_of(export(span(1, attributes=FIRST | counts))))[0]
    assert step.usage == {"input_tokens": 9, "output_tokens": 2, "cached_tokens": 4}


def test_a_model_call_without_content_is_a_step_that_nobody_answers() -> None:
    bare = {key: value for key, value in FIRST.items() if "messages" not in key}
    run = run_of(export(span(1, attributes=bare), span(2, attributes=bare)))
    assert [(step.answered, step.request, step.response) for step in models(run)] == [(False, {}, None)] * 2
    (note,) = run.notes
    assert (note.kind, note.boundary, note.text.startswith("no content of this model call")) == (
        "content_lost",
        "model",
        True,
    )
    assert note.text.endswith("(2 places; this is the first)")
    assert report_of(run, ()).mode == "forensic"


@pytest.mark.parametrize("cut", ['[{"role": "user", "parts": [{"ty', "[redacted]", "REDACTED"])
def test_messages_that_were_cut_or_masked_are_lost_and_said(cut: str) -> None:
    run = run_of(export(span(1, attributes=chat(cut, [SAID]))))
    assert models(run)[0].request == {}
    assert "content_lost" in kinds(run)


def test_a_model_call_that_failed_answers_with_its_error() -> None:
    failed = {key: value for key, value in FIRST.items() if "output" not in key} | {"error.type": "RateLimitError"}
    row = span(1, attributes=failed, status={"code": 2, "message": "slow down"})
    run = run_of(export(row, span(2, attributes=FIRST)))
    assert models(run)[0].response == {"error": {"type": "RateLimitError", "message": "slow down"}}
    assert models(run)[0].answered
    assert kinds(run).count("failed_call") == 1


def test_a_tool_that_failed_has_the_exception_s_kind_and_message() -> None:
    failed = {key: value for key, value in TOOL.items() if "result" not in key}
    thrown = {"exception.type": "OrderGone", "exception.message": "no such order"}
    event = {"name": "exception", "timeUnixNano": "9", "attributes": export_pairs(thrown)}
    run = run_of(export(span(1, attributes=FIRST), span(2, attributes=failed, status={"code": 2}, events=[event])))
    assert (tools(run)[0].error, tools(run)[0].answered) == ({"kind": "OrderGone", "message": "no such order"}, True)


def test_a_tool_run_without_its_arguments_counts_as_not_recorded() -> None:
    bare = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.result": "x"}
    run = run_of(export(span(1, attributes=bare)))
    assert (tools(run)[0].answered, kinds(run)) == (False, ["content_lost"])


def test_what_the_provider_ran_itself_stays_in_what_the_model_said() -> None:
    own = {"type": "server_tool_call", "name": "web_search", "server_tool_call": {"query": "q"}}
    said = {"role": "assistant", "parts": [own, {"type": "text", "content": "Found."}]}
    run = run_of(export(span(1, attributes=chat([ASKED], [said]))))
    assert (kinds(run), tools(run)) == (["server_side"], [])
    assert own in models(run)[0].response["message"]["content"]


def test_several_choices_are_all_kept_and_the_first_is_followed() -> None:
    run = run_of(export(span(1, attributes=chat([ASKED], [CALLS, SAID]))))
    assert [choice["index"] for choice in models(run)[0].response["choices"]] == [0, 1]
    assert len(tools(run)) == 1
    assert "branch" in kinds(run)


def test_a_retrieval_holds_chunks_only_where_their_text_is_recorded() -> None:
    named = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "rules", "gen_ai.data_source.id": "d"}
    whole = json.dumps([{"id": "a", "score": 0.5, "content": "Rule one."}])
    scores = json.dumps([{"id": "a", "score": 0.5}])
    rows = [named | {"gen_ai.retrieval.documents": whole}, named | {"gen_ai.retrieval.documents": scores}, named]
    found = retrievals(run_of(export(*(span(at, attributes=row) for at, row in enumerate(rows, 1)))))
    assert [step.answered for step in found] == [True, False, False]
    assert found[0].chunks == [{"id": "a", "text": "Rule one.", "score": 0.5}]
    assert (found[0].query, found[0].parameters) == ("rules", {"gen_ai.data_source.id": "d"})


def test_an_embedding_is_no_boundary_and_that_is_said() -> None:
    run = run_of(export(span(1, attributes={"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e"})))
    assert (run.steps, kinds(run), len(run.left_out)) == ((), ["left_out"], 1)


def test_spans_that_are_no_boundary_are_left_out_and_listed() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent"}
    run = run_of(export(span(1, attributes=agent), span(2, "GET"), span(3, attributes=FIRST)))
    assert len(run.steps) == 2
    assert [source[-1] for source in run.left_out] == ["0", "1"]


def test_how_an_answer_travelled_is_no_setting_and_is_listed() -> None:
    run = run_of(export(span(1, attributes={"gen_ai.request.stream": True, "gen_ai.request.seed": 1} | FIRST)))
    assert run.serving is not None
    assert run.serving["settings"] == {"seed": 1}
    assert run.left_out == ("/resourceSpans/0/scopeSpans/0/spans/0/attributes/0/value",)


def test_an_imported_run_is_a_fixture_that_loads() -> None:
    expected = {"boundary": ["t"], "tool_sequence": {"id": "t", "tools": ["find"], "mode": "exact"}}
    data = export(span(1, attributes=FIRST), span(2, attributes=TOOL), span(3, attributes=SECOND))
    imported = import_run(data, supplied=Supplied(case_id="c", incident_id="i", expected=expected))
    assert imported.fixture is not None
    assert [event.boundary for event in imported.fixture.events] == ["model", "tool", "model"]
    generated = imported.document["events"][2]["match"]["generated"]
    assert generated == ["/messages/2/tool_calls/0/id", "/messages/3/tool_call_id"]


def test_who_asked_is_what_the_outermost_span_says() -> None:
    run = run_of(export(span(1, attributes={"user.id": "u-1"}), span(2, attributes=FIRST, parent=1)))
    assert run.identity == {"user.id": "u-1"}
    assert "identity" not in run.absent
