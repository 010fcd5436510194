from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from replaycases.importers import fixture_size, registry
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import ClockStep, ModelStep, NeutralRun, RandomStep, RetrievalStep, ToolStep
from replaycases.importers.registry import Imported, import_run, open_recording, report_on, to_case
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


def recorded(*requests: dict[str, Any], **more: Any) -> NeutralRun:
    steps = tuple(ModelStep(source="", request=request, response={}, **more) for request in requests)
    return NeutralRun(format="x", input={}, steps=steps)


def test_a_request_that_was_recorded_without_tools_stays_without_them_and_the_report_says_so() -> None:
    document, gaps = to_fixture(recorded({"messages": []}, {"messages": [], "tools": [1]}), supplied(tools=[2]))
    assert [event["request"] for event in document["events"]] == [{"messages": []}, {"messages": [], "tools": [1]}]
    assert document["templates"] == []
    assert ("tools", False) in {(gap.name, gap.caps) for gap in gaps}


def test_supplied_tools_go_where_the_file_cannot_tell_and_the_report_says_where() -> None:
    run = replace(recorded({"messages": []}, {"messages": [], "functions": [1]}), absent=("tools",))
    document, gaps = to_fixture(run, supplied(tools=[2]))
    assert [event["request"].get("tools") for event in document["events"]] == [[2], None]
    assert [gap.pointers for gap in gaps if gap.name == "tools"] == [("/events/0/request/tools",)]


@pytest.mark.parametrize(
    ("name", "said"),
    [("identity", {"subject": "a"}), ("workflow_version", "1"), ("prompt_version", "1"), ("locale", "de"),
     ("time_zone", "UTC"), ("frozen_at", "2025-01-01T00:00:00Z")],
)  # fmt: skip
def test_a_value_in_place_of_a_recorded_one_is_declared(name: str, said: Any) -> None:
    other = {"identity": {"subject": "b"}, "frozen_at": "2026-01-01T00:00:00Z"}.get(name, "2")
    run = replace(recorded({"messages": []}), **{"started_at" if name == "frozen_at" else name: said})
    declared = {"pointer": f"/{name}", "declared": True}
    for given, expected in ((said, []), (other, [declared])):
        document, _ = to_fixture(run, supplied(**{name: given}))
        told = [gap for gap in document["missing"] if gap.pop("cost") and gap["pointer"] == f"/{name}"]
        assert told == expected


def test_what_the_recorder_said_of_itself_stays_and_the_rest_is_filled_in() -> None:
    run = replace(recorded({"messages": []}), recorded_by={"commit": None, "recorder": "r", "version": "1"})
    document, _ = to_fixture(run, supplied(recorded_by={"commit": "abc", "recorder": "other"}))
    assert document["recorded_by"] == {"commit": "abc", "recorder": "r", "version": "1"}


def test_a_value_that_is_not_used_is_said_to_be_not_used() -> None:
    run = replace(
        recorded({"messages": []}), serving={"provider": "p", "requested_model": "m"}, recorded_by={"commit": "a"}
    )
    given = {"serving": {"provider": "q", "requested_model": "m", "api_version": "1"}, "recorded_by": {"commit": "b"}}
    document, gaps = to_fixture(run, supplied(**given))
    said = {gap.name: gap for gap in gaps if "is not used" in gap.cost}
    assert ("provider" in said["serving"].cost, "model" in said["serving"].cost) == (True, False)
    assert [gap.caps for gap in said.values()] == [False, False]
    assert (document["serving"]["provider"], document["recorded_by"]["commit"]) == ("p", "a")


def test_only_requests_that_were_put_together_are_marked_so() -> None:
    run = recorded({"messages": []}, {"messages": [1]})
    run = replace(run, steps=(run.steps[0], replace(run.steps[1], reconstructed=True)))
    _, gaps = to_fixture(run, supplied())
    assert [gap.pointers for gap in gaps if gap.name == "requests"] == [("/events/1/request",)]


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


UNANSWERED = (user("hi"), asks(call("look"), call("book")), answers("one"), says("done"))


def test_an_unanswered_step_that_is_left_out_ends_nothing_and_nothing_stands_in_its_place() -> None:
    result = import_run(transcript(*UNANSWERED), supplied=supplied(leave_out=(3,)))
    assert [event.get("tool") for event in result.document["events"]] == [None, "look", None]
    assert "horizon" not in result.document
    assert (result.report.mode, result.report.replayable) == ("replay", 3)
    assert [one.lacking for one in result.report.coverage if one.boundary == "tool"] == [1]
    left = [gap for gap in result.gaps if gap.name == "left_out_unanswered"]
    assert "step 3 of 4" in left[0].cost
    assert {"pointer": "/events", "cost": left[0].cost} in result.document["missing"]


