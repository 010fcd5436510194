"""A verdict reads every run of a declared set: a lucky one cannot be picked, an unlucky one not be left out."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from replaycases.cli.compare import judge
from replaycases.replay.supervisor import RunLabels, replay_once
from replaycases.verdict.labels import Label
from replaycases.verdict.manifest import Manifest, RunSet
from tests.honesty.court import LIMITS, Court, assert_right
from tests.honesty.worlds import REFUND

NOT_COMPARABLE = Label.NOT_COMPARABLE
LUCKY = """
walk(session)
if os.urandom(1)[0] % 2: session.finish(**HONEST)
else: say(session, CLAIM)
"""


@pytest.fixture(scope="module")
def three(court: Court) -> list[Manifest]:
    """A set of three honest runs."""
    return court.runs(REFUND.fixture, REFUND.new(court), runs=3)


def verdict(court: Court, new: list[Manifest], old: list[Manifest] | None = None) -> Any:
    fixture = REFUND.fixture
    return judge(fixture, court.kept(fixture, REFUND.old(court)) if old is None else old, new)


def test_a_lucky_run_of_a_set_cannot_be_picked(court: Court) -> None:
    """One set, run until both outcomes are in it; chance decides how many runs that takes, and nothing else."""
    agent, fixture, size = REFUND.workflow(court, "lucky now and then", LUCKY), REFUND.fixture, 60
    ran: list[Manifest] = []
    while {run.boundary_passed for run in ran} != {True, False} and len(ran) < size:
        labels = RunLabels(run_id=str(uuid4()), run_set=RunSet(id="s", index=len(ran), size=size))
        ran.append(replay_once(fixture, agent, tier=court.tier, limits=LIMITS, labels=labels))
    lucky = [run for run in ran if run.boundary_passed]
    assert_right(verdict(court, ran), NOT_COMPARABLE, f"declares {size} runs")
    assert_right(verdict(court, lucky), NOT_COMPARABLE, f"declares {size} runs")
    assert_right(verdict(court, lucky * 2), NOT_COMPARABLE, "more than once")


def test_lucky_and_unlucky_runs_together_are_varied(court: Court) -> None:
    body = "walk(session); say(session, HONEST['message'] if hash('a') % 2 else CLAIM, structured=str(hash('a')))"
    lying = court.runs(REFUND.fixture, REFUND.workflow(court, "lucky one of n", body), runs=4)
    assert_right(verdict(court, lying), Label.VARIED, "new runs differ in their")


def test_a_run_left_out_is_missed(court: Court, three: list[Manifest]) -> None:
    assert_right(verdict(court, three[:2]), NOT_COMPARABLE, "declares 3 runs, and not exactly these were given")
    assert_right(verdict(court, three[1:]), NOT_COMPARABLE, "declares 3 runs, and not exactly these were given")


def test_a_run_given_twice_does_not_fill_the_set(court: Court, three: list[Manifest]) -> None:
    assert_right(verdict(court, [three[0], three[0], three[1]]), NOT_COMPARABLE, "was given more than once")


def test_a_repeated_index_does_not_fill_the_set(court: Court, three: list[Manifest]) -> None:
    copy = Manifest({**three[0].document, "run": {**three[0]["run"], "id": str(uuid4())}})
    assert_right(verdict(court, [three[0], copy, three[1]]), NOT_COMPARABLE, "declares 3 runs")


def test_a_run_of_another_set_does_not_fill_the_set(court: Court, three: list[Manifest]) -> None:
    other = court.runs(REFUND.fixture, REFUND.new(court), runs=3)
    assert_right(verdict(court, [*three[:2], other[2]]), NOT_COMPARABLE, "declares 3 runs")


def test_a_run_of_another_implementation_does_not_fill_the_set(court: Court, three: list[Manifest]) -> None:
    other = REFUND.workflow(court, "fixed in another way", REFUND.fixed + "  # otherwise")
    labels = RunLabels(run_id=str(uuid4()), run_set=RunSet(**{**three[0]["run"]["set"], "index": 2}))
    run = replay_once(REFUND.fixture, other, tier=court.tier, limits=LIMITS, labels=labels)
    assert_right(verdict(court, [*three[:2], run]), NOT_COMPARABLE, "mixes runs of several implementations")


def test_a_run_cannot_stand_on_both_sides(court: Court, three: list[Manifest]) -> None:
    old = court.kept(REFUND.fixture, REFUND.old(court))
    other = {**old[0]["implementation"], "digest": three[0].implementation_digest}
    disguised = [Manifest({**run.document, "implementation": other}) for run in old]
    assert_right(verdict(court, disguised), NOT_COMPARABLE, "on both sides")


def test_one_result_a_side_is_not_enough(court: Court) -> None:
    fixture = REFUND.fixture
    old, new = court.kept(fixture, REFUND.old(court)), court.kept(fixture, REFUND.new(court))
    single_old = court.runs(fixture, REFUND.old(court), runs=1)
    single_new = court.runs(fixture, REFUND.new(court), runs=1)
    assert_right(verdict(court, new, single_old), Label.UNDETERMINED, "only one old result")
    assert_right(verdict(court, single_new, old), Label.UNDETERMINED, "only one new result")


def test_a_cancelled_run_is_no_result_and_one_remains_too_few(court: Court) -> None:
    agent = REFUND.workflow(court, "fixed slowly", "import time; time.sleep(0.2)\n" + REFUND.fixed)

    def run(index: int, *, cancel: bool) -> Manifest:
        labels = RunLabels(run_id=str(uuid4()), run_set=RunSet(id="c", index=index, size=2))
        return replay_once(
            REFUND.fixture, agent, tier=court.tier, limits=LIMITS, labels=labels, cancelled=lambda: cancel
        )

    good, lost = run(0, cancel=False), run(1, cancel=True)
    assert (good.status, lost.status) == ("completed", "cancelled")
    assert_right(verdict(court, [good, lost]), Label.ENVIRONMENT_UNAVAILABLE, "1 results remain on the new side")


def test_no_old_run_is_a_baseline_and_no_new_run_is_no_fix(court: Court, three: list[Manifest]) -> None:
    assert_right(verdict(court, three, []), Label.BASELINE_ONLY, "There is no old run")
    assert_right(verdict(court, []), Label.OLD_ONLY, "There is no new run")
    assert_right(verdict(court, [], []), NOT_COMPARABLE, "no result on either side")
