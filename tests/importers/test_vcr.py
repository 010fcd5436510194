from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from replaycases.importers import vcr
from replaycases.importers.findings import ImportRefused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun, RetrievalStep
from replaycases.importers.registry import import_run, open_recording
from tests.importers.cassettes import (
    CHAT,
    MESSAGES,
    answer,
    asks,
    call,
    cassette,
    chat,
    interaction,
    kinds,
    looked_up,
    read,
    streamed,
    told,
    tools,
    user,
)
from tests.importers.transcripts import supplied

JSON = Any


def models(run: NeutralRun) -> list[ModelStep]:
    return [step for step in run.steps if isinstance(step, ModelStep)]


def refusal(data: bytes) -> ImportRefused:
    with pytest.raises(ImportRefused) as caught:
        open_recording(data).read()
    return caught.value


def test_exchanges_become_the_calls_of_a_run() -> None:
    run = read(*looked_up())
    assert [type(step).__name__ for step in run.steps] == ["ModelStep", "ToolStep", "ModelStep"]
    assert (tools(run)[0].tool, tools(run)[0].arguments, tools(run)[0].value) == ("look", {"n": 1}, "one")
    assert run.input == {"messages": [user("hi")]}
    assert (run.notes, run.left_out) == ((), ())


@pytest.mark.parametrize("form", ["yaml", "json", "ruby"])
def test_a_cassette_is_known_in_all_its_forms(form: str) -> None:
    document: JSON = {"interactions": list(looked_up()), "version": 1}
    if form == "ruby":
        document = {"http_interactions": document["interactions"], "recorded_with": "VCR 6.0"}
        for item in document["http_interactions"]:
            item["request"]["body"] = {"encoding": "UTF-8", "string": item["request"]["body"]}
    data = json.dumps(document).encode() if form == "json" else yaml.safe_dump(document).encode()
    found = open_recording(data)
    assert (found.format.name, len(found.runs)) == ("vcr", 1)
    assert len(found.read().steps) == 3


@pytest.mark.parametrize("data", [b"interactions", b"a: 1", b"{}", b'{"interactions": 1}', b"- interactions: []", b""])
def test_anything_else_is_none(data: bytes) -> None:
    assert not vcr.sniff(ForeignFile(data))


def test_a_draft_of_it_names_what_is_not_in_a_cassette() -> None:
    imported = import_run(cassette(*looked_up()), supplied=supplied())
    assert {gap.name for gap in imported.gaps} >= {"identity", "clock", "random", "retrieval"}
    assert not {gap.name for gap in imported.gaps} & {"tools", "system", "requests", "serving"}


def test_the_request_is_what_was_sent_without_what_serving_says_and_how_it_travels() -> None:
    asked = chat(user("hi"), temperature=0, tools=[], stream=True, metadata={"a": "b"})
    run = read(interaction(asked, streamed({"content": "x"})))
    step = models(run)[0]
    assert step.request == {"messages": [user("hi")], "tools": [], "metadata": {"a": "b"}}
    assert step.response["choices"][0]["message"]["content"] == "x"
    assert run.serving == {
        "provider": "openai",
        "requested_model": "m",
        "returned_model": "m-1",
        "api_version": "v1",
        "settings": {"temperature": 0},
    }
    assert run.left_out == ("/interactions/0/request/body/stream",)
    assert run.tools == []


@pytest.mark.parametrize(
    ("url", "provider", "version"),
    [
        ("https://h.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", "azure.ai.openai", "1"),
        ("https://bedrock-mantle.us-east-1.api.aws/openai/v1/chat/completions", "aws.bedrock", "v1"),
        ("http://user:secret@gateway.example:8080/proxy/chat/completions", "gateway.example", None),
    ],
)  # fmt: skip
def test_an_api_is_known_by_its_path_whoever_serves_it(url: str, provider: str, version: str | None) -> None:
    serving = read(interaction(chat(user("hi")), answer({"content": "x"}), url=url)).serving or {}
    assert (serving["provider"], serving.get("api_version")) == (provider, version)


