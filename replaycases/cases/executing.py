"""One run, end to end, on a worker: take the lease, replay, write the result under the lease."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from uuid import UUID

from django.conf import settings

from replaycases.cases import fixtures, jobs, registry
from replaycases.cases.evidence import EvidenceDamaged, EvidenceDestroyed
from replaycases.cases.key_ring import RingInvalid
from replaycases.cases.models import Run
from replaycases.fixture.canonical import digest
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Limits, Tier
from replaycases.replay.sandbox.tiers import choose_tier
from replaycases.replay.supervisor import RunLabels, replay_once
from replaycases.verdict.behaviour import behaviour_of
from replaycases.verdict.manifest import Manifest, RunSet, dump

# Seconds between two heartbeats at most: also how long a cancel takes to be seen.
BEAT_SECONDS = 1.0

logger = logging.getLogger(__name__)


def look_at(run_id: UUID, *, worker: str) -> None:
    """Replay the run if it is there to be taken. Messages may come late, twice or for nothing: the lease decides."""
    held = jobs.lease(run_id, worker=worker)
    if held is None:
        return
    try:
        _replay(held)
    except jobs.LeaseLost:
        logger.warning("run %s: the lease was lost, its late result is refused", run_id)
    except EvidenceDestroyed as destroyed:
        logger.warning("run %s: its evidence is destroyed", run_id)
        _give_up(held, f"It was not replayed. {destroyed}")
    except (EvidenceDamaged, RingInvalid) as shut:
        logger.error("run %s: its evidence does not open: %s", run_id, shut)
        _fail(held, "its evidence does not open on the worker, which manage.py check --deploy and its log explain")
    # Whatever went wrong on our side must be written into the row, or the run would only be swept.
    except Exception as error:
        logger.exception("run %s: attempt %d failed", run_id, held.attempt)
        _fail(held, f"the attempt failed on the worker: {type(error).__name__}")


def _fail(held: jobs.Lease, reason: str) -> None:
    try:
        jobs.fail(held, reason)
    except jobs.LeaseLost:
        logger.warning("run %s: the lease was lost", held.run_id)


def _give_up(held: jobs.Lease, reason: str) -> None:
    try:
        jobs.give_up(held, reason)
    except jobs.LeaseLost:
        logger.warning("run %s: the lease was lost", held.run_id)


def _replay(held: jobs.Lease) -> None:
    run = Run.objects.select_related(
        "run_set__implementation__archive", "run_set__revision__payload", "run_set__control__payload"
    ).get(id=held.run_id)
    pulse = _Pulse(held)
    fixture = fixtures.of_run(run)
    with registry.materialised(run.run_set.implementation) as implementation:
        pulse.beat("replaying")
        manifest = replay_once(
            fixture,
            implementation,
            tier=_tier(),
            limits=Limits(wall_seconds=float(settings.REPLAYCASES_WALL_SECONDS)),
            cancelled=pulse.cancelled,
            labels=_labels(run, held),
        )
    if pulse.lost:
        raise jobs.LeaseLost(f"run {held.run_id} is no longer held under token {held.token}")
    if manifest.status == "cancelled":
        jobs.finish_cancelled(held)
    else:
        jobs.finish(held, _result(manifest))


def _tier() -> Tier | None:
    """The tier as configured; None where none works, which the supervisor finds out again and writes down."""
    try:
        name = settings.REPLAYCASES_ISOLATION or None
        return choose_tier(name, allow_process=settings.REPLAYCASES_ALLOW_PROCESS)
    except EnvironmentUnavailable:
        return None


def _labels(run: Run, held: jobs.Lease) -> RunLabels:
    run_set = RunSet(id=str(run.run_set_id), index=run.index, size=run.run_set.size)
    return RunLabels(run_id=str(run.pk), run_set=run_set, attempt=held.attempt)


def _result(manifest: Manifest) -> jobs.Result:
    return jobs.Result(
        manifest=dump(manifest),
        status=manifest.status,
        boundary_passed=manifest.boundary_passed,
        observation_hash=manifest["observation_hash"],
        behaviour=behaviour_of(manifest),
        matching_policy=digest(manifest["matching_policy"]),
    )


class _Pulse:
    """Keeps the lease while the supervisor works, from inside its own `cancelled` question: a worker that stands
    still asks nothing and loses the lease, as it should."""

    def __init__(self, held: jobs.Lease) -> None:
        self.held, self.lost = held, False
        self._every = min(BEAT_SECONDS, settings.REPLAYCASES_LEASE_SECONDS / 3)
        self._next = 0.0
        self._clock: Callable[[], float] = time.monotonic

    def beat(self, progress: str) -> bool:
        self._next = self._clock() + self._every
        return jobs.heartbeat(self.held, progress=progress)

    def cancelled(self) -> bool:
        if self.lost:
            return True
        if self._clock() < self._next:
            return False
        try:
            return not self.beat("replaying")
        except jobs.LeaseLost:
            self.lost = True
            return True
