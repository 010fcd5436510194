"""A sandbox that fails or is taken away has no outcome: it is an error, never an exit status."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import EnvironmentUnavailable, Mount, Tier
from tests.replay.sandbox.confined import SECONDS, run, started


def test_a_tree_that_cannot_be_mounted_is_no_outcome(mounting_tier: Tier, outside: Path) -> None:
    missing = Mount(source=outside / "missing", target="/workflow")
    with pytest.raises(EnvironmentUnavailable):
        run(mounting_tier, "pass", mounts=(missing,))


def test_a_lost_guard_is_no_outcome_and_takes_the_program_with_it(
    any_tier: Tier, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(outside))  # nobody is left to remove the private folder
    with started(any_tier, "me.send(b'here'); signal.pause()") as confined:
        assert confined.hear() == b"here"
        os.kill(confined.running.pid, signal.SIGKILL)
        with pytest.raises(EnvironmentUnavailable):
            confined.running.wait(SECONDS)
        with pytest.raises(EnvironmentUnavailable):
            confined.running.wait(0)
        assert confined.ours.recv(1) == b""