def test_calls_that_differ_in_a_part_leave_it_out_of_the_run_and_say_so() -> None:
    first, second = looked_up()
    changed = json.loads(second["request"]["body"]) | {"temperature": 1}
    run = read(first, {**second, "request": {**second["request"], "body": json.dumps(changed)}})
    assert "settings" not in (run.serving or {})
    assert [note.text for note in run.notes] == [
        "model calls differ in settings: only what they have in common is kept for the run"
    ]
    assert [step.serving["settings"] for step in models(run) if step.serving] == [{}, {"temperature": 1}]


def test_a_failed_call_names_no_model_and_takes_none_from_the_run() -> None:
    run = read(interaction(chat(user("hi")), {"error": {}}, status=500), *looked_up())
    assert (run.serving or {})["returned_model"] == "m-1"


def test_a_catalogue_that_one_call_lacks_is_not_given_to_it() -> None:
    first = interaction(chat(user("hi"), tools=[{"type": "function"}]), answer({"content": "a"}))
    run = read(first, interaction(chat(user("hi"), user("ho")), answer({"content": "b"})))
    assert run.tools is None
    assert ["tools" in step.request for step in models(run)] == [True, False]


def test_a_compressed_body_in_bytes_is_read() -> None:
    packed = gzip.compress(json.dumps(answer({"content": "x"})).encode())
    run = read(interaction(chat(user("hi")), packed, content_encoding="gzip"))
    assert models(run)[0].response["choices"][0]["message"]["content"] == "x"


def test_bodies_that_were_kept_parsed_or_in_base64_are_read() -> None:
    first, second = looked_up()
    first["request"] |= {"parsed_body": json.loads(first["request"].pop("body"))}
    first["response"] |= {"parsed_body": json.loads(first["response"].pop("body")["string"])}
    held = second["response"]["body"].pop("string")
    second["response"]["body"]["base64_string"] = base64.b64encode(held.encode()).decode()
    run = read(first, second)
    assert [step.value for step in tools(run)] == ["one"]
    assert models(run)[0].source == "/interactions/0"
    assert tools(run)[0].source == "/interactions/0/response/parsed_body/choices/0/message/tool_calls/0"


def test_what_is_no_model_call_is_left_out_by_its_name() -> None:
    first, second = looked_up()
    between = interaction({"input": ["x"]}, {"data": []}, url="https://api.openai.com/v1/embeddings")
    foreign = interaction(None, "<html>", url="https://example.com/page", method="GET")
    run = read(first, between, foreign, foreign, second)
    assert len(run.steps) == 3
    assert run.left_out == ("/interactions/1", "/interactions/2", "/interactions/3")
    assert [(note.kind, note.source, note.text, note.cost) for note in run.notes] == [
        ("left_out", "/interactions/1", "an embeddings call is left out", ""),
        ("left_out", "/interactions/2", "an HTTP exchange with no model API is left out; there are 2", ""),
    ]


def test_a_model_call_that_cannot_be_read_is_left_out_with_what_that_costs() -> None:
    converse = interaction({"messages": []}, b"\x00\x00", url="https://bedrock-runtime/model/m/converse-stream")
    run = read(converse, *looked_up())
    assert [(note.kind, note.boundary, bool(note.cost)) for note in run.notes] == [("left_out", "model", True)]


def test_a_cassette_without_any_call_that_can_be_read_is_refused_by_the_name_of_what_it_holds() -> None:
    converse = interaction({"messages": []}, b"\x00\x00", url="https://bedrock-runtime/model/m/converse-stream")
    finding = refusal(cassette(converse)).finding
    assert (finding.id, "AWS event stream" in finding.message) == ("import.not-supported", True)
    assert refusal(cassette(interaction(None, "hi", url="https://example.com"))).finding.id == "import.no-model-calls"
    assert refusal(cassette()).finding.id == "import.no-model-calls"


