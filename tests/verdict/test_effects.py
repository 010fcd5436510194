from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.fixture.model import Fixture
from replaycases.verdict.effects import action_counts, effects_of
from replaycases.verdict.observation import Call
from tests.verdict.cases import call, crossing, effect, fixture_2, observed, tool_event

ANY: dict[str, Any] = {"boundary": ["s"], "run_status": {"id": "s", "forbid": ["crashed"]}}


def case(*events: dict[str, Any], **more: Any) -> Fixture:
    return fixture_2(list(events), ANY, **more)


def count(fixture: Fixture, *calls: Any, action: str = "pay", **more: Any) -> tuple[int, int | None]:
    interval = effects_of(fixture, observed(*calls, **more)).count(action)
    return interval.low, interval.high


def pay(seq: int, key: str | None = "/k", accepted: Any = True) -> dict[str, Any]:
    return tool_event(seq, "pay", {"k": "a", "other": "b"}, effect=effect("pay", key=key, accepted=accepted))


def test_effects_with_one_key_count_once() -> None:
    keyed = case(pay(1), pay(2))
    assert count(keyed, call("pay", {"k": "a"}, seq=1), call("pay", {"k": "a"}, seq=2)) == (1, 1)
    assert count(keyed, call("pay", {"k": "a"}, seq=1), call("pay", {"k": "b"}, seq=2)) == (2, 2)


def test_the_key_is_read_from_the_call_and_compared_as_json() -> None:
    keyed = case(pay(1), pay(2))
    assert count(keyed, call("pay", {"k": 1}, seq=1), call("pay", {"k": 1.0}, seq=2)) == (1, 1)
    assert count(keyed, call("pay", {"k": 1}, seq=1), call("pay", {"k": True}, seq=2)) == (2, 2)


def test_without_a_key_each_call_counts() -> None:
    unkeyed, absent = case(pay(1, key=None), pay(2, key=None)), case(pay(1), pay(2))
    assert count(unkeyed, call("pay", {"k": "a"}, seq=1), call("pay", {"k": "a"}, seq=2)) == (2, 2)
    assert count(absent, call("pay", {}, seq=1), call("pay", {}, seq=2)) == (2, 2)


def test_an_unknown_acceptance_opens_the_interval_and_a_refused_one_does_not_count() -> None:
    assert count(case(pay(1, accepted="unknown")), call("pay", {"k": "a"}, seq=1)) == (0, 1)
    assert count(case(pay(1, accepted=False)), call("pay", {"k": "a"}, seq=1)) == (0, 0)


def test_a_confirmed_retry_with_the_key_of_an_unknown_attempt_counts_once() -> None:
    retried = case(pay(1, accepted="unknown"), pay(2))
    assert count(retried, call("pay", {"k": "a"}, seq=1), call("pay", {"k": "a"}, seq=2)) == (1, 1)
    assert count(retried, call("pay", {"k": "a"}, seq=1), call("pay", {"k": "b"}, seq=2)) == (1, 2)


def test_the_effect_is_that_of_the_alternative_which_answered() -> None:
    other = {"tool": "hold", "arguments": {}, "outcome": {"type": "result", "value": 1}, "origin": "authored"}
    chosen = case(tool_event(1, "pay", effect=effect("pay"), alternatives=[{**other, "effect": effect("hold")}]))
    held = call("hold", seq=1, alternative=0)
    assert count(chosen, held) == (0, 0)
    assert count(chosen, held, action="hold") == (1, 1)


def test_a_crossing_call_may_have_every_effect_that_its_tool_carries() -> None:
    carried = case(pay(1, key=None), tool_event(2, "pay", effect=effect("fee")), horizon=True)
    assert count(carried, crossing("pay")) == (0, 1)
    assert count(carried, crossing("pay"), action="fee") == (0, 1)


def test_a_crossing_call_with_a_key_already_accepted_adds_nothing() -> None:
    keyed = case(pay(1), horizon=True)
    assert count(keyed, call("pay", {"k": "a"}, seq=1), crossing("pay", {"k": "a"})) == (1, 1)
    assert count(keyed, call("pay", {"k": "a"}, seq=1), crossing("pay", {"k": "b"})) == (1, 2)


def test_a_crossing_call_counts_by_itself_where_the_tool_has_several_key_pointers() -> None:
    mixed = case(pay(1), pay(2, key="/other"), horizon=True)
    made = call("pay", {"k": "a"}, seq=1)
    assert count(mixed, made, crossing("pay", {"k": "a"})) == (1, 2)
    assert count(mixed, made, crossing("pay", {"k": "b", "other": "a"})) == (1, 2)


def test_a_crossing_call_to_a_tool_that_the_fixture_lacks_leaves_no_upper_bound() -> None:
    assert count(case(pay(1), horizon=True), crossing("unheard_of")) == (0, None)


def test_a_call_to_a_known_tool_without_effects_adds_nothing() -> None:
    harmless = case(pay(1), tool_event(2, "look"), horizon=True)
    assert count(harmless, crossing("look")) == (0, 0)


def test_a_call_that_ended_the_run_is_counted_as_unknown_although_an_event_stood_at_its_place() -> None:
    assert count(case(pay(1)), call("pay", {"k": "x"}, seq=1, answered=False), status="diverged") == (0, 1)


def test_counts_name_every_action_of_the_fixture() -> None:
    two = case(pay(1), tool_event(2, "note", effect=effect("note")))
    counted = action_counts(two, effects_of(two, observed(call("note", seq=2))))
    assert counted == {"note": {"min": 1, "max": 1}, "pay": {"min": 0, "max": 0}}


CALLS = st.lists(st.tuples(st.sampled_from([True, False, "unknown"]), st.sampled_from(["a", "b", None])), max_size=6)


@settings(deadline=None)
@given(CALLS)
def test_the_interval_is_that_of_every_way_the_unknown_effects_can_turn_out(made: list[tuple[Any, str | None]]) -> None:
    fixture = case(*(pay(seq, accepted=accepted) for seq, (accepted, _) in enumerate(made, 1)), tool_event(99, "look"))
    calls = [call("pay", {} if key is None else {"k": key}, seq=seq) for seq, (_, key) in enumerate(made, 1)]
    worlds: list[frozenset[Any]] = [frozenset()]
    for index, (accepted, key) in enumerate(made):
        identity = index if key is None else key
        with_it = [world | {identity} for world in worlds]
        worlds = with_it if accepted is True else worlds if accepted is False else [*worlds, *with_it]
    sizes = [len(world) for world in worlds]
    assert count(fixture, *calls) == (min(sizes), max(sizes))


@pytest.mark.parametrize("boundary", ["model", "retrieval", "human"])
def test_only_tool_calls_have_effects(boundary: Any) -> None:
    assert effects_of(case(pay(1)), observed(Call(boundary=boundary, params={}, answered=False))).effects == ()
