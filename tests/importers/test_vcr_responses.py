from __future__ import annotations

from typing import Any

import pytest

from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun
from tests.importers.cassettes import (
    RESPONSES,
    function_call,
    interaction,
    kinds,
    output,
    read,
    response,
    says,
    tools,
    user,
)
from tests.importers.http.streams import sse

JSON = Any


def post(asked: JSON, told: JSON) -> JSON:
    return interaction({"model": "m", **asked}, told, url=RESPONSES)


def get(id: str, told: JSON, status: int = 200) -> JSON:
    return interaction(None, told, url=f"{RESPONSES}/{id}?stream=false", method="GET", status=status)


def models(run: NeutralRun) -> list[ModelStep]:
    return [step for step in run.steps if isinstance(step, ModelStep)]


def people(run: NeutralRun) -> list[HumanStep]:
    return [step for step in run.steps if isinstance(step, HumanStep)]


def test_a_request_that_goes_on_from_an_answer_in_the_file_is_told_what_that_said() -> None:
    run = read(
        post({"input": "hi"}, response("r1", function_call("look", {"n": 1}))),
        post({"input": [output("a", "one")], "previous_response_id": "r1"}, response("r2", says("It is one."))),
        post({"input": "and now?", "previous_response_id": "r2"}, response("r3", says("Still."))),
    )
    assert [type(step).__name__ for step in run.steps] == [
        "ModelStep",
        "ToolStep",
        "ModelStep",
        "HumanStep",
        "ModelStep",
    ]
    assert [step.value for step in tools(run)] == ["one"]
    assert [(step.question, step.decision) for step in people(run)] == [("It is one.", "and now?")]
    assert [step.request.get("previous_response_id") for step in models(run)] == [None, "r1", "r2"]
    assert kinds(run) == []


def test_the_same_words_after_two_answers_were_said_twice() -> None:
    run = read(
        post({"input": "hi"}, response("r1", says("More?"))),
        post({"input": "yes", "previous_response_id": "r1"}, response("r2", says("More?"))),
        post({"input": "yes", "previous_response_id": "r2"}, response("r3", says("Done."))),
    )
    assert [step.decision for step in people(run)] == ["yes", "yes"]


def test_an_answer_that_is_not_in_the_file_is_an_unresolved_reference() -> None:
    run = read(post({"input": [output("a", "one")], "previous_response_id": "r0"}, response("r1", says("ok"))))
    assert sorted(kinds(run)) == ["result_without_call", "unresolved_reference"]
    assert [note.boundary for note in run.notes if note.cost] == ["model"]


def test_two_requests_that_go_on_from_the_same_missing_answer_do_not_follow_each_other() -> None:
    run = read(
        post({"input": "a", "previous_response_id": "r0"}, response("r1", says("one"))),
        post({"input": "b", "previous_response_id": "r0"}, response("r2", says("two"))),
    )
    assert (people(run), kinds(run)) == ([], ["unresolved_reference", "unresolved_reference"])


def test_a_conversation_on_the_server_goes_on_from_its_last_answer() -> None:
    made = interaction({}, {"id": "conv-1", "object": "conversation"}, url="https://api.openai.com/v1/conversations")
    first = post({"input": "hi", "conversation": "conv-1"}, response("r1", function_call("look", {})))
    second = post({"input": [output("a", "one")], "conversation": {"id": "conv-1"}}, response("r2", says("ok")))
    assert kinds(read(made, first, second)) == ["left_out"]
    run = read(first, second)
    assert [step.value for step in tools(run)] == ["one"]
    assert [(note.kind, note.source) for note in run.notes] == [
        ("unresolved_reference", "/interactions/0/request/body")
    ]


