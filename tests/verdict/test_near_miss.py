from __future__ import annotations

from typing import Any

import pytest

from replaycases.fixture.model import Fixture
from replaycases.verdict.manifest import Manifest, build
from replaycases.verdict.near_miss import near_misses
from replaycases.verdict.observation import Observation
from tests.verdict.cases import call, effect, facts, fixture_2, observed, tool_event

OPTIONAL = {"optional": True}


def case(**expected: Any) -> Fixture:
    other = {"tool": "ask", "arguments": {}, "outcome": {"type": "result", "value": 1}, "origin": "authored"}
    return fixture_2(
        [
            tool_event(1, "look", alternatives=[{**other, "effect": effect("ask")}]),
            tool_event(2, "pay", **OPTIONAL, effect=effect("payment")),
            tool_event(3, "transfer", **OPTIONAL, effect=effect("handoff")),
        ],
        {"boundary": ["e"], "run_status": {"id": "e", "forbid": ["crashed"]}, **expected},
    )


LOOK, PAY, TRANSFER = call("look", seq=1), call("pay", seq=2), call("transfer", seq=3)
CHOSE = {"outcome": {"action": "handoff"}}


def misses(old: Observation | None, new: Observation, **expected: Any) -> list[str]:
    fixture = case(**expected)

    def manifest(observation: Observation) -> Manifest:
        return build(fixture, observation, facts())

    return list(near_misses(fixture, None if old is None else manifest(old), manifest(new)))


def test_equal_runs_miss_nothing() -> None:
    assert misses(observed(LOOK, PAY), observed(LOOK, PAY)) == []


def test_the_count_of_an_action_that_no_check_names_must_not_change() -> None:
    (sentence,) = misses(observed(LOOK, PAY), observed(LOOK))
    assert "payment" in sentence


@pytest.mark.parametrize(
    "expected",
    [
        {"action_counts": {"payment": {"max": 5}}},
        {"authorization": [{"id": "a", "action": "payment", "decision": "deny"}]},
        {"order": [{"id": "o", "action": "payment", "after": "look"}]},
        {"tool_sequence": {"id": "t", "forbid": [{"tool": "pay"}]}},
    ],
)
def test_an_action_that_a_check_counts_guards_orders_or_forbids_may_change(expected: Any) -> None:
    assert misses(observed(LOOK, PAY), observed(LOOK), **expected) == []


@pytest.mark.parametrize(
    "expected",
    [
        {"tool_sequence": {"id": "t", "tools": ["look", "pay"], "mode": "subsequence"}},
        {"tool_sequence": {"id": "t", "forbid": [{"tool": "look", "after_accepted": "payment"}]}},
        {"relations": [{"id": "r", "kind": "equal", "pointers": ["/calls/0/boundary", "/calls/1/boundary"]}]},
    ],
)
def test_an_action_that_a_check_only_mentions_may_not(expected: Any) -> None:
    assert len(misses(observed(LOOK, PAY), observed(LOOK), **expected)) == 1


def test_a_skipped_tool_is_a_near_miss_unless_it_is_optional() -> None:
    sentences = misses(observed(LOOK), observed(unconsumed=(1,)))
    assert sentences == ["New skipped the tool look, which the case does not mark as optional."]
    assert misses(observed(LOOK), observed(LOOK)) == []


def test_a_tool_is_not_skipped_where_an_alternative_names_another_one() -> None:
    asked = call("ask", seq=1, alternative=0)
    assert misses(observed(LOOK), observed(asked), action_counts={"ask": {"max": 1}}) == []


COUNTED = {"action_counts": {"handoff": {"max": 1}}}


@pytest.mark.parametrize("new", [observed(LOOK, **CHOSE), observed(LOOK, TRANSFER)])
def test_a_new_hand_off_that_nothing_allows_is_a_near_miss(new: Observation) -> None:
    (sentence,) = misses(observed(LOOK), new, **COUNTED)
    assert "hands off" in sentence
    (alone,) = misses(None, new, **COUNTED)
    assert "hands off" in alone


@pytest.mark.parametrize("old", [observed(LOOK, **CHOSE), observed(LOOK, TRANSFER)])
def test_a_hand_off_that_old_made_too_is_none(old: Observation) -> None:
    assert misses(old, observed(LOOK, TRANSFER), **COUNTED) == []


@pytest.mark.parametrize(
    "expected",
    [
        {"status": {"id": "s", "one_of": ["handoff"]}, **COUNTED},
        {"action": {"id": "s", "one_of": ["wait", "handoff"]}, **COUNTED},
        {"action_counts": {"handoff": {"min": 1}}},
    ],
)
def test_a_hand_off_that_the_expectation_allows_is_none(expected: Any) -> None:
    assert misses(observed(LOOK), observed(LOOK, TRANSFER, **CHOSE), **expected) == []


def test_a_check_that_allows_other_actions_does_not_allow_a_hand_off() -> None:
    assert len(misses(observed(LOOK), observed(LOOK, TRANSFER), **COUNTED, action={"id": "s", "one_of": ["wait"]})) == 1
