"""Stored fixtures, loaded again from their bytes."""

from __future__ import annotations

from replaycases.cases import evidence
from replaycases.cases.models import Control, FixtureRevision, Run
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.controls import mutate


def of_run(run: Run) -> Fixture:
    """The fixture that the run replays: the revision's, its control's, or the mutated control's."""
    run_set = run.run_set
    if run_set.control is not None:
        return of_control(run_set.control, mutated=run_set.mutated)
    return of_revision(run_set.revision)


def of_revision(revision: FixtureRevision) -> Fixture:
    return load_fixture(evidence.read(revision.payload), detect=_detect(revision))


def of_control(control: Control, *, mutated: bool) -> Fixture:
    data = evidence.read(control.payload)
    if mutated and control.mutation is not None:
        data = mutate(data, evidence.read(control.mutation))
    return load_fixture(data, detect=_detect(control))


def _detect(subject: FixtureRevision | Control) -> bytes | None:
    return evidence.read(subject.detect) if subject.detect else None
