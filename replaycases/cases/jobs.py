"""Runs as jobs: requested, leased, finished, failed, cancelled, swept. Nothing else assigns a run's state.

Every change of a run is one conditional UPDATE, so that of two workers, or of a worker and a sweep, one wins and the
other learns it. Times are the database's, so that workers' clocks need not agree.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q, QuerySet

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import REQUESTS_REPLAYS, VOIDS_RUN_SETS
from replaycases.cases import beats, bell, comparing, declaring, events, evidence, numbers, policies, reading
from replaycases.cases.clock import Now, after
from replaycases.cases.models import (
    MAX_ATTEMPTS,
    Comparison,
    Control,
    FixtureRevision,
    Implementation,
    LaneEntry,
    Run,
    RunSet,
    RunState,
)

REASON_CAP = 2000
# Messages a sweep sends at most: a long queue must not fill the broker with hints about the same runs.
SWEEP_BATCH = 200

logger = logging.getLogger(__name__)


class LeaseLost(Exception):
    """The run is no longer held under this lease: it was swept, leased again, or has ended. Nothing was written."""


@dataclass(frozen=True, kw_only=True)
class Lease:
    """The right to write one run's result. `token` is the fencing token; `attempt` counts from 1."""

    run_id: UUID
    token: int
    attempt: int


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a finished replay writes. `manifest` is the dumped manifest, the other fields repeat it for lists."""

    manifest: bytes
    status: str
    boundary_passed: bool | None
    observation_hash: str
    behaviour: str
    matching_policy: str


# --- requesting -----------------------------------------------------------------------------------------------------


def request_run_set(
    actor: User,
    *,
    revision: FixtureRevision,
    implementation: Implementation,
    size: int,
    control: Control | None = None,
    mutated: bool = False,
    lane_entry: LaneEntry | None = None,
) -> RunSet:
    """Declare `size` replays and queue them; with `lane_entry` as part of that stay's history. Raises PermissionDenied,
    InvalidTransition for a closed case, or ValidationError for a size out of bounds or parts that do not belong
    together."""
    project = revision.case.project
    with transaction.atomic():
        policies.require_locked(revision.case, actor, "request_run_set")
        run_set = declaring.declare(
            actor, revision, implementation, size=size, control=control, mutated=mutated, lane_entry=lane_entry
        )
        events.record(
            actor=actor,
            action="run_set.requested",
            subject=run_set,
            project=project,
            case=revision.case,
            object_hash=run_set.fixture_hash,
            after={
                "implementation": implementation.digest,
                "size": size,
                "mutated": mutated,
                **({"lane": lane_entry.lane.name} if lane_entry else {}),
            },
        )
    return run_set


def request_comparison(
    actor: User,
    *,
    revision: FixtureRevision,
    old: Implementation | None,
    new: Implementation | None,
    size: int = 2,
    with_controls: bool = True,
) -> Comparison:
    """Ask for old against new: a declared set a side, and for the new side a set on each control and on each mutated
    control. Raises as `request_run_set`, and ValidationError where no side is named or both
    are the same code."""
    project = revision.case.project
    if old is None and new is None:
        raise ValidationError("Choose at least one implementation.")
    if old is not None and new is not None and old.digest == new.digest:
        raise ValidationError("Old and new are the same code: nothing can be compared. Choose another version.")
    with transaction.atomic():
        policies.require_locked(revision.case, actor, "request_comparison")
        comparison = Comparison.objects.create(
            project=project,
            number=numbers.take(project, "next_comparison_number"),
            revision=revision,
            old=old,
            new=new,
            with_controls=with_controls,
            requested_by=actor,
        )
        comparing.asked(comparison)
        sets = _declare_all(actor, comparison, size)
        events.record(
            actor=actor,
            action="comparison.requested",
            subject=comparison,
            project=project,
            case=revision.case,
            object_hash=revision.fixture_hash,
            after={
                "old": old.digest if old else None,
                "new": new.digest if new else None,
                "run_sets": [str(run_set.pk) for run_set in sets],
            },
        )
    return comparison


def _declare_all(actor: User, comparison: Comparison, size: int) -> list[RunSet]:
    """The sets of a comparison: one a side, and for the new side those on the controls."""
    declare = partial(declaring.declare, actor, comparison.revision, size=size, comparison=comparison)
    sets = [declare(side) for side in (comparison.old, comparison.new) if side is not None]
    if comparison.with_controls and comparison.new is not None:
        for control in comparison.revision.controls.all():
            for mutated in (False, True) if control.mutation_id else (False,):
                sets.append(declare(comparison.new, control=control, mutated=mutated))
    return sets


# --- a worker's side ------------------------------------------------------------------------------------------------


def lease(run_id: UUID, *, worker: str) -> Lease | None:
    """Take the run, or None if there is nothing to take: held by another worker, ended, not due yet, or unknown."""
    due = Q(state=RunState.QUEUED, not_before__lte=Now(), attempts__lt=MAX_ATTEMPTS)
    with transaction.atomic():
        taken = Run.objects.filter(due, id=run_id).update(
            state=RunState.LEASED,
            attempts=F("attempts") + 1,
            lease_token=F("lease_token") + 1,
            leased_until=after(settings.REPLAYCASES_LEASE_SECONDS),
            started_at=Now(),
            worker=worker[:200],
            reason="",
            progress="preparing",
        )
        if not taken:
            return None
        run = Run.objects.only("lease_token", "attempts").get(id=run_id)
        return Lease(run_id=run_id, token=run.lease_token, attempt=run.attempts)


def heartbeat(held: Lease, *, progress: str) -> bool:
    """Keep the lease for another period. True if the replay shall go on, False if it was asked to cancel.
    Raises LeaseLost."""
    kept = _held(held).update(leased_until=after(settings.REPLAYCASES_LEASE_SECONDS), progress=progress)
    if not kept:
        raise LeaseLost(f"run {held.run_id} is no longer held under token {held.token}")
    return not Run.objects.filter(id=held.run_id, cancel_requested_at__isnull=False).exists()


def finish(held: Lease, result: Result) -> None:
    """Write the result, once. Raises LeaseLost, and then the manifest is not kept either; EvidenceDestroyed where the
    time of the fixture was over while it was replayed: nothing is kept of it then."""
    with transaction.atomic():
        run = Run.objects.select_related("project").get(id=held.run_id)
        destroyed = reading.destroyed(run)
        if destroyed:
            raise evidence.EvidenceDestroyed(destroyed)
        classification, ends = reading.restriction_of(run)
        manifest = evidence.store(
            run.project,
            result.manifest,
            media_type=evidence.MANIFEST_TYPE,
            classification=classification,
            expires_at=ends,
        )
        _end(
            held.run_id,
            _held(held),
            RunState.FINISHED,
            manifest=manifest,
            status=result.status,
            boundary_passed=result.boundary_passed,
            observation_hash=result.observation_hash,
            behaviour=result.behaviour,
            matching_policy=result.matching_policy,
        )


def finish_cancelled(held: Lease) -> None:
    """The replay was stopped because somebody cancelled it. Raises LeaseLost."""
    with transaction.atomic():
        _end(held.run_id, _held(held), RunState.CANCELLED, reason="cancelled while it ran")


def fail(held: Lease, reason: str) -> None:
    """The attempt came to nothing for a reason that is not the workflow's: try again later, at most MAX_ATTEMPTS
    times, then quarantine. Raises LeaseLost."""
    with transaction.atomic():
        why = evidence.printable(reason, cap=REASON_CAP)
        _give_up_or_requeue(held.run_id, _held(held), held.attempt, why, delay=held.attempt)


def give_up(held: Lease, reason: str) -> None:
    """No further attempt can come to anything: the run ends without a result. Raises LeaseLost."""
    with transaction.atomic():
        _end(held.run_id, _held(held), RunState.QUARANTINED, reason=evidence.printable(reason, cap=REASON_CAP))


def _held(held: Lease) -> QuerySet[Run]:
    return Run.objects.filter(id=held.run_id, state=RunState.LEASED, lease_token=held.token)


def _end(run_id: UUID, runs: QuerySet[Run], state: RunState, **fields: Any) -> None:
    """The one way a run ends: conditional on `runs` still holding it, and the verdicts that wait for it are computed
    after the commit. Raises LeaseLost."""
    ended = runs.update(state=state, leased_until=None, finished_at=Now(), progress="", **fields)
    if ended != 1:
        raise LeaseLost("the run was taken or ended in the meantime")
    transaction.on_commit(partial(comparing.run_ended, run_id), robust=True)


def _give_up_or_requeue(run_id: UUID, runs: QuerySet[Run], attempt: int, reason: str, *, delay: float) -> None:
    if attempt >= MAX_ATTEMPTS:
        _end(run_id, runs, RunState.QUARANTINED, reason=f"{reason} (attempt {attempt} of {MAX_ATTEMPTS})")
        return
    requeued = runs.update(
        state=RunState.QUEUED, leased_until=None, sent_at=None, not_before=after(delay), progress="", reason=reason
    )
    if not requeued:
        raise LeaseLost("the run was taken or ended in the meantime")


# --- cancelling and voiding -----------------------------------------------------------------------------------------


def cancel(actor: User, *, subject: RunSet | Comparison) -> int:
    """Cancel what has not ended of a set, or of the sets that a comparison asked for: queued runs at once, running ones
    through their supervisor. Returns how many. A comparison also reads runs that others asked for; those go on, or
    cancelling one's own would take them from somebody else. Raises PermissionDenied."""
    with transaction.atomic():
        policies.require_roles_locked(actor, subject.project, *REQUESTS_REPLAYS)
        ids = list(_outstanding(subject).values_list("id", flat=True))
        for run_id in ids:
            _cancel_one(run_id)
        events.record(
            actor=actor,
            action=CANCELLED[type(subject)],
            subject=subject,
            project=subject.project,
            case=subject.revision.case,
            after={"runs": len(ids)},
        )
    return len(ids)


