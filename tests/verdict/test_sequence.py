from __future__ import annotations

from typing import Any

import pytest

from replaycases.fixture.model import Fixture
from tests.verdict.cases import call, crossing, effect, fixture_2, observed, result, tool_event


def case(*, booked: Any = True, cancelled: Any = True, **spec: Any) -> Fixture:
    return fixture_2(
        [
            tool_event(1, "book", effect=effect("booking", accepted=booked)),
            tool_event(2, "cancel", effect=effect("cancelling", accepted=cancelled)),
            tool_event(3, "book", effect=effect("booking")),
            tool_event(4, "look"),
        ],
        {"boundary": ["t"], "tool_sequence": {"id": "t", **spec}},
        horizon=True,
    )


BOOK, CANCEL, AGAIN, LOOK = call("book", seq=1), call("cancel", seq=2), call("book", seq=3), call("look", seq=4)
SECOND_BOOKING = {"tool": "book", "after_accepted": "booking", "unless": "cancelling"}


@pytest.mark.parametrize(
    ("tools", "mode", "calls", "expected"),
    [
        (["book", "look"], "exact", [BOOK, LOOK], "held"),
        (["book", "look"], "exact", [BOOK], "violated"),
        (["book", "look"], "exact", [LOOK, BOOK], "violated"),
        (["book"], "exact", [BOOK, LOOK], "violated"),
        (["book", "look"], "subsequence", [BOOK, CANCEL, LOOK], "held"),
        (["look", "book"], "subsequence", [BOOK, LOOK], "violated"),
        ([], "exact", [], "held"),
        (["book"], "exact", [BOOK, crossing("look")], "held"),
        (["book"], "exact", [BOOK, crossing("book")], "violated"),
        (["book", "look"], "subsequence", [BOOK, crossing("look")], "held"),
    ],
)
def test_tools_are_tried_in_order(tools: Any, mode: str, calls: Any, expected: str) -> None:
    assert result(case(tools=tools, mode=mode), observed(*calls)) == expected


def test_a_wrong_attempt_stays_wrong_when_the_run_broke_off_and_a_missing_one_may_have_followed() -> None:
    exact = case(tools=["book", "look"], mode="exact")
    assert result(exact, observed(call("cancel", answered=False), status="diverged")) == "violated"
    assert result(exact, observed(BOOK, status="crashed")) == "undetermined"
    assert result(case(tools=["book", "look"], mode="subsequence"), observed(BOOK, status="crashed")) == "undetermined"


@pytest.mark.parametrize(
    ("rule", "calls", "expected"),
    [
        ({"tool": "book"}, [LOOK], "held"),
        ({"tool": "book"}, [BOOK], "violated"),
        ({"tool": "book"}, [crossing("book")], "violated"),
        ({"tool": "book"}, [crossing("look")], "held"),
        ({"tool": "book"}, [crossing("unheard_of")], "held"),
        ({"tool": "book", "unless": "cancelling"}, [CANCEL, BOOK], "held"),
        ({"tool": "book", "unless": "cancelling"}, [BOOK, CANCEL], "violated"),
        (SECOND_BOOKING, [BOOK], "held"),
        (SECOND_BOOKING, [BOOK, AGAIN], "violated"),
        (SECOND_BOOKING, [BOOK, crossing("book")], "violated"),
        (SECOND_BOOKING, [BOOK, CANCEL, AGAIN], "held"),
        (SECOND_BOOKING, [BOOK, CANCEL, AGAIN, crossing("book")], "violated"),
        (SECOND_BOOKING, [BOOK, AGAIN, CANCEL], "violated"),
        (SECOND_BOOKING, [CANCEL, BOOK, AGAIN], "violated"),
    ],
)
def test_a_forbidden_tool_is_seen_at_every_attempt(rule: Any, calls: Any, expected: str) -> None:
    assert result(case(forbid=[rule]), observed(*calls)) == expected


@pytest.mark.parametrize(
    ("accepted", "calls", "expected"),
    [
        ({"booked": "unknown"}, [BOOK, AGAIN], "undetermined"),
        ({"booked": False}, [BOOK, AGAIN], "held"),
        ({"cancelled": "unknown"}, [BOOK, CANCEL, AGAIN], "undetermined"),
        ({"cancelled": False}, [BOOK, CANCEL, AGAIN], "violated"),
        ({"booked": "unknown"}, [BOOK, CANCEL, AGAIN], "held"),
        ({"booked": "unknown"}, [BOOK, AGAIN, crossing("book")], "violated"),
    ],
)
def test_an_effect_that_may_have_been_accepted_leaves_doubt(accepted: Any, calls: Any, expected: str) -> None:
    assert result(case(forbid=[SECOND_BOOKING], **accepted), observed(*calls)) == expected


def test_a_forbidden_attempt_stays_one_when_the_run_broke_off() -> None:
    assert result(case(forbid=[{"tool": "book"}]), observed(BOOK, status="timed_out")) == "violated"


def test_the_worst_of_several_parts_counts() -> None:
    both = case(tools=["book"], mode="exact", forbid=[{"tool": "look"}])
    assert result(both, observed(BOOK)) == "held"
    assert result(both, observed(BOOK, AGAIN)) == "violated"
    assert result(both, observed(LOOK, status="crashed")) == "violated"
