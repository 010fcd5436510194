from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from replaycases.verdict.normal_form import observation_hash
from replaycases.verdict.observation import Call, Observation
from tests.verdict.cases import call, fixture_2, observed, tool_event

MATCH = {"ignore": ["/sent_at", "/tags/0"], "generated": ["/key"]}
CASE = fixture_2(
    [
        tool_event(1, "pay", {"key": "k"}, match=MATCH),
        tool_event(2, "pay", {"key": "k"}, match=MATCH, outcome={"type": "result", "value": {"id": "given"}}),
        tool_event(3, "pay", {"key": "k"}, match=MATCH),
    ],
    {"boundary": ["s"], "status": {"id": "s", "one_of": ["x"]}},
    input={"order": "o-1"},
)


def pays(*arguments: dict[str, Any], **more: Any) -> Observation:
    return observed(*(call("pay", value, seq=seq) for seq, value in enumerate(arguments, 1)), **more)


def same(left: Observation, right: Observation) -> bool:
    return observation_hash(CASE, left) == observation_hash(CASE, right)


def test_generated_ids_are_told_by_the_order_in_which_they_appear() -> None:
    assert same(pays({"key": "x"}, {"key": "x"}), pays({"key": "y"}, {"key": "y"}))
    assert not same(pays({"key": "x"}, {"key": "x"}), pays({"key": "x"}, {"key": "y"}))


def test_a_number_that_is_a_generated_id_is_told_by_order_too_and_stays_a_number_elsewhere() -> None:
    assert same(pays({"key": 7}, {"key": 7}), pays({"key": 8}, {"key": 8}))
    assert not same(pays({"key": 7}, {"key": 7}), pays({"key": 7}, {"key": 8}))
    assert not same(pays({"key": 7, "amount": 7}), pays({"key": 8, "amount": 8}))


def test_what_the_recording_lacks_does_not_count_unless_a_person_supplied_it() -> None:
    def hashes(gap: dict[str, Any]) -> set[str]:
        case = fixture_2(
            [tool_event(1, "pay", {"note": "", "amount": 1})],
            {"boundary": ["s"], "status": {"id": "s", "one_of": ["x"]}},
            missing=[{"pointer": "/events/0/arguments/note", "cost": "unknown", **gap}],
        )
        return {observation_hash(case, pays({"note": note, "amount": 1})) for note in ("a", "b")}

    assert len(hashes({})) == 1
    assert len(hashes({"declared": True})) == 2


def test_a_generated_id_keeps_its_name_in_the_outcome() -> None:
    assert same(pays({"key": "x"}, outcome={"structured": ["x"]}), pays({"key": "y"}, outcome={"structured": ["y"]}))
    assert not same(
        pays({"key": "x"}, outcome={"structured": ["x"]}), pays({"key": "x"}, outcome={"structured": ["z"]})
    )


def test_an_id_seen_in_the_input_or_in_an_answer_is_not_generated() -> None:
    assert not same(pays({"key": "o-1"}), pays({"key": "new"}))
    assert not same(pays({}, {}, {"key": "given"}), pays({}, {}, {"key": "new"}))


def test_what_an_ignore_rule_hides_does_not_count_present_or_absent() -> None:
    assert same(pays({"sent_at": 1}), pays({"sent_at": 2}))
    assert same(pays({"sent_at": 1}), pays({}))
    assert same(pays({"tags": ["a", "b"]}), pays({"tags": ["c", "b"]}))
    assert not same(pays({"tags": ["a", "b"]}), pays({"tags": ["a", "c"]}))


def test_an_ignore_rule_hides_nothing_in_an_alternative() -> None:
    def used(value: int) -> Observation:
        return observed(call("pay", {"sent_at": value}, seq=1, alternative=0, answered=False))

    assert not same(used(1), used(2))


def test_the_id_of_a_call_does_not_count() -> None:
    def with_id(value: str) -> Observation:
        return observed(Call(boundary="tool", params={"tool": "pay", "arguments": {}, "call_id": value}, seq=1))

    assert same(with_id("c-1"), with_id("c-2"))


def test_what_is_said_to_a_person_counts_even_where_it_was_passed_for_an_id() -> None:
    def said(value: str) -> Observation:
        return pays({"key": value}, outcome={"message": value})

    assert not same(said("paid"), said("not paid"))


def test_when_and_where_a_run_was_made_and_what_it_printed_does_not_count() -> None:
    assert same(pays({}), replace(pays({}), stderr="at 0x7f", reason="later", exit_status=1))


@pytest.mark.parametrize(
    "other",
    [
        pays({"amount": 2}),
        pays({"amount": 1}, status="crashed"),
        pays({"amount": 1}, outcome={"message": "hi"}),
        pays({"amount": 1}, unconsumed=(2,)),
        pays({"amount": 1}, optional_skipped=(2,)),
        pays({"amount": 1}, reads={"clock": 1, "random": {}}),
        pays({"amount": 1}, clock="frozen"),
        pays({"amount": 1}, {}),
    ],
)
def test_whatever_else_was_observed_counts(other: Observation) -> None:
    assert not same(pays({"amount": 1}), other)
