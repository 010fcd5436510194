from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from replaycases.fixture.model import Fixture
from replaycases.verdict.checks import evaluate
from tests.verdict.cases import call, crossing, fixture_2, model_call, observed, result, tool_event


def related(kind: str, first: str, second: str) -> Fixture:
    spec = {"id": "r", "kind": kind, "pointers": [first, second]}
    return fixture_2([tool_event(1, "pay")], {"boundary": ["r"], "relations": [spec]})


K0, K1 = "/calls/0/arguments/k", "/calls/1/arguments/k"


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ({"k": "a"}, {"k": "a"}, True),
        ({"k": "a"}, {"k": "b"}, False),
        ({"k": 1}, {"k": 1.0}, True),
        ({"k": 1}, {"k": True}, False),
        ({"k": {"x": 1, "y": 2}}, {"k": {"y": 2, "x": 1}}, True),
        ({"k": None}, {}, False),
        ({}, {}, True),
        ({}, {"k": "a"}, False),
    ],
)
def test_a_relation_compares_two_places_of_the_observation(first: Any, second: Any, equal: bool) -> None:
    calls = call("pay", first, seq=1), call("pay", second)
    assert result(related("equal", K0, K1), observed(*calls)) == ("held" if equal else "violated")
    assert result(related("different", K0, K1), observed(*calls)) == ("violated" if equal else "held")


def test_a_relation_reaches_the_outcome_and_the_counts() -> None:
    reported = observed(call("pay", {"k": "a"}, seq=1), outcome={"structured": {"key": "a"}})
    assert result(related("equal", K0, "/outcome/structured/key"), reported) == "held"


def test_a_relation_between_calls_that_were_made_stays_broken_when_the_run_broke_off() -> None:
    made = call("pay", {"k": "a"}, seq=1), call("pay", {"k": "b"}, answered=False)
    assert result(related("equal", K0, K1), observed(*made, status="diverged")) == "violated"
    assert result(related("equal", K0, K1), observed(made[0], status="diverged")) == "undetermined"


CROSSED = {"status": "decided", "outcome": None}


@pytest.mark.parametrize(
    ("next_call", "expected"),
    [
        (crossing("pay", {"k": "a"}), "held"),
        (crossing("pay", {"k": "b"}), "violated"),
        (crossing("look", {}), "undetermined"),
    ],
)
def test_a_crossing_call_breaks_a_relation_only_with_another_call_of_its_tool(next_call: Any, expected: str) -> None:
    made = observed(call("pay", {"k": "a"}, seq=1), next_call, **CROSSED)
    assert result(related("equal", K0, K1), made) == expected


def shaped(schema: Any) -> Fixture:
    return fixture_2([tool_event(1, "pay")], {"boundary": ["x"], "schema": {"id": "x", "schema": schema}})


def test_a_schema_describes_the_observation_document() -> None:
    at_most_one = shaped({"properties": {"calls": {"maxItems": 1}}})
    assert result(at_most_one, observed(call("pay", seq=1))) == "held"
    assert result(at_most_one, observed(call("pay", seq=1), model_call(answered=False), **CROSSED)) == "held"
    assert result(at_most_one, observed(call("pay", seq=1), crossing("pay"), **CROSSED)) == "violated"
    assert result(at_most_one, observed(call("pay", seq=1), call("pay"))) == "violated"
    assert result(at_most_one, observed(call("pay", seq=1), call("pay"), status="crashed")) == "undetermined"


def test_a_pattern_in_a_schema_cannot_backtrack() -> None:
    nested = shaped({"properties": {"outcome": {"properties": {"message": {"pattern": "^(a+)+$"}}}}})
    assert result(nested, observed(outcome={"message": "a" * 5000 + "b"})) == "violated"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"outcome": {"properties": {"message": {"pattern": r"^(a+)\1$"}}}}},
        {"$ref": "https://schemas.example/other.json"},
        {"$ref": "file:///etc/hostname"},
    ],
)
def test_a_schema_that_needs_backtracking_or_a_fetch_is_undetermined(schema: Any) -> None:
    fixture = shaped({})
    (check,) = fixture.checks
    needy = replace(fixture, checks=(replace(check, spec={"id": "x", "schema": schema}),))
    assert result(needy, observed(outcome={"message": "aa"})) == "undetermined"


def limited(**limits: Any) -> Fixture:
    usages: list[Any] = [{"cost": 0.5}, {"cost": 0.25}, {}, {"cost": 1, "currency": "EUR"}]
    events = [
        {"seq": seq, "boundary": "model", "request": {}, "response": {}, "usage": usage}
        for seq, usage in enumerate(usages, 1)
    ]
    return fixture_2(events, {"boundary": ["l"], "limits": {"id": "l", **limits}}, horizon=True)


@pytest.mark.parametrize(
    ("limits", "seqs", "expected"),
    [
        ({"turns": 2}, [1, 2], "held"),
        ({"turns": 1}, [1, 2], "violated"),
        ({"cost": 0.75}, [1, 2], "held"),
        ({"cost": 0.7}, [1, 2], "violated"),
        ({"cost": 9}, [1, 3], "undetermined"),
        ({"cost": 0.4}, [1, 3], "violated"),
        ({"cost": 9}, [1, 4], "undetermined"),
        ({"cost": 9}, [], "undetermined"),
        ({"turns": 5, "cost": 0.7}, [1, 2], "violated"),
        ({"turns": 5, "cost": 9}, [1, 3], "undetermined"),
    ],
)
def test_limits_count_model_calls_and_their_recorded_cost(limits: Any, seqs: Any, expected: str) -> None:
    assert result(limited(**limits), observed(*(model_call(seq) for seq in seqs))) == expected


def test_a_limit_once_exceeded_stays_exceeded_when_the_run_broke_off() -> None:
    many = [model_call(1), model_call(2), model_call(answered=False)]
    assert result(limited(turns=2), observed(*many, status="exhausted")) == "violated"
    assert result(limited(turns=3), observed(*many, status="exhausted")) == "undetermined"


def test_a_model_call_past_the_horizon_is_no_part_of_the_case() -> None:
    crossed = [model_call(1), model_call(2), model_call(answered=False)]
    assert result(limited(turns=2, cost=0.75), observed(*crossed, status="decided")) == "held"


def test_turns_of_a_case_without_model_calls_are_undetermined() -> None:
    tools = fixture_2([tool_event(1, "pay")], {"boundary": ["l"], "limits": {"id": "l", "turns": 9}})
    assert result(tools, observed(call("pay", seq=1))) == "undetermined"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("timed_out", "violated"),
        ("completed", "held"),
        ("decided", "held"),
        ("crashed", "undetermined"),
        ("diverged", "undetermined"),
        ("cancelled", "undetermined"),
    ],
)
def test_a_run_status_is_held_only_by_a_run_that_got_through(status: Any, expected: str) -> None:
    ends = fixture_2([tool_event(1, "pay")], {"boundary": ["e"], "run_status": {"id": "e", "forbid": ["timed_out"]}})
    assert result(ends, observed(status=status)) == expected


def test_results_point_at_what_decided_them() -> None:
    (checked,) = evaluate(related("equal", K0, K1), observed(call("pay", {"k": 1}, seq=1), call("pay", {"k": 2})))
    assert checked.pointers == (K0, K1)
