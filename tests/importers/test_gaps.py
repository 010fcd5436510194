"""What a reader of the file was told, and costs something, stands in the fixture and keeps it from green."""

from __future__ import annotations

import pytest

from replaycases.importers.gaps import gaps_in
from replaycases.importers.neutral import NeutralRun, Note, NoteKind, ToolStep
from replaycases.importers.supplied import supplied_from

STEPS = tuple(ToolStep(source=f"/{n}", tool="look", arguments={}, call_id=str(n), value=n) for n in range(3))


def told(*notes: Note, kept: tuple[ToolStep, ...] = STEPS) -> dict[str, tuple[str, ...]]:
    run = NeutralRun(format="x", input={}, steps=STEPS, notes=notes)
    return {gap.name: gap.pointers for gap in gaps_in(run, supplied_from({}), kept) if gap.caps and not gap.declared}


def note(source: str, cost: str = "what was found is unknown", kind: NoteKind = "content_lost") -> Note:
    return Note(kind=kind, source=source, text="something was cut", cost=cost)


def test_a_note_with_a_cost_stands_at_its_event() -> None:
    assert told(note("/1"), note("/2"))["content_lost"] == ("/events/1", "/events/2")


def test_a_note_of_no_step_stands_at_all_events() -> None:
    assert told(note("/metadata"))["content_lost"] == ("/events",)


@pytest.mark.parametrize("silent", [note("/1", cost=""), note("/1", kind="call_without_result")])
def test_a_note_that_costs_nothing_or_is_told_otherwise_is_no_gap(silent: Note) -> None:
    assert silent.kind not in told(silent)


def test_a_note_of_a_step_that_is_left_out_takes_nothing_from_the_rest() -> None:
    assert "content_lost" not in told(note("/2"), kept=STEPS[:2])


def test_steps_that_were_left_out_by_hand_are_named_in_the_fixture_as_somebodys_word() -> None:
    run = NeutralRun(format="x", input={}, steps=STEPS)
    [left] = [gap for gap in gaps_in(run, supplied_from({"leave_out": [2, 3]}), STEPS[:1]) if gap.name == "left_out"]
    [entry] = left.as_missing()
    assert (left.caps, entry["declared"], entry["cost"]) == (True, True, "2 of 3 steps were left out by hand: 2, 3")
