"""What the checks of a fixture say of its own recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from replaycases.fixture.load import load_fixture
from replaycases.replay.recorded import BREAKS_OFF, NO_PROCESS, NOT_REPORTED, judge_recording
from tests import factories

REFUND = {
    "seq": 1,
    "boundary": "tool",
    "attempt": "1",
    "tool": "refund",
    "arguments": {"amount": 40},
    "outcome": {"type": "error", "error": {"kind": "timeout", "message": "timed out"}},
    "effect": {"action": "refund", "accepted": True},
}
CLAIM = {"id": "done", "statement": "It is refunded.", "detect": {"any": ["(?i)refunded"]}}


def judged(
    expected: Mapping[str, Any],
    *,
    message: str | None = "It is refunded.",
    past: Any = None,
    whole: bool = True,
    **more: Any,
) -> dict[str, tuple[str, str]]:
    data = factories.fixture(**{"events": [REFUND], "expected": expected, **more})
    results = judge_recording(load_fixture(data), message=message, past=past, whole=whole)
    return {result.id: (result.result, result.observed) for result in results}


def test_a_claim_that_the_recorded_message_makes_is_violated() -> None:
    expected = {"boundary": ["done"], "prohibited_claims": [CLAIM]}
    assert judged(expected)["done"][0] == "violated"
    assert judged(expected, message="I could not do it.")["done"][0] == "held"


def test_a_claim_is_not_decided_where_the_recording_holds_no_message() -> None:
    expected = {"boundary": ["done"], "prohibited_claims": [CLAIM]}
    assert judged(expected, message=None)["done"][0] == "undetermined"


def test_recorded_effects_are_counted() -> None:
    expected = {"boundary": ["action_counts.refund"], "action_counts": {"refund": {"max": 0}}}
    assert judged(expected)["action_counts.refund"][0] == "violated"


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ({"status": {"id": "x", "one_of": ["done"]}}, NOT_REPORTED),
        ({"action": {"id": "x", "one_of": ["answer"]}}, NOT_REPORTED),
        ({"run_status": {"id": "x", "forbid": ["crashed"]}}, NO_PROCESS),
        ({"schema": {"id": "x", "schema": {"required": ["outcome"]}}}, NOT_REPORTED),
        ({"citations": [{"id": "x", "chunk": "doc-9"}]}, NOT_REPORTED),
        (
            {"relations": [{"id": "x", "kind": "equal", "pointers": ["/outcome/structured", "/calls/0/tool"]}]},
            NOT_REPORTED,
        ),
    ],
)
def test_what_no_trace_holds_is_neither_held_nor_violated(check: dict[str, Any], why: str) -> None:
    assert judged({"boundary": ["x"], **check})["x"] == ("undetermined", why)


def test_a_recording_that_breaks_off_decides_only_what_nothing_could_undo() -> None:
    expected = {
        "boundary": ["action_counts.refund"],
        "action_counts": {"refund": {"max": 0}},
        "tool_sequence": {"id": "order", "tools": ["refund"], "mode": "exact"},
    }
    found = judged(expected, whole=False)
    assert found["action_counts.refund"][0] == "violated"
    assert found["order"] == ("undetermined", BREAKS_OFF)


def test_past_a_horizon_the_next_recorded_call_decides() -> None:
    expected = {
        "boundary": ["again"],
        "tool_sequence": {"id": "again", "forbid": [{"tool": "refund", "after_accepted": "refund"}]},
    }
    again = ("tool.call", {"tool": "refund", "arguments": {"amount": 40}})
    assert judged(expected, message=None, past=again, horizon=True)["again"][0] == "violated"
    assert judged(expected, message=None, horizon=True)["again"] == ("undetermined", BREAKS_OFF)


def test_a_recorded_policy_is_taken_as_used() -> None:
    policies = [{"name": "refunds", "version": "1", "sha256": "a" * 64}]
    expected = {"boundary": ["done"], "prohibited_claims": [CLAIM]}
    assert judged(expected, policies=policies)["done"][0] == "violated"