def test_a_retry_after_a_failure_is_a_failed_call_and_the_run_goes_on() -> None:
    first, second = looked_up()
    busy = interaction(json.loads(first["request"]["body"]), {"error": {"code": "rate_limit"}}, status=429)
    run = read(busy, first, second)
    assert [type(step).__name__ for step in run.steps] == ["ModelStep", "ModelStep", "ToolStep", "ModelStep"]
    assert models(run)[0].response == {"error": {"code": "rate_limit"}}
    assert kinds(run) == ["failed_call", "branch"]


def test_a_failure_that_is_no_json_keeps_its_text() -> None:
    run = read(interaction(chat(user("hi")), "<h1>Bad gateway</h1>", status=502))
    assert (models(run)[0].response, models(run)[0].answered) == ("<h1>Bad gateway</h1>", True)


def test_a_failure_whose_body_cannot_be_unpacked_has_no_recorded_answer() -> None:
    run = read(interaction(chat(user("hi")), b"\x8b\x81\x82\xff", status=500, content_encoding="br"))
    assert (models(run)[0].answered, kinds(run)) == (False, ["failed_call", "content_lost"])


@pytest.mark.parametrize("status", [0, None, "x", {"code": 0}])
def test_a_call_that_nothing_answered_is_no_answer(status: JSON) -> None:
    item = interaction(chat(user("hi")), None)
    item["response"]["status"] = status
    run = read(item)
    assert (models(run)[0].answered, kinds(run)) == (False, ["failed_call"])


def test_an_error_in_a_body_of_status_200_is_a_failed_call() -> None:
    run = read(interaction(chat(user("hi")), {"error": {"message": "no"}}))
    assert (models(run)[0].response, kinds(run)) == ({"error": {"message": "no"}}, ["failed_call"])


def test_the_same_request_answered_twice_gives_the_tools_answer_to_the_one_that_was_followed() -> None:
    one = interaction(chat(user("hi")), answer(asks(call("look", {"n": 1}, "x"))))
    two = interaction(chat(user("hi")), answer(asks(call("look", {"n": 1}, "y"))))
    then = chat(user("hi"), asks(call("look", {"n": 1}, "y")), told("one", "y"))
    run = read(one, two, interaction(then, answer({"content": "ok"})))
    assert [(step.call_id, step.answered) for step in tools(run)] == [("x", False), ("y", True)]
    assert kinds(run) == ["branch", "call_without_result"]


def test_an_id_that_several_answers_use_pairs_each_call_with_the_answer_next_to_it() -> None:
    one, two = asks(call("look", {"n": 1}, "c")), asks(call("look", {"n": 2}, "c"))
    start = [user("hi"), one, told("first", "c")]
    run = read(
        interaction(chat(user("hi")), answer(one)),
        interaction(chat(*start), answer(two)),
        interaction(chat(*start, two, told("second", "c")), answer({"content": "ok"})),
    )
    assert [step.value for step in tools(run)] == ["first", "second"]


def test_of_several_choices_the_one_that_was_followed_asks_for_the_tools() -> None:
    choices = [{"index": n, "message": asks(call("look", {"n": n}, f"c{n}"))} for n in range(2)]
    body = {"object": "chat.completion", "choices": choices}
    then = chat(user("hi"), asks(call("look", {"n": 1}, "c1")), told("one", "c1"))
    run = read(interaction(chat(user("hi"), n=2), body), interaction(then, answer({"content": "ok"})))
    assert [(step.arguments, step.value) for step in tools(run)] == [({"n": 1}, "one")]
    assert [note.kind for note in run.notes if note.boundary == "tool"] == ["branch"]


def test_a_stream_that_breaks_off_is_no_whole_answer() -> None:
    run = read(interaction(chat(user("hi")), streamed({"content": "x"}, end=None)))
    assert models(run)[0].answered is False
    assert models(run)[0].response["choices"][0]["message"]["content"] == "x"
    assert [note.text for note in run.notes] == ["a streamed answer breaks off"]


def test_a_stream_that_was_not_captured_is_said_to_be_so() -> None:
    run = read(interaction(chat(user("hi")), "", Content_Type="text/event-stream"))
    assert (models(run)[0].answered, [note.text for note in run.notes]) == (
        False,
        ["a streamed answer was not captured"],
    )


