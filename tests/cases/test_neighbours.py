from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from replaycases.cases.models import OutcomeType
from replaycases.cases.neighbours import PLACEHOLDERS, Neighbour, calls_of, neighbour, unfilled, why_not_shown
from replaycases.fixture.difference import differences
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.controls import mutate
from tests import factories

INCIDENTS = Path(__file__).resolve().parents[2] / "examples" / "incidents"
TIMEOUT = {"type": "error", "error": {"kind": "ReadTimeout", "message": "5 s"}}
REFUSED = {"type": "error", "error": {"kind": "declined", "message": "no"}}
DONE = {"type": "result", "value": {"id": "p-1"}}


def incident(name: str) -> Fixture:
    return load_fixture((INCIDENTS / f"{name}.json").read_bytes())


def incidents() -> Iterator[Any]:
    for path in sorted(INCIDENTS.glob("*.json")):
        if not path.name.endswith(".detect.json"):
            for call in calls_of(incident(path.stem)):
                for outcome_type in OutcomeType:
                    yield pytest.param(
                        path.stem, call.event.seq, outcome_type, id=f"{path.stem}-{call.event.seq}-{outcome_type}"
                    )


ENDS = list(incidents())


def written(fixture: Fixture, seq: int, outcome_type: OutcomeType) -> Neighbour:
    [call] = [call for call in calls_of(fixture) if call.event.seq == seq]
    return neighbour(fixture, call, outcome_type)


def loaded(of: Neighbour) -> Fixture:
    return load_fixture(json.dumps(of.document).encode())


def paying(outcome: Any = DONE, accepted: Any = True, **changes: Any) -> Fixture:
    """A lookup and a payment that ended so."""
    first = json.loads(factories.fixture())["events"][0]
    paid = {**first, "seq": 2, "attempt": "a-2", "tool": "pay", "outcome": outcome}
    paid["effect"] = {"action": "payment", "accepted": accepted}
    return load_fixture(factories.fixture(events=[first, {**paid, **changes.pop("event", {})}], **changes))


@pytest.mark.parametrize(("name", "seq", "outcome_type"), ENDS)
def test_a_valid_fixture_in_which_only_one_call_ends_otherwise(name: str, seq: int, outcome_type: OutcomeType) -> None:
    before = incident(name)
    of = written(before, seq, outcome_type)
    after = loaded(of)
    at = before.events_by_seq[seq].pointer
    touched = {found.pointer for found in differences(before.document, after.document)}
    elsewhere = {place for place in touched if not place.startswith(f"{at}/outcome/")}
    assert {"/case_id"} <= elsewhere <= {"/case_id", f"{at}/timing", f"{at}/effect/accepted"}
    assert after.case_id != before.case_id
    assert after.events_by_seq[seq].outcome != before.events_by_seq[seq].outcome
    assert unfilled(json.dumps(of.document))


@pytest.mark.parametrize(("name", "seq", "outcome_type"), ENDS)
def test_the_mutation_puts_the_recorded_outcome_back_and_nothing_else(
    name: str, seq: int, outcome_type: OutcomeType
) -> None:
    before = incident(name)
    of = written(before, seq, outcome_type)
    mutated = load_fixture(mutate(json.dumps(of.document).encode(), json.dumps(of.mutation).encode()))
    assert mutated.events_by_seq[seq].outcome == before.events_by_seq[seq].outcome
    assert [event.outcome for event in mutated.events] == [event.outcome for event in before.events]
    assert mutated.checks == before.checks


@pytest.mark.parametrize("accepted", [True, False, "unknown"])
def test_the_effect_says_what_the_outcome_says_and_what_nobody_knows_stays(accepted: Any) -> None:
    said = {kind: written(paying(accepted=accepted), 2, kind) for kind in OutcomeType}
    assert {kind: of.accepted for kind, of in said.items()} == {
        OutcomeType.SUCCESS: True,
        OutcomeType.REJECTION: False,
        OutcomeType.TIMEOUT: accepted,
        OutcomeType.UNCERTAIN: "unknown",
    }
    for of in said.values():
        effect = loaded(of).events_by_seq[2].effect
        assert effect is not None
        assert effect.accepted == of.accepted


def test_a_call_that_names_no_effect_is_given_none() -> None:
    document = json.loads(json.dumps(paying().document))
    document["events"][0] |= {"tool": "pay"}
    of = written(load_fixture(json.dumps(document).encode()), 1, OutcomeType.SUCCESS)
    assert of.accepted is None
    assert loaded(of).events_by_seq[1].effect is None


