from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import ClockStep, NeutralRun, RandomStep, RetrievalStep, ToolStep
from replaycases.importers.registry import Imported, import_run
from replaycases.importers.supplied import Supplied
from replaycases.importers.to_fixture import to_fixture
from tests.importers.transcripts import answers, asks, call, says, supplied, system, transcript, user

SERVING = {"provider": "p", "requested_model": "m", "api_version": "1", "settings": {}}
TALK = (
    system(),
    user("hi"),
    asks(call("look", {"id": 1}, id="a")),
    answers("one", id="a"),
    says("One. Book it?"),
    user("yes"),
    asks(call("book", {"id": 1}, id="a"), call("mail", {}, id="b")),
    answers("Error: full", id="a"),
    answers("sent", id="b"),
    says("bye"),
)


def imported(**more: Any) -> Imported:
    return import_run(transcript(*TALK), supplied=supplied(**more))


def missing(result: Imported) -> dict[str, bool]:
    return {entry["pointer"]: entry.get("declared", False) for entry in result.document["missing"]}


@pytest.mark.parametrize("name", ["case_id", "incident_id", "frozen_at"])
def test_what_no_one_may_guess_is_asked_for_by_name(name: str) -> None:
    with pytest.raises(ImportRefused, match=name):
        import_run(transcript(*TALK), supplied=supplied(**{name: ""}))


def test_what_is_neither_recorded_nor_supplied_is_missing_and_not_declared() -> None:
    gaps = missing(imported())
    assert gaps["/serving"] is False
    assert gaps["/identity"] is False
    assert gaps["/events"] is False
    assert gaps["/events/0/request/tools"] is False


def test_what_a_person_supplied_is_declared() -> None:
    full = imported(serving=SERVING, tools=[{"name": "look"}], identity={}, workflow_version="1", prompt_version="1",
                    none=("clock", "random", "retrieval"))  # fmt: skip
    assert set(missing(full).values()) == {True}
    assert full.document["serving"] == SERVING


def test_a_recorded_part_is_neither_missing_nor_overwritten() -> None:
    data = transcript(*TALK, model="recorded", tools=[{"name": "look"}])
    result = import_run(data, supplied=supplied(tools=[]))
    assert result.document["serving"]["requested_model"] == "recorded"
    assert result.document["events"][0]["request"]["tools"] == [{"name": "look"}]
    assert "/events/0/request/tools" not in missing(result)
    assert missing(result)["/serving/provider"] is False


def test_what_is_supplied_fills_the_parts_of_serving_that_the_file_leaves_out_and_is_declared() -> None:
    result = import_run(transcript(*TALK, model="recorded"), supplied=supplied(serving={**SERVING, "api_version": "9"}))
    assert result.document["serving"] == {**SERVING, "requested_model": "recorded", "api_version": "9"}
    gaps = {pointer: declared for pointer, declared in missing(result).items() if pointer.startswith("/serving")}
    assert gaps == {"/serving/provider": True, "/serving/api_version": True, "/serving/settings": True}


def test_every_reconstructed_request_is_marked() -> None:
    result = imported()
    models = [f"/events/{n}/request" for n, e in enumerate(result.document["events"]) if e["boundary"] == "model"]
    assert set(models) <= set(missing(result))


def test_the_prompt_and_a_supplied_catalogue_stand_as_templates_with_their_hash() -> None:
    names = [(text["name"], text["content"]) for text in imported(tools=[{"name": "look"}]).document["templates"]]
    assert names == [("system", "Help."), ("tools", '[{"name": "look"}]')]


def test_call_ids_in_requests_are_declared_as_generated() -> None:
    last = imported().document["events"][-1]
    assert last["boundary"] == "model"
    assert "/messages/2/tool_calls/0/id" in last["match"]["generated"]
    assert "/messages/3/tool_call_id" in last["match"]["generated"]


def test_parallel_calls_share_a_group_and_attempts_are_unique_although_ids_repeat() -> None:
    tools = [event for event in imported().document["events"] if event["boundary"] == "tool"]
    assert [event.get("group") is not None for event in tools] == [False, True, True]
    assert len({event["attempt"] for event in tools}) == 3


def test_a_horizon_at_a_call_ends_just_before_it() -> None:
    document = imported(horizon_at_call=2).document
    assert document["horizon"] is True
    assert [event["boundary"] for event in document["events"]] == ["model", "tool", "model", "human", "model"]


def test_a_horizon_after_a_seq_keeps_it() -> None:
    document = imported(horizon_after=2).document
    assert [event["seq"] for event in document["events"]] == [1, 2]


def test_a_group_cut_to_one_member_is_no_group() -> None:
    document = imported(horizon_at_call=3).document
    assert document["events"][-1]["tool"] == "book"
    assert "group" not in document["events"][-1]


@pytest.mark.parametrize("more", [
    {"horizon_at_call": 4}, {"horizon_at_call": 0}, {"horizon_after": 0}, {"horizon_after": 99},
    {"horizon_after": 1, "horizon_at_call": 1},
])  # fmt: skip
def test_a_horizon_that_is_not_there_is_refused(more: dict[str, int]) -> None:
    with pytest.raises(ImportRefused) as caught:
        imported(**more)
    assert caught.value.finding.id == "import.horizon"


def test_without_a_horizon_the_whole_run_is_kept() -> None:
    document = imported().document
    assert "horizon" not in document
    assert len(document["events"]) == 8


def test_a_run_cut_short_is_a_prefix() -> None:
    cut = transcript(user("hi"), asks(call("look")), answers("one"), asks(call("look")))
    assert import_run(cut, supplied=supplied()).document["horizon"] is True


def test_all_six_boundaries_become_events() -> None:
    steps = (
        ClockStep(source="", now="2025-01-01T00:00:00Z"),
        RandomStep(source="", name="key", value="k"),
        RetrievalStep(source="", query="q", parameters=None, chunks=[{"id": "1", "text": "t"}]),
        ToolStep(source="", tool="t", arguments={}, error={"kind": "timeout", "message": "late"}),
    )
    run = NeutralRun(format="x", input={}, steps=steps)
    document, _ = to_fixture(run, Supplied(case_id="c", incident_id="i", frozen_at="2025-01-01T00:00:00Z"))
    assert [event["boundary"] for event in document["events"]] == ["clock", "random", "retrieval", "tool"]
    assert document["events"][3]["outcome"] == {"type": "error", "error": {"kind": "timeout", "message": "late"}}


def test_the_same_file_and_supply_give_the_same_bytes() -> None:
    assert imported().as_bytes() == imported().as_bytes()
    json.loads(imported().as_bytes())