@pytest.mark.parametrize("body", [b"\x1f\x8b\x08\x00", b"\xff\xfe", "", "hello", "[1]"])
def test_an_answer_that_cannot_be_read_is_none(body: JSON) -> None:
    run = read(interaction(chat(user("hi")), body))
    assert (models(run)[0].answered, kinds(run)) == (False, ["content_lost"])


def test_a_request_that_cannot_be_read_is_said_to_be_lost() -> None:
    run = read(interaction("{", answer({"content": "x"})))
    assert (models(run)[0].request, kinds(run)) == ({}, ["content_lost"])


def test_calls_in_an_answer_that_ended_with_an_error_are_notes() -> None:
    data = (
        streamed({"tool_calls": [{"index": 0, **call("look", {})}]}, end=None) + b'data: {"error": {"code": "x"}}\n\n'
    )
    run = read(interaction(chat(user("hi")), data))
    assert (tools(run), kinds(run)) == ([], ["call_without_result", "failed_call"])


def test_the_order_is_that_of_the_recorded_times_where_all_have_one() -> None:
    first, second = looked_up()
    late = {**second, "recorded_at": "Mon, 03 Mar 2025 09:00:02 GMT"}
    early = {**first, "recorded_at": "2025-03-03T10:00:01+01:00"}
    run = read(late, early)
    assert [step.value for step in tools(run)] == ["one"]
    assert (run.started_at, kinds(run)) == ("2025-03-03T10:00:01+01:00", ["sequence_gap"])
    assert len(tools(read({**late, "recorded_at": "yesterday"}, early))) == 1
    assert tools(read({**late, "recorded_at": "yesterday"}, early))[0].answered is False


def test_times_come_from_the_server_and_contradictions_are_said() -> None:
    first, second = looked_up()
    first["response"]["headers"]["Date"] = ["Mon, 03 Mar 2025 09:00:02 GMT"]
    second["response"]["headers"]["date"] = ["Mon, 03 Mar 2025 09:00:01 GMT"]
    run = read(first, second)
    assert (run.started_at, kinds(run)) == ("2025-03-03T09:00:02+00:00", ["clock_contradiction"])


def test_what_a_person_said_between_is_a_step() -> None:
    first = interaction(chat(user("hi")), answer({"content": "Book?"}))
    then = chat(user("hi"), {"role": "assistant", "content": "Book?"}, user("yes"))
    people = [
        step for step in read(first, interaction(then, answer({"content": "ok"}))).steps if isinstance(step, HumanStep)
    ]
    assert [(step.question, step.decision) for step in people] == [("Book?", "yes")]


def test_anthropic_behind_bedrock_is_known_by_its_body() -> None:
    asked = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 5, "messages": [user("hi")]}
    told_ = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "x"}],
        "stop_reason": "end_turn",
    }
    url = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-v2%3A1/invoke"
    serving = read(interaction(asked, told_, url=url)).serving
    assert serving == {
        "provider": "aws.bedrock",
        "requested_model": "anthropic.claude-v2:1",
        "api_version": "bedrock-2023-05-31",
        "settings": {"max_tokens": 5},
    }


