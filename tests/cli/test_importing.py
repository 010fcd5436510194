from __future__ import annotations

import json
from pathlib import Path

import pytest

from replaycases.fixture.load import load_fixture
from tests.cli.conftest import Command

RUN = {
    "messages": [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Book seat s3cret."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "book", "arguments": '{"seat": "s3cret"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "booked"},
        {"role": "assistant", "content": "Done."},
    ]
}
IDS = ("--case-id", "two-bookings", "--incident-id", "INC-7", "--frozen-at", "2026-03-02T10:15:00+01:00")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(RUN))
    return path


def test_a_recorded_run_becomes_a_fixture_that_loads(command: Command, recording: Path, tmp_path: Path) -> None:
    expected, output = tmp_path / "expected.json", tmp_path / "case.json"
    expected.write_text(
        json.dumps({"boundary": ["t"], "tool_sequence": {"id": "t", "tools": ["book"], "mode": "exact"}})
    )
    code, out, _ = command("import", recording, *IDS, "--expected", expected, "-o", output)
    fixture = load_fixture(output.read_bytes())
    assert (code, fixture.case_id) == (0, "two-bookings")
    assert [event.boundary for event in fixture.events] == ["model", "tool", "model"]
    assert f"case two-bookings {fixture.fixture_hash[:17]}" in out


def test_what_the_recording_lacks_goes_to_standard_error_beside_a_draft(command: Command, recording: Path) -> None:
    code, out, err = command("import", recording, *IDS)
    assert code == 0
    assert "expected" not in json.loads(out)
    assert "missing: serving" in err
    assert "a draft" in err
    assert "s3cret" not in err


@pytest.mark.parametrize("flags", [(), ("--report",), ("--report", "--json")])
def test_a_file_of_several_runs_lists_them(command: Command, tmp_path: Path, flags: tuple[str, ...]) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([RUN, {"messages": RUN["messages"][:2] + RUN["messages"][-1:]}, *[RUN] * 21]))
    code, out, err = command("import", path, *flags)
    first, *listed = err.splitlines()
    assert (code, out, "23 runs" in first, "--run" in first) == (10, "", True, True)
    assert len(listed) == 21
    assert listed[0] == "  | run 0: no time, 2 model calls, 1 tool call"
    assert listed[1] == "  | run 1: no time, 1 model call, 0 tool calls"
    assert listed[20] == "  | and 3 more, to run 22"
    assert "s3cret" not in err
    assert command("import", path, "--run", "1", "--report")[0] == 0


def test_what_no_file_holds_is_asked_for(command: Command, recording: Path) -> None:
    code, out, err = command("import", recording)
    assert (code, out) == (10, "")
    assert "case_id, incident_id, frozen_at" in err
    assert "--case-id, --incident-id and --frozen-at" in err


def test_a_time_without_an_offset_is_refused_by_the_name_of_its_option(command: Command, recording: Path) -> None:
    code, out, err = command("import", recording, *IDS[:4], "--frozen-at", "2026-01-01")
    assert (code, out) == (2, "")
    assert err.startswith("--frozen-at: the time is no instant with an offset.")


def test_what_is_wrong_in_the_supplied_file_is_found_there(command: Command, recording: Path, tmp_path: Path) -> None:
    supplied = tmp_path / "supplied.json"
    supplied.write_text(json.dumps({"frozen_at": "2026-01-01T09:00:00"}))
    code, _, err = command("import", recording, *IDS[:4], "--supplied", supplied)
    assert code == 2
    assert f"{supplied}: /frozen_at: " in err


def test_a_report_names_its_file_once(command: Command, recording: Path) -> None:
    _, out, _ = command("import", recording, "--report")
    assert out.count(str(recording)) == 1


def test_an_expectation_that_makes_no_fixture_is_told_with_its_findings(
    command: Command, recording: Path, tmp_path: Path
) -> None:
    expected, output = tmp_path / "expected.json", tmp_path / "case.json"
    expected.write_text(json.dumps({"boundary": ["gone"]}))
    code, _, err = command("import", recording, *IDS, "--expected", expected, "-o", output)
    assert code == 10
    assert "expected.no-check" in err
    assert not output.exists()


def test_spans_and_the_log_records_of_another_file_make_one_run(command: Command, tmp_path: Path) -> None:
    ids = {"traceId": "a" * 32, "spanId": "b" * 16}
    chat = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.system", "value": {"stringValue": "openai"}},
    ]
    span = {**ids, "name": "chat", "startTimeUnixNano": "1790000000000000000", "attributes": chat}
    said = {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "hi"}}]}}
    records = [{**ids, "eventName": name, "body": said} for name in ("gen_ai.user.message", "gen_ai.choice")]
    spans, logs = tmp_path / "spans.json", tmp_path / "logs.json"
    spans.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    logs.write_text(json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}))
    code, out, _ = command("import", spans, "--with", logs, *IDS)
    (event,) = json.loads(out)["events"]
    assert (code, event["boundary"]) == (0, "model")
    assert event["request"] == {"messages": [{"role": "user", "content": "hi"}]}
    assert event["response"] == {"message": {"role": "assistant", "content": "hi"}}


def test_a_report_needs_nothing_but_the_file(command: Command, recording: Path) -> None:
    code, out, err = command("import", recording, "--report")
    assert (code, err) == (0, "")
    assert "chat-transcript: can be replayed: All 3 recorded steps have their answers." in out
    assert "tool: recorded (1 whole)" in out
    assert "clock: absent: a workflow that reads the clock may decide otherwise" in out
    assert "s3cret" not in out


def test_a_report_names_each_note_with_its_place(command: Command, recording: Path) -> None:
    recording.write_text(json.dumps({"messages": RUN["messages"][:3]}))
    _, out, _ = command("import", recording, "--report")
    assert "can be replayed in part" in out
    assert "note: call without result at /messages/2" in out


def test_a_report_is_told_as_json(command: Command, recording: Path) -> None:
    code, out, _ = command("import", recording, "--report", "--json")
    report = json.loads(out)
    assert (code, report["mode"], report["replayable"]) == (0, "replay", 3)
    assert {row["boundary"]: row["recorded"] for row in report["coverage"]}["model"] == 2


def test_the_report_stands_beside_the_fixture_as_json(command: Command, recording: Path, tmp_path: Path) -> None:
    _, out, _ = command("import", recording, *IDS, "--json")
    shown = json.loads(out)
    assert (shown["mode"], shown["fixture"]["case_id"]) == ("replay", "two-bookings")
    output = tmp_path / "case.json"
    _, out, _ = command("import", recording, *IDS, "--json", "-o", output)
    assert "fixture" not in json.loads(out)
    assert json.loads(output.read_text())["case_id"] == "two-bookings"
