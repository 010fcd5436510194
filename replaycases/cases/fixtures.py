"""Stored fixtures, loaded again from their bytes."""

from __future__ import annotations

from replaycases.cases import evidence
from replaycases.cases.models import Control, FixtureRevision, Run
from replaycases.fixture import model
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.fixture.stated_effects import unstated_tools
from replaycases.replay.controls import mutate


def of_run(run: Run) -> Fixture:
    """The fixture that the run replays: the revision's, its control's, or the mutated control's."""
    run_set = run.run_set
    if run_set.control is not None:
        return of_control(run_set.control, mutated=run_set.mutated)
    return of_revision(run_set.revision)


def of_revision(revision: FixtureRevision) -> Fixture:
    return load_fixture(evidence.read(revision.payload), detect=_detect(revision))


def unstated_tools_of(revision: FixtureRevision) -> list[str]:
    """Its tools of which no call says whether it has an effect; loaded anew for a revision that did not keep them."""
    kept = revision.unstated_tools
    return unstated_tools(of_revision(revision)) if kept is None else kept


def is_non_replayable(revision: FixtureRevision) -> bool:
    """Whether it says of itself that it can be read only; loaded anew as above."""
    kept = revision.non_replayable
    return model.is_non_replayable(of_revision(revision)) if kept is None else kept


def of_control(control: Control, *, mutated: bool) -> Fixture:
    data = evidence.read(control.payload)
    if mutated and control.mutation is not None:
        data = mutate(data, evidence.read(control.mutation))
    return load_fixture(data, detect=_detect(control))


def _detect(subject: FixtureRevision | Control) -> bytes | None:
    return evidence.read(subject.detect) if subject.detect else None
