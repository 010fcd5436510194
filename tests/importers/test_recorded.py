"""Recordings of our own recorder become complete fixtures; what the recorder cannot have written is refused."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaycases.fixture.load import load_fixture
from replaycases.fixture.timeouts import timeouts_of
from replaycases.harness.recording import RecordingSession
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import ModelStep, NeutralRun, RetrievalStep, ToolStep
from replaycases.importers.registry import Imported, open_recording, to_case
from replaycases.importers.supplied import Supplied

SERVING = {"provider": "p", "requested_model": "m", "api_version": "1", "settings": {"temperature": 0}}
POLICY = {"name": "refunds", "version": "3", "content": "One refund an order."}
EXPECTED = {"boundary": ["s"], "status": {"id": "s", "one_of": ["open"]}}
LIVE: dict[str, Any] = {
    "tools": lambda name, arguments: '{"text": 1}',
    "model": lambda request, serving: {"text": "pay"},
    "retrieval": lambda query, parameters: [{"id": "c1", "text": "No."}],
    "human": lambda question: "yes",
    "random": {"key": lambda: "k-1"},
}
WHOLE: dict[str, Any] = {
    "input": {"order": "o"},
    "identity": {"subject": "c-1"},
    "workflow_version": "1.4",
    "prompt_version": "7",
    "commit": "abc",
    "serving": SERVING,
    "time_zone": "Europe/Berlin",
    "locale": "de-DE",
    "policies": [POLICY],
    "templates": [{"name": "system", "version": "7", "content": "You help."}],
    "usage": lambda response: {"input_tokens": 3, "output_tokens": 2},
}


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="replaycases.recorder")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def recorded(place: Path, workflow: Callable[[Any], Any], **given: Any) -> bytes:
    with RecordingSession(place, **{"input": 1, **LIVE, **given}) as session:
        workflow(session)
    return place.read_bytes()


def everything(session: Any) -> None:
    session.clock.now()
    session.retrieval.search("rules", {"k": 1})
    session.model.call({"messages": [{"role": "user", "content": "Hi"}]})
    session.random.draw("key")
    session.tools.call("pay", {"amount": "4"})
    session.human.ask({"ask": "close?"})
    session.finish("Paid.")


def run_of(data: bytes) -> NeutralRun:
    return open_recording(data).read()


def case_of(data: bytes) -> Imported:
    return to_case(run_of(data), Supplied(case_id="c", incident_id="i", expected=EXPECTED))


def rows(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def written(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def refusal(data: bytes) -> str:
    with pytest.raises(ImportRefused) as refused:
        run_of(data)
    return refused.value.finding.id


# --- complete -------------------------------------------------------------------------------------------------------


def test_a_whole_recording_becomes_a_fixture_without_a_gap(place: Path) -> None:
    imported = case_of(recorded(place, everything, **WHOLE))
    assert imported.gaps == ()
    assert imported.document["missing"] == []
    assert imported.report.mode == "replay"
    assert imported.report.notes == ()
    assert {coverage.state for coverage in imported.report.coverage} == {"recorded"}


def test_the_fixture_holds_what_crossed_and_what_surrounded_it(place: Path) -> None:
    document = case_of(recorded(place, everything, **WHOLE)).document
    assert [event["boundary"] for event in document["events"]] == [
        "clock", "retrieval", "model", "random", "tool", "human"]  # fmt: skip
    assert document["serving"] == SERVING
    assert document["recorded_by"] == {"commit": "abc", "recorder": "replaycases", "version": "1.0"}
    assert [policy["content"] for policy in document["policies"]] == ["One refund an order."]
    assert [(template["name"], template["content"]) for template in document["templates"]] == [("system", "You help.")]
    kept = ("workflow_version", "prompt_version", "time_zone", "locale", "input", "identity")
    assert {name: document[name] for name in kept} == {name: WHOLE[name] for name in kept}
    assert document["events"][2]["usage"] == {"input_tokens": 3, "output_tokens": 2}


def test_a_call_that_the_workflow_did_not_make_is_no_gap_of_what_the_recorder_saw(place: Path) -> None:
    asked = {"tool_calls": [{"id": "c", "name": "pay", "arguments": {"amount": 9}}]}
    report = case_of(
        recorded(place, lambda session: session.model.call({"messages": []}), **WHOLE | {"model": lambda *_: asked})
    ).report
    assert [(note.kind, note.boundary, note.cost) for note in report.notes] == [("left_out", "tool", "")]
    assert next((one.state, one.cost) for one in report.coverage if one.boundary == "tool") == ("absent", "")


def test_strings_stay_strings(place: Path) -> None:
    event = case_of(recorded(place, everything, **WHOLE)).document["events"][4]
    assert event["arguments"] == {"amount": "4"}
    assert event["outcome"]["value"] == '{"text": 1}'


def test_what_was_not_given_is_a_gap_and_nothing_is_invented(place: Path) -> None:
    def one_call(session: Any) -> None:
        session.model.call({"messages": []})

    data = recorded(place, one_call, retrieval=None, random=None)
    document, gaps = case_of(data).document, {gap.name for gap in case_of(data).gaps if gap.caps}
    assert gaps == {"identity", "workflow_version", "prompt_version", "serving", "clock", "random", "retrieval"}
    assert document["recorded_by"]["commit"] is None
    assert "time_zone" not in document


def test_a_boundary_that_the_workflow_is_said_not_to_have_is_no_gap(place: Path) -> None:
    run = run_of(
        recorded(place, lambda session: None, retrieval=None, random=None, none=["clock", "random", "retrieval"])
    )
    assert set(run.absent) == {"identity"}


def test_serving_that_the_calls_say_is_kept(place: Path) -> None:
    run = run_of(recorded(place, lambda session: session.model.call({"messages": []}, SERVING)))
    assert run.serving == SERVING


def test_a_workflow_that_raised_is_whole(place: Path) -> None:
    def crash(session: Any) -> None:
        session.tools.call("pay", {})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        recorded(place, crash, **WHOLE)
    run = run_of(place.read_bytes())
    assert (run.cut, len(run.steps)) == ("", 1)


# --- groups and times -----------------------------------------------------------------------------------------------


def groups(run: NeutralRun) -> list[int | None]:
    return [step.group for step in run.steps if isinstance(step, ToolStep)]


def test_calls_that_one_answer_asked_for_are_one_group(place: Path) -> None:
    def workflow(session: Any) -> None:
        session.model.call({"messages": []})
        for name in ("c1", "c2", "c9"):
            session.tools.call("pay", {"n": name}, call_id=name)
        session.tools.call("pay", {"n": "none"})

    asks = {"tool_calls": [{"id": "c1"}, {"id": "c2"}]}
    assert groups(run_of(recorded(place, workflow, model=lambda request, serving: asks))) == [1, 1, None, None]


def test_calls_that_were_under_way_at_once_are_one_group(place: Path) -> None:
    together = threading.Barrier(2)

    def pay(name: str, arguments: Any) -> Any:
        if arguments["n"] < 2:
            together.wait(30)
        return arguments

    def workflow(session: Any) -> None:
        threads = [threading.Thread(target=session.tools.call, args=("pay", {"n": n})) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        session.tools.call("pay", {"n": 2})

    data = recorded(place, workflow, tools=pay)
    assert groups(run_of(data)) == [1, 1, None]
    events = case_of(data).document["events"]
    assert ["group" in event for event in events] == [True, True, False]


def test_calls_of_several_boundaries_at_once_are_noted(place: Path) -> None:
    def pay(name: str, arguments: Any) -> Any:
        return holder[0].model.call({"messages": []})

    holder: list[Any] = []
    with RecordingSession(place, input=1, **{**LIVE, "tools": pay}) as session:
        holder.append(session)
        session.tools.call("pay", {})
    notes = [note for note in run_of(place.read_bytes()).notes if note.kind == "guessed_pairing"]
    assert [note.boundary for note in notes] == ["model"]


@pytest.mark.parametrize(("budget", "kind"), [(0, "local_cancellation"), (3600, "undetermined")])
def test_the_times_of_a_call_that_timed_out_tell_whose_time_it_was(budget: int, kind: str, place: Path) -> None:
    def pay(name: str, arguments: Any) -> Any:
        raise TimeoutError("5 s")

    def workflow(session: Any) -> None:
        with pytest.raises(session.ToolError):
            session.tools.call("pay", {})

    data = recorded(place, workflow, tools=pay, budget_seconds=budget, **WHOLE)
    imported = case_of(data)
    event = imported.document["events"][0]
    assert set(event["timing"]) == {"dispatched_at", "ended_by", "budget_started_at", "deadline_at"}
    assert event["outcome"]["error"] == {"kind": "TimeoutError", "message": "5 s"}
    found = timeouts_of(load_fixture(imported.as_bytes()))
    assert [str(said.finding.kind) for said in found] == [kind]


def test_a_call_that_ended_in_time_has_no_times(place: Path) -> None:
    data = recorded(place, everything, budget_seconds=5, **WHOLE)
    assert not any("timing" in event for event in case_of(data).document["events"])


def test_a_wall_clock_that_was_set_is_noted(place: Path) -> None:
    lines = rows(recorded(place, everything, **WHOLE))
    lines[3]["at"] = "2020-01-01T00:00:00+00:00"
    assert [note.kind for note in run_of(written(lines)).notes] == ["clock_contradiction"]


# --- incomplete -----------------------------------------------------------------------------------------------------


def test_a_process_that_died_leaves_a_prefix_and_a_call_without_its_answer(place: Path) -> None:
    data = recorded(place, everything, **WHOLE)
    lines = rows(data)
    at = next(at for at, line in enumerate(lines) if line.get("boundary") == "tool")
    run = run_of(written(lines[: at + 1]))
    assert "has no end" in run.cut
    assert [note.kind for note in run.notes] == ["call_without_result"]
    imported = to_case(run, Supplied(case_id="c", incident_id="i"))
    assert imported.report.mode == "prefix"
    assert [event["boundary"] for event in imported.document["events"]] == ["clock", "retrieval", "model", "random"]
    assert imported.document["horizon"] is True


def test_a_last_line_that_is_cut_is_left_out_and_said(place: Path) -> None:
    data = written(rows(recorded(place, everything, **WHOLE))[:-1])
    assert "last line is cut" in run_of(data[:-9]).cut


def test_what_could_not_be_recorded_is_no_empty_value(place: Path) -> None:
    def workflow(session: Any) -> None:
        session.model.call({"messages": [(1,)], "bad": {1}})
        session.tools.call("pay", {})
        session.retrieval.search("q")

    lost = {"tools": lambda name, arguments: {1}, "retrieval": lambda query, parameters: [{"id": 1}]}
    run = run_of(recorded(place, workflow, **lost))
    assert [step.answered for step in run.steps] == [False, False, False]
    assert [type(step) for step in run.steps] == [ModelStep, ToolStep, RetrievalStep]
    assert [note.kind for note in run.notes] == ["content_lost"] * 3


def test_a_recording_that_reached_its_size_is_a_prefix(place: Path) -> None:
    def workflow(session: Any) -> None:
        for _ in range(30):
            session.tools.call("pay", {"x": "x" * 1000})

    assert "reached its size" in run_of(recorded(place, workflow, max_bytes=20_000)).cut


def test_a_model_call_that_failed_is_noted_and_ends_what_can_be_replayed(place: Path) -> None:
    def ask(request: Any, serving: Any) -> Any:
        raise ConnectionError

    def workflow(session: Any) -> None:
        with pytest.raises(ConnectionError):
            session.model.call({"messages": []})

    run = run_of(recorded(place, workflow, model=ask))
    assert [note.kind for note in run.notes] == ["failed_call"]
    assert not run.steps[0].answered


# --- refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "changes"),
    [
        (0, {"note": 1}),
        (0, {"recording": "2"}),
        (0, {"sees": ["files"]}),
        (0, {"serving": {"model": "m"}}),
        (0, {"policies": [{"name": "p", "version": "1", "sha256": "A" * 64}]}),
        (0, {"recorder": {"name": "x", "version": "1", "by": "y"}}),
        (1, {"name": "k"}),
        (1, {"boundary": "random"}),
        (2, {"asked": {"query": "q", "top": 1}}),
        (2, {"lost": True}),
        (3, {"usage": {"tokens": 1}}),
        (3, {"error": {"kind": "x", "message": ""}}),
        (3, {"ns": -1}),
        (-2, {"outcome": {"message": "x"}}),
        (-1, {"ended": "well"}),
    ],
)
def test_a_line_of_another_shape_is_refused(at: int, changes: dict[str, Any], place: Path) -> None:
    lines = rows(recorded(place, everything, **WHOLE))
    lines[at] |= changes
    assert refusal(written(lines)) in ("import.recording-shape", "import.unknown-format")


@pytest.mark.parametrize(("at", "name"), [(0, "at"), (1, "now"), (2, "at")])
def test_a_time_without_an_offset_is_refused(at: int, name: str, place: Path) -> None:
    lines = rows(recorded(place, everything, **WHOLE))
    lines[at][name] = "2026-01-01T00:00:00"
    assert refusal(written(lines)) == "import.recording-time"


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: lines.pop(2),
        lambda lines: lines.pop(3),
        lambda lines: lines.pop(-2),
        lambda lines: lines.insert(3, lines[3]),
        lambda lines: lines.insert(4, lines[3]),
        lambda lines: lines.append(lines[-1]),
        lambda lines: lines.insert(2, lines[0]),
        lambda lines: lines.insert(1, lines.pop(2)),
        lambda lines: lines[-1].update(calls=99),
    ],
)
def test_lines_that_are_left_out_doubled_or_moved_are_refused(damage: Any, place: Path) -> None:
    lines = rows(recorded(place, everything, **WHOLE))
    damage(lines)
    assert refusal(written(lines)) == "import.recording-order"


def test_without_an_end_a_doubled_answer_is_refused_too(place: Path) -> None:
    lines = rows(recorded(place, everything, **WHOLE))[:-1]
    assert run_of(written(lines)).cut
    assert refusal(written([*lines, lines[3]])) == "import.recording-order"


def test_nothing_comes_after_the_end(place: Path) -> None:
    lines = rows(recorded(place, everything, **WHOLE))
    finish = next(line for line in lines if line["line"] == "finish")
    assert refusal(written([*lines, finish])) == "import.recording-order"


def test_a_line_in_the_middle_that_is_no_json_is_refused(place: Path) -> None:
    lines = recorded(place, everything, **WHOLE).splitlines()
    lines[3] = lines[3][:-5]
    assert refusal(b"\n".join(lines)) == "import.recording-line"
