"""The guards of the tool-calling loop are rules: other tools, other rules, the same loop."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from replaycases.fixture.model import Fixture
from replaycases.importers.registry import import_run
from replaycases.importers.supplied import supplied_from
from replaycases.replay.implementation import Implementation, load_implementation
from replaycases.verdict.labels import Label
from tests.examples.pairs import EXAMPLES, require_isolation, verdict
from tests.importers.transcripts import answers, asks, call, says, system, transcript, user

RULES = {
    "standing": [
        {
            "id": "one-table",
            "creates": "reserve_table",
            "same": ["/guest", "/evening"],
            "resource": "/table_id",
            "refused_when": ["^No:"],
            "ended_by": {"tool": "release_table", "resource": "/table_id"},
        }
    ],
    "charge": [
        {
            "id": "deposit",
            "tool": "take_deposit",
            "amount": {"in": ["/parts/*/euro"]},
            "money": r"(\d+(?:\.\d+)?) euro",
            "confirmed_by": ["(?i)^yes"],
        }
    ],
}
EFFECTS = {"tools": {"reserve_table": {"action": "reserve", "rejected": {"any": ["^No:"]}},
                     "release_table": {"action": "release", "accepted": True}}}  # fmt: skip
SECOND_TABLE = {
    "boundary": ["one-table"],
    "tool_sequence": {"id": "one-table", "forbid": [
        {"tool": "reserve_table", "after_accepted": "reserve", "unless": "release"}]},
}  # fmt: skip
DEPOSIT = {"boundary": ["deposit"], "tool_sequence": {"id": "deposit", "forbid": [{"tool": "take_deposit"}]}}
GUEST = {"guest": "Ida", "evening": "Friday"}


def reserve(**more: Any) -> dict[str, Any]:
    return asks(call("reserve_table", {**GUEST, **more}))


def deposit(*euro: float) -> dict[str, Any]:
    return asks(call("take_deposit", {"parts": [{"euro": amount} for amount in euro]}))


MADE = answers('{"table_id": 4}')


@pytest.fixture
def loops(tmp_path: Path) -> tuple[Implementation, Implementation]:
    """Both loops of the examples as they are; the fixed one with the rules of a restaurant."""
    require_isolation()
    shutil.copytree(EXAMPLES / "tool-loop", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "fixed" / "tool_loop" / "rules.json").write_text(json.dumps(RULES), encoding="utf-8")
    return load_implementation(tmp_path / "affected.json"), load_implementation(tmp_path / "fixed.json")


def fixture(*messages: dict[str, Any], expected: dict[str, Any], at_call: int | None = None) -> Fixture:
    supplied = json.loads((EXAMPLES / "tool-loop" / "expectations" / "supplied.json").read_text(encoding="utf-8"))
    parts = {**supplied, "case_id": "restaurant", "expected": expected, "horizon_at_call": at_call, "tools": []}
    effects = EFFECTS if expected is SECOND_TABLE else {}
    data = transcript(system(), user("A table for Friday, please."), *named_as_the_loop_does(messages))
    imported = import_run(data, supplied=supplied_from({**parts, "effects": effects})).fixture
    assert imported is not None
    return imported


def named_as_the_loop_does(messages: tuple[dict[str, Any], ...]) -> Iterator[dict[str, Any]]:
    """This loop names the tool in each answer, so a recording of it has the name too."""
    names: dict[str, str] = {}
    for message in messages:
        names |= {call["id"]: call["function"]["name"] for call in message.get("tool_calls", ())}
        yield message | ({"name": names[message["tool_call_id"]]} if message["role"] == "tool" else {})


def held_by_old(case: Fixture, loops: tuple[Implementation, Implementation]) -> bool:
    """The affected loop followed the recording to its end and broke nothing."""
    comparison = verdict(case, *loops)
    assert comparison.old is not None
    return comparison.label is Label.NOT_REPRODUCED and comparison.old.statuses == ("completed",)


def test_a_second_table_while_the_first_stands_is_red_and_then_green(
    loops: tuple[Implementation, Implementation],
) -> None:
    second = (reserve(window=True), answers('{"table_id": 5}'), says("Done."), user("###STOP###"))
    first = (reserve(), MADE, says("Done. Window?"), user("Yes"))
    case = fixture(*first, *second, expected=SECOND_TABLE, at_call=2)
    assert verdict(case, *loops).label is Label.VERIFIED_RED_TO_GREEN


@pytest.mark.parametrize("second", [
    [reserve(evening="Sunday")],
    [asks(call("release_table", {"table_id": 4})), answers("ok"), reserve()],
])  # fmt: skip
def test_another_evening_or_a_released_table_is_no_second_table(
    second: list[dict[str, Any]], loops: tuple[Implementation, Implementation]
) -> None:
    """The fixed loop makes the call as recorded, so the affected one is not better than it."""
    case = fixture(reserve(), MADE, *second, answers('{"table_id": 5}'), says("Done."), user("###STOP###"),
                   expected={"boundary": ["said"], "status": {"id": "said", "one_of": ["done"]}})  # fmt: skip
    assert held_by_old(case, loops)


def test_a_table_that_was_refused_does_not_stand(loops: tuple[Implementation, Implementation]) -> None:
    case = fixture(reserve(), answers("No: full"), reserve(), MADE, says("Done."), user("###STOP###"),
                   expected={"boundary": ["said"], "status": {"id": "said", "one_of": ["done"]}})  # fmt: skip
    assert held_by_old(case, loops)


def test_a_deposit_above_the_confirmed_is_red_and_then_green(loops: tuple[Implementation, Implementation]) -> None:
    case = fixture(says("The deposit is 20 euro. All right?"), user("Yes"), reserve(), MADE, deposit(20, 15),
                   answers("ok"), says("Paid."), user("###STOP###"), expected=DEPOSIT, at_call=2)  # fmt: skip
    assert verdict(case, *loops).label is Label.VERIFIED_RED_TO_GREEN


def test_a_deposit_that_was_told_and_not_confirmed_is_refused(loops: tuple[Implementation, Implementation]) -> None:
    case = fixture(says("The deposit is 20 euro. All right?"), user("Hm, later."), reserve(), MADE, deposit(20),
                   answers("ok"), says("Paid."), user("###STOP###"), expected=DEPOSIT, at_call=2)  # fmt: skip
    assert verdict(case, *loops).label is Label.VERIFIED_RED_TO_GREEN


def test_a_deposit_within_the_confirmed_is_still_taken(loops: tuple[Implementation, Implementation]) -> None:
    case = fixture(says("The deposit is 20 euro. All right?"), user("Yes"), reserve(), MADE, deposit(20),
                   answers("ok"), says("Paid."), user("###STOP###"), expected=DEPOSIT, at_call=2)  # fmt: skip
    assert verdict(case, *loops).label is Label.STILL_FAILING


def test_a_loop_that_is_refused_again_and_again_hands_off_which_is_a_near_miss(
    loops: tuple[Implementation, Implementation],
) -> None:
    thrice = asks(*(call("reserve_table", GUEST, id=name) for name in "abc"))
    refused = [answers("No: full", id=name) for name in "abc"]
    case = fixture(reserve(), MADE, thrice, *refused, says("Done."), user("###STOP###"),
                   expected=SECOND_TABLE, at_call=2)  # fmt: skip
    comparison = verdict(case, *loops)
    assert comparison.label is Label.NEAR_MISS
    assert "hands off" in comparison.reason
