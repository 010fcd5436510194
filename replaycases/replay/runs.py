"""A declared set of runs: its size is fixed before the first, every result is kept, none is retried."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation
from replaycases.replay.sandbox.base import Limits, Tier
from replaycases.replay.staging import staged
from replaycases.replay.supervisor import DEFAULT_LIMITS, RunLabels, replay_once
from replaycases.verdict.manifest import Manifest, RunSet

DEFAULT_RUNS = 2


def replay_set(
    fixture: Fixture,
    implementation: Implementation,
    *,
    runs: int = DEFAULT_RUNS,
    tier: Tier | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancelled: Callable[[], bool] | None = None,
    set_id: str | None = None,
) -> list[Manifest]:
    """`runs` manifests in order, each of a clean process over the same copy of the implementation.

    A set that was cancelled, or whose environment is missing, still has `runs` manifests, which say so. Each names
    the set's id and size and its own index. Raises ValueError for fewer than one run, and StagingFailed before any run
    if the implementation's folder changed since it was loaded.
    """
    if runs < 1:
        raise ValueError(f"a set has at least one run, not {runs}")
    declared = set_id or str(uuid4())
    with staged(implementation) as copies:
        return [
            replay_once(
                fixture,
                implementation,
                tier=tier,
                limits=limits,
                cancelled=cancelled,
                labels=RunLabels(run_id=str(uuid4()), run_set=RunSet(id=declared, index=index, size=runs)),
                copies=copies,
            )
            for index in range(runs)
        ]
