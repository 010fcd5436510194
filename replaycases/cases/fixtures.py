"""Stored fixtures, loaded again from their bytes."""

from __future__ import annotations

import jsonpatch
import orjson

from replaycases.cases import evidence
from replaycases.cases.models import Control, FixtureRevision, Run
from replaycases.fixture import strict_json
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture


def of_run(run: Run) -> Fixture:
    """The fixture that the run replays: the revision's, its control's, or the mutated control's."""
    run_set = run.run_set
    if run_set.control is not None:
        return of_control(run_set.control, mutated=run_set.mutated)
    return of_revision(run_set.revision)


def of_revision(revision: FixtureRevision) -> Fixture:
    detect = evidence.read(revision.detect) if revision.detect else None
    return load_fixture(evidence.read(revision.payload), detect=detect)


def of_control(control: Control, *, mutated: bool) -> Fixture:
    data = evidence.read(control.payload)
    if mutated and control.mutation is not None:
        data = mutate(data, evidence.read(control.mutation))
    return load_fixture(data)


def mutate(fixture: bytes, mutation: bytes) -> bytes:
    """The control with its JSON Patch applied, as bytes. Raises FixtureInvalid if the patch does not apply."""
    document, patch = strict_json.parse(fixture), strict_json.parse(mutation)
    try:
        return orjson.dumps(jsonpatch.apply_patch(document, patch))
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
        finding = Finding(
            id="mutation.does-not-apply",
            level="error",
            pointer="",
            message=f"the mutation cannot be applied to the control ({type(error).__name__})",
            hint="write an RFC 6902 patch whose paths exist in the control",
        )
        raise FixtureInvalid([finding]) from None
