"""Sets of replays, declared before any of them runs."""

from __future__ import annotations

from functools import partial

from django.core.exceptions import ValidationError
from django.db import transaction

from replaycases.accounts.models import User
from replaycases.cases import bell, comparing, numbers, reading
from replaycases.cases.clock import Now
from replaycases.cases.models import Comparison, Control, FixtureRevision, Implementation, LaneEntry, Run, RunSet
from replaycases.cases.policies import InvalidTransition

MAX_SET_SIZE = 50


def declare(
    actor: User | None,
    revision: FixtureRevision,
    implementation: Implementation,
    *,
    size: int,
    comparison: Comparison | None = None,
    control: Control | None = None,
    mutated: bool = False,
    lane_entry: LaneEntry | None = None,
) -> RunSet:
    """The set with its runs, queued. `actor` is None where a lane's schedule asks. In the caller's transaction, which
    has checked who may and locked the case. Raises ValidationError for a size out of bounds, for parts that do not
    belong together, and for a stay in a lane that is over or another revision's; InvalidTransition where the evidence
    is destroyed."""
    project = revision.case.project
    _refuse_what_does_not_fit(revision, implementation, size, control, mutated, lane_entry)
    target = control or revision
    destroyed = reading.destroyed(target)
    if destroyed:
        raise InvalidTransition(f"{destroyed} It cannot be replayed.")
    run_set = RunSet.objects.create(
        project=project,
        revision=revision,
        implementation=implementation,
        control=control,
        mutated=mutated,
        comparison=comparison,
        size=size,
        fixture_hash=control.mutated_hash if control and mutated else target.fixture_hash,
        checks_hash=target.checks_hash,
        lane_entry=lane_entry,
        requested_by=actor,
    )
    first = numbers.take(project, "next_run_number", size)
    runs = Run.objects.bulk_create(
        Run(project=project, number=first + index, run_set=run_set, index=index, not_before=Now())
        for index in range(size)
    )
    comparing.invalidate(run_set)
    transaction.on_commit(partial(bell.ring, [run.pk for run in runs]))
    return run_set


def _refuse_what_does_not_fit(
    revision: FixtureRevision,
    implementation: Implementation,
    size: int,
    control: Control | None,
    mutated: bool,
    lane_entry: LaneEntry | None,
) -> None:
    if not 1 <= size <= MAX_SET_SIZE:
        raise ValidationError(f"A set has 1 to {MAX_SET_SIZE} runs.")
    foreign = implementation.project_id != revision.case.project_id
    if foreign or (control and control.revision_id != revision.pk):
        raise ValidationError("The implementation and the control must belong to the revision's project and revision.")
    if mutated and not (control and control.mutated_hash):
        raise ValidationError("Only a control with a mutation can be replayed mutated.")
    if lane_entry and (lane_entry.left_at is not None or lane_entry.revision_id != revision.pk):
        raise ValidationError("This revision does not stand in the lane any more.")