CANCELLED = {RunSet: "run_set.cancelled", Comparison: "comparison.cancelled"}


def _outstanding(subject: RunSet | Comparison) -> QuerySet[Run]:
    own = Q(run_set=subject) if isinstance(subject, RunSet) else Q(run_set__comparison=subject)
    return Run.objects.filter(own, state__in=[RunState.QUEUED, RunState.LEASED])


def _cancel_one(run_id: UUID) -> None:
    try:
        with transaction.atomic():
            queued = Run.objects.filter(id=run_id, state=RunState.QUEUED)
            _end(run_id, queued, RunState.CANCELLED, reason="cancelled")
    except LeaseLost:
        Run.objects.filter(id=run_id, state=RunState.LEASED).update(cancel_requested_at=Now())


def void(actor: User, *, run_set: RunSet, reason: str) -> None:
    """Take a set out of every verdict, with a reason that stays shown; who does promotes nothing that rests on what is
    left. Raises PermissionDenied, ValidationError without a reason, InvalidTransition if it is out already."""
    access.require(actor, run_set.project, *VOIDS_RUN_SETS)
    policies.refuse_tokens(actor)
    if not reason.strip():
        raise ValidationError("Say why the set is voided.")
    with transaction.atomic():
        policies.require_roles_locked(actor, run_set.project, *VOIDS_RUN_SETS)
        why = evidence.printable(reason.strip(), cap=REASON_CAP)
        standing = RunSet.objects.filter(pk=run_set.pk, voided_at=None)
        if not standing.update(voided_at=Now(), voided_by=actor, void_reason=why):
            raise policies.InvalidTransition("The set is voided already.")
        comparing.invalidate(run_set, voided=True)
        events.record(
            actor=actor,
            action="run_set.voided",
            subject=run_set,
            project=run_set.project,
            case=run_set.revision.case,
            object_hash=run_set.fixture_hash,
            after={"reason": why},
        )
        transaction.on_commit(comparing.refresh_waiting, robust=True)


