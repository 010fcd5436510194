"""One run: one cold, sandboxed process, watched from start to end, and its manifest.

Whatever the implementation does ends in a manifest, never in an exception. Two choices where a rule was silent: a
process that never speaks until the wall clock ends is `timed_out`, although the session never started; one that exits
without `session.start` is `adapter_error`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from replaycases.fixture.model import Fixture
from replaycases.replay.conversation import Conversation
from replaycases.replay.ending import Ended
from replaycases.replay.implementation import Implementation
from replaycases.replay.launching import Prepared, launch_of, prepare
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Limits, Tier
from replaycases.replay.sandbox.tiers import choose_tier
from replaycases.replay.session import ReplaySession
from replaycases.replay.staging import Staged, staged
from replaycases.verdict.manifest import SURFACES, Manifest, RunFacts, RunSet, build

DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, kw_only=True)
class RunLabels:
    """Who this run is. Nothing here changes what it does; a run of its own is a set of one."""

    run_id: str
    run_set: RunSet
    attempt: int = 1
    parent_run: str | None = None


def replay_once(
    fixture: Fixture,
    implementation: Implementation,
    *,
    tier: Tier | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancelled: Callable[[], bool] | None = None,
    labels: RunLabels | None = None,
    copies: Staged | None = None,
) -> Manifest:
    """Run `implementation` once against `fixture`.

    `tier` None takes the strongest that works here; with none the manifest says `environment_unavailable` and why.
    `cancelled` is asked about every 50 ms. `copies` is what `staging.staged` made of this implementation; without
    it a copy is made for this run, and StagingFailed is raised if the folder changed since it was loaded.
    """
    if copies is None:
        with staged(implementation) as made:
            return replay_once(
                fixture,
                implementation,
                tier=tier,
                limits=limits,
                cancelled=cancelled,
                labels=labels,
                copies=made,
            )
    started_at = _now()
    session = ReplaySession(fixture, serving=implementation.serving, clock=implementation.clock)
    prepared: Prepared | None = None
    try:
        tier = tier or choose_tier()
        prepared = prepare(tier, implementation, copies)
        ended = _run(session, fixture, prepared, limits, cancelled or _never)
    except EnvironmentUnavailable as missing:
        ended = Ended(cause="environment_unavailable", reason=str(missing))
    observation = session.observe(ended=ended)
    labels = labels or _single_run()
    facts = RunFacts(
        implementation=_identity(implementation, prepared),
        isolation=_isolation(tier),
        surfaces=_surfaces(implementation, tier),
        run_id=labels.run_id,
        run_set=labels.run_set,
        started_at=started_at,
        ended_at=_now(),
        limits=limits.as_dict(),
        parent_run=labels.parent_run,
        attempt=labels.attempt,
    )
    return build(fixture, observation, facts)


def _run(
    session: ReplaySession, fixture: Fixture, prepared: Prepared, limits: Limits, cancelled: Callable[[], bool]
) -> Ended:
    """Start the process with its end of the socket and the pipes, close our copies of them, and talk."""
    with ExitStack() as ours, ExitStack() as theirs:
        channel, far = socket.socketpair()
        ours.enter_context(channel)
        theirs.enter_context(far)
        (stdout, stdout_far), (stderr, stderr_far) = os.pipe(), os.pipe()
        for descriptor in (stdout, stderr):
            ours.callback(os.close, descriptor)
        for descriptor in (stdout_far, stderr_far):
            theirs.callback(os.close, descriptor)
        talk = Conversation(session, limits, channel=channel, outputs=(stdout, stderr), cancelled=cancelled)
        running = prepared.tier.start(
            launch_of(prepared, fixture),
            limits,
            protocol_fd=far.fileno(),
            stderr_fd=stderr_far,
            stdout_fd=stdout_far,
        )
        theirs.close()
        return talk.run(running)


def _identity(implementation: Implementation, prepared: Prepared | None) -> Mapping[str, Any]:
    """Free of anything that belongs to this machine."""
    named = {
        "name": implementation.name,
        "version": implementation.version,
        "commit": implementation.commit,
        "digest": implementation.digest,
        "contracts": dict(implementation.contracts),
    }
    if prepared is None or prepared.toolchain is None:
        return named
    toolchain = prepared.toolchain
    python = {"version": toolchain.version, "lock": toolchain.lock, "frozen_by": prepared.frozen_by}
    return named | {"python": python}


def _isolation(tier: Tier | None) -> Mapping[str, Any]:
    return {"tier": tier.name, "denied": list(tier.probed)} if tier else {"tier": "none", "denied": []}


def _surfaces(implementation: Implementation, tier: Tier | None) -> Mapping[str, str]:
    """Recorded answers control a boundary only where no other way leads to it: without a denied network the workflow
    may have asked a live service instead."""
    by_tier = {name: str(surface) for name, surface in tier.surfaces.items()} if tier else {}
    closed = by_tier.get("network") == "denied"
    ours = {
        "clock": implementation.clock is not None,
        "randomness": implementation.clock == "frozen",
        **dict.fromkeys(("model", "tools", "retrieval", "human"), closed),
    }
    found = {name: "controlled" for name, controlled in ours.items() if controlled} | by_tier
    return {name: found.get(name, "uncontrolled") for name in SURFACES}


def _single_run() -> RunLabels:
    run_id = str(uuid4())
    return RunLabels(run_id=run_id, run_set=RunSet(id=run_id, index=0, size=1))


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _never() -> bool:
    return False