def test_an_answer_that_is_fetched_later_belongs_to_its_call() -> None:
    waiting = response("r1", status="queued")
    run = read(
        post({"input": "hi", "background": True}, waiting),
        get("r1", {}, status=500),
        get("r1", {**waiting, "status": "in_progress"}),
        get("r1", response("r1", function_call("look", {}), completed_at=1_700_000_000)),
        post({"input": ["x", output("a", "one")], "previous_response_id": "r1"}, response("r2", says("ok"))),
    )
    assert [type(step).__name__ for step in run.steps] == ["ModelStep", "ToolStep", "ModelStep"]
    assert models(run)[0].ended_at == "2023-11-14T22:13:20+00:00"
    assert tools(run)[0].source == "/interactions/3/response/body/string/output/0"
    assert run.left_out == ("/interactions/0/request/body/background", "/interactions/1")


def test_an_answer_that_was_fetched_before_it_was_made_is_none() -> None:
    run = read(post({"input": "hi"}, response("r1", status="queued")), get("r1", response("r1", status="in_progress")))
    assert (models(run)[0].answered, kinds(run)) == (False, ["content_lost"])


def test_an_answer_whose_request_is_not_in_the_file_is_no_step() -> None:
    run = read(get("r0", response("r0", says("x"))), post({"input": "hi"}, response("r1", says("ok"))))
    assert (len(run.steps), kinds(run), run.left_out) == (1, ["unresolved_reference"], ("/interactions/0",))


def test_a_stream_that_broke_off_is_whole_once_it_was_fetched() -> None:
    created = {"type": "response.created", "response": response("r1", status="in_progress")}
    run = read(post({"input": "hi", "stream": True}, sse(created)), get("r1", response("r1", says("ok"))))
    assert (models(run)[0].answered, kinds(run)) == (True, [])


def test_a_person_who_approves_what_the_provider_runs_is_a_step() -> None:
    asked = {"type": "mcp_approval_request", "id": "apr", "name": "book", "arguments": "{}"}
    given = {"type": "mcp_approval_response", "approval_request_id": "apr", "approve": False, "reason": "no"}
    run = read(
        post({"input": "hi"}, response("r1", asked)),
        post({"input": [given], "previous_response_id": "r1"}, response("r2", says("Not booked."))),
    )
    assert [(step.question, step.decision) for step in people(run)] == [
        ({"approval_requests": [asked]}, {"approve": False, "reason": "no"})
    ]
    assert kinds(run) == ["server_side"]


def test_passages_that_were_not_recorded_are_no_empty_retrieval() -> None:
    found = {"type": "file_search_call", "id": "fs", "queries": ["why"], "results": None}
    run = read(post({"input": "hi"}, response("r1", found, says("Because."))))
    assert [type(step).__name__ for step in run.steps] == ["ModelStep"]
    assert [(note.kind, note.boundary, bool(note.cost)) for note in run.notes] == [("server_side", "retrieval", True)]


def test_items_of_an_answer_stand_in_the_input_as_they_were_sent() -> None:
    items = [user("hi"), {"type": "reasoning", "id": "r"}, function_call("look", {}), output("a", "one")]
    assert read(post({"input": items}, response("r1", says("ok")))).input == {"messages": items}


@pytest.mark.parametrize("order", ["calls first", "one by one"])
def test_parallel_calls_are_answered_whichever_way_they_are_sent_back(order: str) -> None:
    one, two = function_call("look", {"n": 1}, "a"), function_call("look", {"n": 2}, "b")
    first, second = output("a", "one"), output("b", "two")
    back = [one, two, first, second] if order == "calls first" else [one, first, two, second]
    run = read(
        post({"input": "hi"}, response("r1", one, two)),
        post({"input": [user("hi"), *back]}, response("r2", says("ok"))),
    )
    assert [step.value for step in tools(run)] == ["one", "two"]
    assert len({step.group for step in tools(run)} - {None}) == 1


def test_a_failed_answer_keeps_its_body() -> None:
    told = response("r1", status="failed", error={"code": "server_error", "message": "x"})
    run = read(post({"input": "hi"}, told))
    assert (models(run)[0].response, kinds(run)) == (told, ["failed_call"])