# --- the sweep ------------------------------------------------------------------------------------------------------


def sweep() -> None:
    """What keeps every promise when messages or workers are lost: take back expired leases, send again what nobody
    picked up, compute verdicts whose runs have all ended."""
    beats.each(Run.objects.filter(state=RunState.LEASED, leased_until__lt=Now()).order_by("leased_until"), _take_back)
    bell.ring(_unanswered())
    comparing.refresh_waiting()


def _take_back(run: Run) -> bool:
    expired = Run.objects.filter(id=run.pk, state=RunState.LEASED, lease_token=run.lease_token, leased_until__lt=Now())
    try:
        with transaction.atomic():
            if run.cancel_requested_at is not None:
                _end(run.pk, expired, RunState.CANCELLED, reason="cancelled; its worker was lost")
            else:
                _give_up_or_requeue(run.pk, expired, run.attempts, "its worker was lost or did not answer", delay=0)
    except LeaseLost:
        logger.info("run %s came back by itself", run.pk)
        return False
    logger.warning("run %s taken back from a lost worker, attempt %d", run.pk, run.attempts)
    return True


def _unanswered() -> list[UUID]:
    silent = Q(sent_at=None) | Q(sent_at__lt=after(-settings.REPLAYCASES_RESEND_SECONDS))
    due = Run.objects.filter(silent, state=RunState.QUEUED, not_before__lte=Now()).order_by("not_before")
    return list(due.values_list("id", flat=True)[:SWEEP_BATCH])
