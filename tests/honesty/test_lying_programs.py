"""Every lie on the socket itself gets its own label, and what broke the protocol is named in the run."""

from __future__ import annotations

from textwrap import dedent

import pytest

from replaycases.cli.compare import judge
from replaycases.verdict.labels import Label
from tests.honesty.court import Court, Lie, assert_right, lies
from tests.honesty.lying_programs import BROKEN, ON_THE_WIRE, SHARED
from tests.honesty.worlds import REFUND


def test_without_a_lie_the_program_is_green(court: Court) -> None:
    fixture = REFUND.fixture
    honest = court.by_hand("honest program", SHARED + "\nwalk(); ask('finish', HONEST)")
    comparison = judge(fixture, court.kept(fixture, REFUND.old(court)), court.runs(fixture, honest))
    assert comparison.label is Label.VERIFIED_RED_TO_GREEN, comparison.reason


@lies(ON_THE_WIRE)
def test_a_lie_on_the_wire_gets_its_right_label(lie: Lie, court: Court) -> None:
    fixture = REFUND.fixture
    lying = court.runs(fixture, court.by_hand(lie.name, SHARED + dedent(lie.body)), limits=lie.limits)
    assert_right(judge(fixture, court.kept(fixture, REFUND.old(court)), lying), lie.label, lie.because)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("two finishes in one packet", "something after finish"),
        ("a finish before the start", "before session.start"),
        ("a notification without id", "lacks id"),
        ("a batch", "batches are not supported"),
        ("a message that is there twice", "not strict JSON at /params/message"),
        ("silence", "before session.start"),
    ],
)
def test_what_broke_the_protocol_is_named_in_the_run(name: str, fault: str, court: Court) -> None:
    lie = next(lie for lie in ON_THE_WIRE if lie.name == name)
    (run,) = court.runs(REFUND.fixture, court.by_hand(name, SHARED + dedent(lie.body)), runs=1)
    assert (run.status, fault in run["reason"]) == (str(BROKEN), True), run["reason"]
