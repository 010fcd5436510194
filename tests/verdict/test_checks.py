from __future__ import annotations

from typing import Any

import pytest

from replaycases.fixture.model import Fixture
from replaycases.verdict import checks as checks_module
from replaycases.verdict.checks import evaluate
from replaycases.verdict.observation import Observation
from tests.verdict.cases import fixture_2, observed, tool_event

DETECT = {"any": ["(?i)refund(ed)? (is )?complete"], "none": ["not complete"]}
PROHIBITED = {"id": "done", "statement": "the refund is complete", "detect": DETECT}
CLAIM = {"boundary": ["done"], "prohibited_claims": [PROHIBITED]}


def results(fixture: Fixture, observation: Observation) -> dict[str, str]:
    return {check.id: check.result for check in evaluate(fixture, observation)}


def claim_case(**more: Any) -> Fixture:
    return fixture_2([tool_event(1, "look")], CLAIM, **more)


def test_a_check_that_raises_is_undetermined_and_names_the_exception_class(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(spec: Any, evidence: Any) -> Any:
        raise ZeroDivisionError("value of evidence")

    monkeypatch.setattr(checks_module, "_FAMILIES", {"prohibited_claims": broken})
    (result,) = evaluate(claim_case(), observed())
    assert (result.result, result.observed) == ("undetermined", "the check could not be evaluated (ZeroDivisionError)")


BROKEN_OFF = (
    "diverged",
    "stale",
    "exhausted",
    "crashed",
    "adapter_error",
    "timed_out",
    "limit_exceeded",
    "environment_unavailable",
    "cancelled",
)


@pytest.mark.parametrize("status", BROKEN_OFF)
def test_a_run_that_broke_off_acquits_nothing(status: Any) -> None:
    said = {"message": "we are looking into it"}
    assert results(claim_case(), observed(outcome=said)) == {"done": "held"}
    assert results(claim_case(), observed(outcome=said, status=status)) == {"done": "undetermined"}


@pytest.mark.parametrize("status", BROKEN_OFF)
def test_a_violation_that_nothing_could_undo_stays_one_when_the_run_broke_off(status: Any) -> None:
    said = {"message": "Your refund is complete"}
    assert results(claim_case(), observed(outcome=said, status=status)) == {"done": "violated"}


@pytest.mark.parametrize(
    "case",
    [
        claim_case(time_zone="Europe/Berlin"),
        fixture_2([{"seq": 1, "boundary": "clock", "now": "2026-03-29T01:30:00+01:00"}], CLAIM),
    ],
)
def test_an_uncontrolled_clock_acquits_nothing_where_the_case_depends_on_time(case: Fixture) -> None:
    held, bad = {"message": "looking"}, {"message": "refund complete"}
    assert results(case, observed(outcome=held, reads={"clock": 1})) == {"done": "held"}
    assert results(case, observed(outcome=held, clock="uncontrolled")) == {"done": "undetermined"}
    assert results(case, observed(outcome=bad, clock="uncontrolled")) == {"done": "violated"}


@pytest.mark.parametrize(("optional", "result"), [(False, "undetermined"), (True, "held")])
def test_an_injected_clock_that_is_never_asked_acquits_nothing_where_a_read_was_recorded(
    optional: bool, result: str
) -> None:
    instant = {"seq": 1, "boundary": "clock", "now": "2026-03-29T01:30:00+01:00", "optional": optional}
    case = fixture_2([instant], CLAIM)
    assert results(case, observed(outcome={"message": "looking"}, clock="injected")) == {"done": result}
    assert results(case, observed(outcome={"message": "looking"}, clock="frozen")) == {"done": "held"}


def test_an_uncontrolled_clock_does_not_matter_where_nothing_depends_on_time() -> None:
    assert results(claim_case(), observed(outcome={"message": "looking"}, clock="uncontrolled")) == {"done": "held"}