def test_a_failed_tool_is_an_error_where_anthropic_says_so() -> None:
    use = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    done = {"type": "message", "role": "assistant", "content": [use], "stop_reason": "tool_use"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "no such thing", "is_error": True}
    then = [user("hi"), {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    run = read(
        interaction({"messages": [user("hi")]}, done, url=MESSAGES),
        interaction({"messages": then}, {**done, "content": []}, url=MESSAGES),
    )
    assert [(step.error or {}).get("message") for step in tools(run)] == ["no such thing"]


def retrieval(*results: JSON, status: int = 200) -> JSON:
    url = "https://bedrock-agent-runtime.eu-west-1.amazonaws.com/knowledgebases/KB1/retrieve"
    asked = {"retrievalQuery": {"text": "why"}, "nextToken": "n"}
    return interaction(asked, {"retrievalResults": list(results)}, url=url, status=status)


def chunk(text: str | None, id: str | None = None) -> JSON:
    metadata = {} if id is None else {"x-amz-bedrock-kb-chunk-id": id}
    location = {"type": "S3", "s3Location": {"uri": "s3://b/d"}}
    return {"content": {"text": text}, "location": location, "metadata": metadata, "score": 0.5}


def test_a_retrieval_is_a_step_with_its_chunks() -> None:
    run = read(retrieval(chunk("one", "c-1"), chunk("two", "c-2")), *looked_up())
    step = run.steps[0]
    assert isinstance(step, RetrievalStep)
    assert (step.query, step.parameters) == ("why", {"knowledgeBaseId": "KB1", "nextToken": "n"})
    assert step.chunks == [{"id": "c-1", "text": "one", "score": 0.5}, {"id": "c-2", "text": "two", "score": 0.5}]
    assert ("retrieval" in run.absent, run.notes) == (False, ())


def test_chunks_without_ids_are_named_by_their_document_and_place() -> None:
    run = read(retrieval(chunk("one"), chunk("two")))
    assert [one["id"] for step in run.steps if isinstance(step, RetrievalStep) for one in step.chunks] == [
        "s3://b/d#1", "s3://b/d#2",
    ]  # fmt: skip
    assert kinds(run) == ["content_lost"]


def test_a_retrieval_names_its_chunks_and_documents_also_where_no_text_is_there() -> None:
    run = read(retrieval(chunk(None, "c-1"), chunk("two", "c-2")))
    assert [step.documents for step in run.steps if isinstance(step, RetrievalStep)] == [("c-1", "c-2", "s3://b/d")]


@pytest.mark.parametrize("item", [retrieval(chunk(None)), retrieval(status=500)])
def test_chunks_that_are_not_there_are_no_empty_list(item: JSON) -> None:
    assert [step.answered for step in read(item).steps] == [False]


@pytest.mark.parametrize("odd", [None, 1, [], {}, {"request": {}}, {"request": {"method": "GET"}, "response": {}},
                                 {"kind": "websocket", "messages": []}])  # fmt: skip
def test_what_is_no_exchange_is_left_out_with_a_note(odd: JSON) -> None:
    run = read(odd, *looked_up())
    assert (len(run.steps), [(note.kind, note.source) for note in run.notes]) == (3, [("left_out", "/interactions/0")])


@pytest.mark.parametrize("part", ["method", "uri", "body", "headers", "status"])
@pytest.mark.parametrize("odd", [None, 1, [], {}, [[]], {"a": {"b": 1}}, "x", b"\xff", "http://[", {"code": []}])
def test_a_part_of_another_type_is_imported_or_refused_and_nothing_else(part: str, odd: JSON) -> None:
    for side in ("request", "response"):
        first, second = looked_up()
        first[side][part] = odd
        try:
            run = read(first, second)
        except ImportRefused:
            continue
        assert run.steps or run.notes


def test_a_tag_that_names_code_runs_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    data = f'interactions: !!python/object/apply:os.mkdir ["{made}"]\nversion: 1\n'.encode()
    assert refusal(data).finding.id == "import.not-yaml"
    assert not made.exists()


def test_aliases_stand_for_what_they_name_and_a_bomb_of_them_is_refused() -> None:
    first, second = looked_up()
    assert len(read(first, first, second).steps) == 5
    laughs = b"".join(b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12))
    finding = refusal(b"a0: &a0 [x]\n" + laughs + b"interactions: [*a11]\n").finding
    assert (finding.id, "aliases" in finding.message) == ("import.not-yaml", True)


def test_a_body_that_unpacks_without_end_is_refused_with_its_place() -> None:
    bomb = interaction(chat(user("hi")), gzip.compress(bytes(4 * 1024 * 1024)), url=CHAT)
    finding = refusal(cassette(bomb)).finding
    assert (finding.id, finding.pointer) == ("import.too-large", "/interactions/0/response/body/string")
