"""Recorded airline runs from outside the project: imported, trimmed, and replayed against both loops.

They are not part of the project: where they are absent, these tests are skipped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from replaycases.fixture.model import Fixture
from replaycases.importers.registry import Imported, import_run
from replaycases.importers.supplied import supplied_from
from replaycases.replay.implementation import Implementation
from replaycases.verdict.labels import Label
from tests.examples.pairs import EXAMPLES, implementations, require_isolation, verdict, verified

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("REPLAYCASES_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
RUNS = CORPUS / "sierra-research__tau-bench" / "incidents"
FILES = sorted(RUNS.glob("*.json"))
EXPECTATIONS = EXAMPLES / "tool-loop" / "expectations"
TWO_BOOKINGS, OVERCHARGED, OVERCHARGED_TOO = "airline_idx150", "airline_idx017", "airline_idx014"
BOOKING, CHANGE = "no-second-booking", "no-change-beyond-the-confirmed"
INCIDENTS = [(TWO_BOOKINGS, BOOKING, 7), (OVERCHARGED, CHANGE, 11), (OVERCHARGED_TOO, CHANGE, 7)]

pytestmark = pytest.mark.skipif(not FILES, reason="the recorded airline runs are not here (REPLAYCASES_CORPUS)")


@pytest.fixture(scope="module")
def loops() -> tuple[Implementation, Implementation]:
    require_isolation()
    return implementations(EXAMPLES / "tool-loop")


def read(name: str) -> Any:
    return json.loads((EXPECTATIONS / f"{name}.json").read_text(encoding="utf-8"))


def catalogue(data: bytes) -> list[dict[str, Any]]:
    """What a person would supply: here no more than the names that the run uses."""
    calls = (call for message in json.loads(data)["traj"] for call in message.get("tool_calls") or ())
    names = sorted({call["function"]["name"] for call in calls})
    return [{"type": "function", "function": {"name": name}} for name in names]


def imported(file: Path, *, catalogue_supplied: bool = True, **more: Any) -> Imported:
    data = file.read_bytes()
    tools = {"tools": catalogue(data)} if catalogue_supplied else {}
    parts = {**read("supplied"), "case_id": file.stem, "effects": read("effects"), **tools, **more}
    return import_run(data, supplied=supplied_from(parts))


def named(prefix: str) -> Path:
    return next(file for file in FILES if file.stem.startswith(prefix))


def trimmed(prefix: str, expectation: str, call: int | None, **more: Any) -> Fixture:
    fixture = imported(named(prefix), expected=read(expectation), horizon_at_call=call, **more).fixture
    assert fixture is not None
    return fixture


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_recorded_run_is_imported_whole(file: Path) -> None:
    expected = {"boundary": ["ended"], "run_status": {"id": "ended", "forbid": ["crashed"]}}
    fixture = imported(file, expected=expected).fixture
    assert fixture is not None
    messages = json.loads(file.read_bytes())["traj"]
    counts = {boundary: sum(event.boundary == boundary for event in fixture.events)
              for boundary in ("model", "tool", "human")}  # fmt: skip
    roles = [message["role"] for message in messages]
    assert counts == {"model": roles.count("assistant"), "tool": roles.count("tool"), "human": roles.count("user") - 1}
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    assert [event.outcome.value for event in fixture.events if event.boundary == "tool" and event.outcome] == answers


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_affected_loop_acts_as_recorded_to_the_end(
    file: Path, loops: tuple[Implementation, Implementation]
) -> None:
    expected = {"boundary": ["ended"], "run_status": {"id": "ended", "forbid": ["crashed", "exhausted"]}}
    fixture = imported(file, expected=expected).fixture
    assert fixture is not None
    assert {run.manifest.status for run in verified(fixture, loops[0])} == {"completed"}


@pytest.mark.parametrize("file", [file for file in FILES if "control_pass" in file.stem], ids=lambda file: file.stem)
def test_the_guards_leave_a_run_that_went_well_alone(file: Path, loops: tuple[Implementation, Implementation]) -> None:
    expected = {"boundary": ["ended"], "run_status": {"id": "ended", "forbid": ["crashed", "exhausted"]}}
    fixture = imported(file, expected=expected).fixture
    assert fixture is not None
    assert {run.manifest.boundary_passed for run in verified(fixture, loops[1])} == {True}


@pytest.mark.parametrize(("prefix", "expectation", "call"), INCIDENTS, ids=lambda value: str(value))
def test_trimmed_to_the_damage_and_with_every_part_supplied_it_is_verified(
    prefix: str, expectation: str, call: int, loops: tuple[Implementation, Implementation]
) -> None:
    comparison = verdict(trimmed(prefix, expectation, call), *loops)
    assert (comparison.label, comparison.controls) == (Label.VERIFIED_RED_TO_GREEN, "not run"), comparison.reason


@pytest.mark.parametrize(("prefix", "expectation", "call"), INCIDENTS, ids=lambda value: str(value))
def test_without_the_tool_catalogue_it_is_at_best_compatible(
    prefix: str, expectation: str, call: int, loops: tuple[Implementation, Implementation]
) -> None:
    comparison = verdict(trimmed(prefix, expectation, call, catalogue_supplied=False), *loops)
    assert comparison.label is Label.COMPATIBLE_PASS, comparison.reason


def test_with_an_unknown_serving_it_is_at_best_compatible(loops: tuple[Implementation, Implementation]) -> None:
    comparison = verdict(trimmed(TWO_BOOKINGS, BOOKING, 7, serving=None), *loops)
    assert comparison.label is Label.COMPATIBLE_PASS, comparison.reason


@pytest.mark.parametrize(("prefix", "expectation", "call"), INCIDENTS, ids=lambda value: str(value))
def test_untrimmed_the_fixed_loop_leaves_the_recording_and_is_to_be_reviewed(
    prefix: str, expectation: str, call: int, loops: tuple[Implementation, Implementation]
) -> None:
    comparison = verdict(trimmed(prefix, expectation, None), *loops)
    assert (comparison.label, comparison.side) == (Label.DIVERGED, "new"), comparison.reason


def test_trimmed_too_early_there_is_no_red(loops: tuple[Implementation, Implementation]) -> None:
    assert verdict(trimmed(OVERCHARGED, CHANGE, 10), *loops).label is Label.NOT_REPRODUCED


def test_the_booking_that_was_refused_by_the_airline_is_not_counted_as_made() -> None:
    events = [event for event in trimmed(TWO_BOOKINGS, BOOKING, 7).events if event.tool == "book_reservation"]
    assert [event.effect.accepted for event in events if event.effect] == [False, True]