@pytest.mark.parametrize(
    ("outcome", "accepted", "recorded_as"),
    [
        (DONE, True, OutcomeType.SUCCESS),
        (DONE, False, OutcomeType.REJECTION),
        (DONE, "unknown", OutcomeType.UNCERTAIN),
        (REFUSED, False, OutcomeType.REJECTION),
        (REFUSED, True, OutcomeType.UNCERTAIN),
        (TIMEOUT, False, OutcomeType.TIMEOUT),
        (TIMEOUT, True, OutcomeType.TIMEOUT),
        (TIMEOUT, "unknown", OutcomeType.UNCERTAIN),
    ],
)
def test_the_recorded_type_is_told_by_outcome_and_effect(outcome: Any, accepted: Any, recorded_as: OutcomeType) -> None:
    [call] = calls_of(paying(outcome, accepted))
    assert call.recorded_as == recorded_as


def test_only_the_kind_of_a_recorded_error_of_the_same_type_is_known() -> None:
    kinds = {kind: loaded(written(paying(TIMEOUT, False), 2, kind)).events_by_seq[2].outcome for kind in OutcomeType}
    known = {kind: outcome.kind for kind, outcome in kinds.items() if outcome and outcome.type == "error"}
    assert known[OutcomeType.TIMEOUT] == "ReadTimeout"
    assert {known[OutcomeType.REJECTION], known[OutcomeType.UNCERTAIN]} < set(PLACEHOLDERS)


def test_times_of_the_recorded_outcome_are_left_out_with_what_was_declared_of_them() -> None:
    gaps = [
        {"pointer": "/events/1/timing/deadline_at", "cost": "Declared.", "declared": True},
        {"pointer": "/events/1/outcome/value/id", "cost": "Declared.", "declared": True},
        {"pointer": "/serving", "cost": "Unknown."},
    ]
    fixture = paying(event={"timing": {"deadline_at": "2025-03-01T10:00:05+01:00"}}, missing=gaps)
    of = written(fixture, 2, OutcomeType.REJECTION)
    assert of.timed
    assert "timing" not in of.document["events"][1]
    assert loaded(of).missing == (gaps[2],)


def test_what_answers_beside_the_call_is_counted_and_stands() -> None:
    fixture = incident("shipment-created-twice")
    second = written(fixture, 4, OutcomeType.REJECTION)
    assert (second.later, second.others, second.instead) == (1, 1, ())
    document = json.loads(json.dumps(fixture.document))
    document["events"][4]["effect"] = {"action": "list", "accepted": True}
    listed = written(load_fixture(json.dumps(document).encode()), 5, OutcomeType.REJECTION)
    assert (listed.later, listed.others, listed.instead) == (0, 0, (4,))


def test_only_calls_of_tools_with_an_effect_are_taken() -> None:
    assert [call.event.tool for call in calls_of(paying())] == ["pay"]
    assert calls_of(incident("refund-timeout")) == []
    assert calls_of(incident("email-change-timeout")) == []


def test_what_is_not_filled_in_is_found_on_its_line() -> None:
    text = json.dumps(written(paying(), 2, OutcomeType.REJECTION).document, indent=1)
    lines = text.split("\n")
    found = unfilled(text)
    assert [said for line, said in found if said in lines[line - 1]] == [said for _, said in found]
    assert len(found) == 2
    assert unfilled(json.dumps(paying().document)) == []


@pytest.mark.parametrize(
    ("outcome", "accepted", "shows"),
    [
        (DONE, True, {"success"}),
        (DONE, False, {"rejection"}),
        (DONE, "unknown", {"rejection"}),
        (REFUSED, False, {"rejection"}),
        (REFUSED, True, {"rejection", "timeout_before_result"}),
        (TIMEOUT, "unknown", {"rejection", "timeout_before_result"}),
        (TIMEOUT, False, {"rejection", "timeout_before_result"}),
    ],
)
def test_what_is_recorded_may_contradict_any_outcome_but_an_uncertain_one(
    outcome: Any, accepted: Any, shows: set[str]
) -> None:
    fixture = paying(outcome, accepted)
    found = {each for each in OutcomeType if not why_not_shown(fixture, "pay", each)}
    assert found == {OutcomeType.UNCERTAIN, *shows}


def test_one_call_that_may_be_a_refusal_is_enough_and_one_that_names_no_effect_may_be() -> None:
    document = json.loads(json.dumps(paying().document))
    document["events"][0] |= {"tool": "pay", "arguments": {"amount": 1}}
    assert why_not_shown(load_fixture(json.dumps(document).encode()), "pay", OutcomeType.REJECTION) == ""
    document["events"][0]["effect"] = {"action": "payment", "accepted": True}
    why_not = why_not_shown(load_fixture(json.dumps(document).encode()), "pay", OutcomeType.REJECTION)
    assert "no call of pay ends in anything but an accepted result" in why_not
    assert "choose what is recorded: success" in why_not


def test_an_optional_call_shows_no_outcome() -> None:
    fixture = paying(TIMEOUT, "unknown", event={"optional": True})
    for outcome_type in (OutcomeType.SUCCESS, OutcomeType.REJECTION, OutcomeType.TIMEOUT):
        assert "an optional call shows nothing" in why_not_shown(fixture, "pay", outcome_type)