def test_an_unanswered_step_that_stays_ends_what_can_be_replayed() -> None:
    result = import_run(transcript(*UNANSWERED), supplied=supplied(leave_out=(2,)))
    assert [event["boundary"] for event in result.document["events"]] == ["model"]
    assert (result.document["horizon"], result.report.mode, result.report.replayable) == (True, "prefix", 1)


def test_where_the_last_step_had_no_answer_and_is_left_out_what_is_left_is_a_prefix() -> None:
    talk = transcript(user("hi"), asks(call("look")), answers("one"), asks(call("book")))
    result = import_run(talk, supplied=supplied(leave_out=(4,)))
    assert result.document["horizon"] is True
    assert (result.report.mode, result.report.replayable) == ("prefix", 3)


def test_a_run_of_which_everything_is_left_out_can_only_be_read() -> None:
    result = import_run(transcript(*UNANSWERED), supplied=supplied(leave_out=(1, 2, 3, 4)))
    assert (result.report.mode, result.document["events"]) == ("forensic", [])


@pytest.mark.parametrize("kept", [(), (1,), (1, 2)], ids=["nothing", "the clock alone", "the clock and a retrieval"])
def test_what_can_only_be_read_is_marked_so_in_its_fixture_and_ends_at_no_horizon(kept: tuple[int, ...]) -> None:
    steps = (
        ClockStep(source="", now="2025-01-01T00:00:00Z"),
        RetrievalStep(source="", query="q", parameters=None, chunks=[{"id": "1", "text": "t"}]),
        ToolStep(source="", tool="t", arguments={}, answered=False),
    )
    out = tuple(number for number in (1, 2) if number not in kept)
    choices = Supplied(case_id="c", incident_id="i", frozen_at="2025-01-01T00:00:00Z", leave_out=out)
    made = to_case(NeutralRun(format="x", input={}, steps=steps), choices)
    assert (made.report.mode, len(made.document["events"])) == ("forensic", len(kept))
    assert "horizon" not in made.document
    assert made.document["replayability"] == {"class": "non_replayable", "reason": made.report.why}


def test_a_run_of_which_something_is_left_to_replay_is_not_marked_as_one_to_read() -> None:
    assert "replayability" not in import_run(transcript(*UNANSWERED), supplied=supplied(leave_out=(2,))).document


def test_a_run_cut_short_is_a_prefix() -> None:
    cut = transcript(user("hi"), asks(call("look")), answers("one"), asks(call("look")))
    assert import_run(cut, supplied=supplied()).document["horizon"] is True


def long_talk() -> NeutralRun:
    talk = [user("hi")]
    for n in range(120):
        talk += [asks(call("look", {"id": n}, id=f"c{n}")), answers("x" * 6000, id=f"c{n}")]
    return open_recording(transcript(*talk)).read()


def test_a_fixture_that_would_be_too_large_is_told_before_it_is_written_and_where_it_could_end() -> None:
    run = long_talk()
    (told,) = [gap.cost for gap in report_on(run, supplied()).gaps if gap.name == "size"]
    fits = int(re.search(r"events 1 to (\d+) take", told)[1])  # type: ignore[index]
    for after, fault in ((fits, []), (fits + 1, ["size"])):
        assert [gap.name for gap in report_on(run, supplied(horizon_after=after)).gaps if gap.name == "size"] == fault
    with pytest.raises(ImportRefused) as caught:
        to_case(run, supplied())
    assert (caught.value.finding.id, caught.value.finding.message) == ("import.too-long", told)


def test_the_size_that_is_told_is_that_of_the_events_as_they_are_written() -> None:
    events = imported().document["events"]
    sizes = [len(fixture_size.written(event)) for event in events]
    assert list(fixture_size.sizes_of(events)) == sizes


def test_what_has_room_only_in_its_shortest_form_is_written_so(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, result = imported().as_bytes(), imported()
    monkeypatch.setattr(registry, "MAX_BYTES", len(shown) - 1)
    assert len(result.as_bytes()) < len(shown)
    assert json.loads(result.as_bytes()) == json.loads(shown)


def test_messages_that_requests_repeat_are_shared_and_not_copied() -> None:
    first, *_, last = [step for step in long_talk().steps if isinstance(step, ModelStep)]
    assert last.request["messages"][0] is first.request["messages"][0]


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
