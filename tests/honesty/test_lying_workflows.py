"""Every lie about the refund case, run for real, gets its own label for its own reason."""

from __future__ import annotations

from replaycases.cli.compare import judge
from replaycases.verdict.labels import Label
from tests.honesty.court import Court, Lie, assert_right, lies
from tests.honesty.lying_workflows import ON_REFUND
from tests.honesty.worlds import REFUND


def test_without_a_lie_the_pair_is_green(court: Court) -> None:
    fixture = REFUND.fixture
    comparison = judge(fixture, court.kept(fixture, REFUND.old(court)), court.runs(fixture, REFUND.new(court)))
    assert comparison.label is Label.VERIFIED_RED_TO_GREEN, comparison.reason


@lies(ON_REFUND)
def test_a_lying_workflow_gets_its_right_label(lie: Lie, court: Court) -> None:
    fixture = REFUND.fixture
    lying = court.runs(fixture, REFUND.lying(court, lie), limits=lie.limits)
    assert_right(judge(fixture, court.kept(fixture, REFUND.old(court)), lying), lie.label, lie.because)
