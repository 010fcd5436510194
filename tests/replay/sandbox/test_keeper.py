"""One keeper serves a supervising process; it is replaced when it is lost, and never shared with a forked child."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

import pytest

from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier
from replaycases.replay.sandbox.guard.main import descendants
from replaycases.replay.sandbox.keeper import KEEPER
from tests.replay.sandbox.confined import ROOT, SECONDS, run, started

OUTLIVES_ITS_PARENT = """
import os, sys
from replaycases.replay.sandbox.tiers import tiers
from tests.replay.sandbox.confined import run
tier = next(tier for tier in tiers() if tier.name == sys.argv[1])
run(tier, "pass")
end, alive = os.pipe()
if os.fork():
    os._exit(0)
os.close(alive)
os.read(end, 1)
print(run(tier, "sys.exit(5)")[0])
"""


def test_a_lost_keeper_ends_its_runs_and_is_replaced(any_tier: Tier) -> None:
    with started(any_tier, "me.send(b'here'); signal.pause()") as confined:
        assert confined.hear() == b"here"
        assert KEEPER.pid is not None
        os.kill(KEEPER.pid, signal.SIGKILL)
        with pytest.raises(EnvironmentUnavailable):
            confined.running.wait(SECONDS)
        assert confined.is_gone()
    assert run(any_tier, "sys.exit(6)")[0] == 6


def test_a_forked_worker_that_outlives_its_parent_can_start_runs(any_tier: Tier) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OUTLIVES_ITS_PARENT, any_tier.name],
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout == b"5\n"


def test_closing_leaves_no_keeper_and_a_later_run_starts_one(any_tier: Tier) -> None:
    run(any_tier, "pass")
    KEEPER.close()
    assert KEEPER.pid is None
    assert run(any_tier, "pass")[0] == 0


def waiting_guard(keeper: int, *others: int) -> int:
    """The guard that waits for the next run; the keeper forks it when the last one has ended."""
    while not (found := set(descendants(keeper)) - set(others)):
        pass
    (waiting,) = found
    return waiting


def test_no_guard_waits_beside_a_running_program(any_tier: Tier) -> None:
    run(any_tier, "pass")
    with started(any_tier, "me.send(b'here'); signal.pause()") as confined:
        assert confined.hear() == b"here"
        assert KEEPER.pid is not None
        guard = confined.running.pid
        assert set(descendants(KEEPER.pid)) == {guard, *descendants(guard)}


def test_a_waiting_guard_that_was_ended_is_replaced(any_tier: Tier) -> None:
    with started(any_tier, "pass") as confined:
        confined.running.wait(SECONDS)
    assert KEEPER.pid is not None
    waiting = os.pidfd_open(pid := waiting_guard(KEEPER.pid, confined.running.pid))
    os.kill(pid, signal.SIGKILL)
    assert select.select([waiting], [], [], SECONDS)[0]
    os.close(waiting)
    assert run(any_tier, "sys.exit(7)")[0] == 7


def test_a_waiting_guard_ends_with_its_keeper(any_tier: Tier) -> None:
    with started(any_tier, "pass") as confined:
        confined.running.wait(SECONDS)
    assert KEEPER.pid is not None
    waiting = os.pidfd_open(waiting_guard(KEEPER.pid, confined.running.pid))
    os.kill(KEEPER.pid, signal.SIGKILL)
    assert select.select([waiting], [], [], SECONDS)[0]
    os.close(waiting)
