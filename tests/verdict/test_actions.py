from __future__ import annotations

from typing import Any

import pytest

from replaycases.fixture.model import Fixture
from replaycases.verdict.checks import evaluate
from tests.verdict.cases import call, crossing, effect, fixture_2, observed, result, tool_event


def counted(bounds: dict[str, int], *, accepted: Any = True) -> Fixture:
    return fixture_2(
        [tool_event(seq, "pay", effect=effect("pay", accepted=accepted)) for seq in (1, 2, 3)],
        {"boundary": ["action_counts.pay"], "action_counts": {"pay": bounds}},
        horizon=True,
    )


def paid(times: int) -> list[Any]:
    return [call("pay", seq=seq) for seq in range(1, times + 1)]


@pytest.mark.parametrize(
    ("bounds", "accepted", "times", "expected"),
    [
        ({"max": 1}, True, 1, "held"),
        ({"max": 1}, True, 2, "violated"),
        ({"max": 1}, "unknown", 1, "held"),
        ({"max": 1}, "unknown", 2, "undetermined"),
        ({"min": 2}, True, 2, "held"),
        ({"min": 2}, True, 1, "violated"),
        ({"min": 2}, "unknown", 1, "violated"),
        ({"min": 2}, "unknown", 2, "undetermined"),
        ({"min": 1, "max": 1}, "unknown", 1, "undetermined"),
        ({"max": 0}, False, 3, "held"),
    ],
)
def test_a_count_holds_only_at_both_ends_and_is_violated_only_at_both(
    bounds: Any, accepted: Any, times: int, expected: str
) -> None:
    assert result(counted(bounds, accepted=accepted), observed(*paid(times))) == expected


def test_a_run_that_broke_off_may_still_have_reached_the_minimum_but_never_comes_back_below_the_maximum() -> None:
    assert result(counted({"min": 2}), observed(*paid(1), status="crashed")) == "undetermined"
    assert result(counted({"max": 1}), observed(*paid(2), status="crashed")) == "violated"


@pytest.mark.parametrize("bounds", [{"max": 2}, {"min": 1}, {"min": 3}])
def test_a_crossing_tool_that_the_fixture_lacks_leaves_a_count_undetermined(bounds: Any) -> None:
    assert result(counted(bounds), observed(*paid(2), crossing("unheard_of"), status="decided")) == "undetermined"


def test_a_crossing_tool_that_the_fixture_lacks_excuses_no_violation() -> None:
    assert result(counted({"max": 1}), observed(*paid(2), crossing("unheard_of"), status="decided")) == "violated"


GUARD_ALLOW = {"action": "refund", "decision": "allow"}
GUARD_DENY = {"action": "refund", "decision": "deny"}


def guarded(decision: str, guard: dict[str, str] = GUARD_ALLOW, **more: Any) -> Fixture:
    return fixture_2(
        [
            tool_event(1, "refund", guard=guard),
            tool_event(2, "credit", effect=effect("refund", accepted=False)),
            tool_event(3, "look"),
        ],
        {"boundary": ["a"], "authorization": [{"id": "a", "action": "refund", "decision": decision}]},
        horizon=True,
        **more,
    )


REFUND, CREDIT, LOOK = call("refund", seq=1), call("credit", seq=2), call("look", seq=3)


