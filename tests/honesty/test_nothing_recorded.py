"""A recording that holds nothing, or nothing that a run must do, turns no pair green: whatever the two versions do,
they were not compared with what happened."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.verdict.labels import Label
from tests.honesty.court import Court, assert_right, verdict_on
from tests.honesty.worlds import claim, document, tool

OPEN = Label.UNDETERMINED
ENDS = {"boundary": ["ends"], "run_status": {"id": "ends", "forbid": ["crashed"]}}
SAYS = {"boundary": ["done"], "prohibited_claims": [claim("done", "is done")]}
SENDS = {"boundary": ["action_counts.late"], "action_counts": {"late": {"max": 0}}}
LATE = tool(1, "letters.send", {}, effect={"action": "late", "accepted": True}, optional=True)


@pytest.mark.parametrize(
    ("events", "expected", "old", "new", "label", "because"),
    [
        pytest.param(
            [],
            SAYS,
            "session.finish('It is done.')",
            "session.finish('It is open.')",
            OPEN,
            "Old used no recorded answer",
            id="no step at all",
        ),
        pytest.param(
            [LATE],
            SENDS,
            "session.tools.call('letters.send', {}); session.finish('Sent.')",
            "session.finish('Open.')",
            OPEN,
            "New used no recorded answer",
            id="steps that may all be left out",
        ),
        pytest.param(
            [tool(1, "orders.get", {}), tool(2, "orders.close", {})],
            ENDS,
            "session.tools.call('orders.get', {}); raise RuntimeError",
            "session.tools.call('orders.get', {}); session.tools.call('orders.close', {}); session.finish('Closed.')",
            Label.NOT_REPRODUCED,
            "it left required recorded events over",
            id="an old version that fails elsewhere than the recording did",
        ),
    ],
)
def test_who_was_compared_with_nothing_is_not_verified(
    events: list[Any], expected: dict[str, Any], old: str, new: str, label: Label, because: str, court: Court
) -> None:
    sides = court.workflow("old of nothing", old), court.workflow("new of nothing", new)
    comparison = verdict_on(
        document("nothing", events, expected), lambda fixture: tuple(court.runs(fixture, side) for side in sides)
    )
    assert_right(comparison, label, because)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [{"seq": 1, "boundary": "clock", "now": "2025-03-30T00:59:59+00:00"}],
        [LATE],
    ],
    ids=["no step at all", "only the clock", "steps that may all be left out"],
)
def test_a_horizon_behind_nothing_that_a_run_must_do_is_invalid(events: list[Any]) -> None:
    """An old version that raises beside a new one that makes any call at all would be told apart by it."""
    bent = document("nothing", events, ENDS, horizon=True)
    assert_right(verdict_on(bent, lambda _: ([], [])), Label.FIXTURE_INVALID, "/horizon")
