"""A probe that an attack gets through is no proof of isolation."""

from __future__ import annotations

from replaycases.replay.sandbox import probe
from replaycases.replay.sandbox.base import Tier
from replaycases.replay.sandbox.tiers import choose_tier


def test_a_confining_tier_passes(tier: Tier) -> None:
    assert probe.problem(tier) is None


def test_no_isolation_fails_by_network_and_files() -> None:
    problem = probe.problem(choose_tier("process", allow_process=True))
    assert problem is not None
    assert all(attack in problem for attack in ("network", "outside_file", "outside_write"))