@pytest.mark.parametrize(
    ("decision", "guard", "calls", "expected"),
    [
        ("deny", GUARD_ALLOW, [LOOK], "held"),
        ("deny", GUARD_ALLOW, [REFUND], "violated"),
        ("deny", GUARD_DENY, [REFUND], "violated"),
        ("deny", GUARD_ALLOW, [CREDIT], "violated"),
        ("allow", GUARD_ALLOW, [REFUND], "held"),
        ("allow", GUARD_DENY, [REFUND], "violated"),
        ("allow", GUARD_ALLOW, [LOOK], "violated"),
        ("deny", GUARD_ALLOW, [LOOK, crossing("refund")], "undetermined"),
        ("deny", GUARD_ALLOW, [LOOK, crossing("credit")], "undetermined"),
        ("deny", GUARD_ALLOW, [LOOK, crossing("unheard_of")], "undetermined"),
        ("deny", GUARD_ALLOW, [crossing("look")], "held"),
        ("allow", GUARD_ALLOW, [crossing("refund")], "undetermined"),
    ],
)
def test_authorization_is_read_from_the_guarded_calls_that_were_made(
    decision: str, guard: Any, calls: Any, expected: str
) -> None:
    assert result(guarded(decision, guard), observed(*calls)) == expected


@pytest.mark.parametrize(
    ("calls", "reported", "decision", "expected"),
    [
        ([LOOK], "deny", "deny", "held"),
        ([LOOK], "denied", "deny", "held"),
        ([LOOK], "allow", "deny", "violated"),
        ([REFUND], "deny", "allow", "violated"),
        ([REFUND], "allow", "allow", "held"),
        ([LOOK], "perhaps", "deny", "undetermined"),
        ([REFUND], "perhaps", "deny", "violated"),
        ([LOOK], None, "deny", "held"),
    ],
)
def test_a_report_that_contradicts_the_calls_is_a_violation(
    calls: Any, reported: Any, decision: str, expected: str
) -> None:
    assert result(guarded(decision), observed(*calls, outcome={"authorization": reported})) == expected


def test_a_run_that_broke_off_before_the_guarded_call_neither_denied_nor_failed_to_allow() -> None:
    assert result(guarded("deny"), observed(LOOK, status="crashed")) == "undetermined"
    assert result(guarded("allow"), observed(LOOK, status="crashed")) == "undetermined"
    assert result(guarded("deny"), observed(REFUND, status="crashed")) == "violated"


def ordered(accepted: Any = True, outcome: Any = None) -> Fixture:
    verify = tool_event(1, "verify") | ({"outcome": outcome} if outcome else {})
    return fixture_2(
        [verify, tool_event(2, "reset", effect=effect("reset", accepted=accepted)), tool_event(3, "look")],
        {"boundary": ["o"], "order": [{"id": "o", "action": "reset", "after": "verify"}]},
        horizon=True,
    )


VERIFY, RESET = call("verify", seq=1), call("reset", seq=2)


@pytest.mark.parametrize(
    ("accepted", "calls", "expected"),
    [
        (True, [VERIFY, RESET], "held"),
        (True, [RESET, VERIFY], "violated"),
        (True, [RESET], "violated"),
        ("unknown", [RESET, VERIFY], "undetermined"),
        (False, [RESET], "held"),
        (True, [VERIFY], "held"),
        (True, [crossing("reset")], "undetermined"),
        (True, [VERIFY, crossing("reset")], "held"),
        (True, [crossing("unheard_of")], "undetermined"),
        (True, [call("verify", answered=False), RESET], "violated"),
    ],
)
def test_no_effect_comes_before_its_authorization(accepted: Any, calls: Any, expected: str) -> None:
    assert result(ordered(accepted), observed(*calls)) == expected


def test_an_authorization_that_ended_in_an_error_authorises_nothing() -> None:
    refused = ordered(outcome={"type": "error", "error": {"kind": "denied", "message": "no"}})
    assert result(refused, observed(VERIFY, RESET)) == "violated"


@pytest.mark.parametrize(
    ("times", "accepted", "words"),
    [
        (0, True, "pay took effect 0 times"),
        (1, True, "pay took effect once"),
        (2, True, "pay took effect 2 times"),
        (1, "unknown", "pay took effect 0 to 1 times"),
    ],
)
def test_a_count_is_told_in_words(times: int, accepted: Any, words: str) -> None:
    fixture = counted({"max": 3}, accepted=accepted)
    (check,) = evaluate(fixture, observed(*paid(times)))
    assert check.observed.startswith(words)
