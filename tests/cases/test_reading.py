from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import intake, jobs, reading
from replaycases.cases.models import Classification, Comparison, OutcomeType, Payload
from tests import factories
from tests.web import recorded

pytestmark = pytest.mark.django_db

QUARANTINED, REDACTED, PUBLIC = Classification


@pytest.fixture
def viewer(project: Project) -> User:
    return factories.person(project, Role.VIEWER)


def same_fixture() -> bytes:
    """Other bytes with the same fixture hash."""
    return json.dumps(json.loads(factories.fixture()), indent=1).encode()


@pytest.mark.parametrize(
    ("role", "classification", "readable"),
    [
        (Role.VIEWER, QUARANTINED, False),
        (Role.VIEWER, REDACTED, True),
        (Role.VIEWER, PUBLIC, True),
        (Role.ADMINISTRATOR, QUARANTINED, False),
        (Role.PRIVACY_REVIEWER, QUARANTINED, True),
    ],
)
def test_quarantined_evidence_needs_a_role_that_reads_it(
    project: Project, everyone: User, role: Role, classification: Classification, readable: bool
) -> None:
    case = factories.case(project, everyone, classification=classification)
    comparison = recorded.compared(case, everyone)
    reader = factories.person(project, role)
    for subject in (comparison.revision, comparison, comparison.runs()[0]):
        assert reading.readable_by(subject, reader) is readable


def test_nobody_reads_another_projects_evidence(project: Project, everyone: User) -> None:
    case = factories.case(project, everyone, classification=PUBLIC)
    stranger = factories.everyone(factories.project("XX"))
    assert not reading.readable_by(factories.revision(case), stranger)


def test_a_refusal_names_the_roles_that_read(project: Project, everyone: User, viewer: User) -> None:
    case = factories.case(project, everyone, classification=QUARANTINED)
    with pytest.raises(PermissionDenied, match="Privacy reviewer, Responder, Security owner"):
        reading.require(factories.revision(case), viewer)


@pytest.fixture
def comparison(project: Project, everyone: User) -> Comparison:
    """Public throughout: with a control, and with runs of another case that has the same fixture."""
    other = factories.case(project, everyone, same_fixture(), classification=PUBLIC)
    case = factories.case(project, everyone, classification=PUBLIC)
    control = intake.add_control(
        everyone,
        revision=factories.revision(case),
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="control-1"),
        mutation=b'[{"op": "replace", "path": "/events/0/outcome/value/state", "value": "done"}]',
    )
    factories.released(control, PUBLIC)
    first = recorded.compared(other, everyone)
    assert first.old is not None
    assert first.new is not None
    return recorded.finish(recorded.requested(case, everyone, first.old, first.new), recorded.RED, recorded.GREEN)


PARTS: dict[str, Callable[[Comparison], Payload | None]] = {
    "the verdict": lambda comparison: comparison.document,
    "its fixture": lambda comparison: comparison.revision.payload,
    "a manifest": lambda comparison: comparison.runs().filter(run_set__control=None)[0].manifest,
    "a manifest on a control": lambda comparison: comparison.runs().exclude(run_set__control=None)[0].manifest,
    "the fixture of another case's run": lambda comparison: comparison.runs()[0].run_set.revision.payload,
    "a control": lambda comparison: comparison.revision.controls.get().payload,
    "a control's mutation": lambda comparison: comparison.revision.controls.get().mutation,
}


@pytest.mark.parametrize("part", PARTS)
def test_a_verdict_is_restricted_like_each_of_its_parts(comparison: Comparison, viewer: User, part: str) -> None:
    assert comparison.runs()[0].run_set.revision != comparison.revision
    assert reading.readable_by(comparison, viewer)
    factories.restrict(PARTS[part](comparison))
    assert not reading.readable_by(comparison, viewer)


def test_a_verdict_without_controls_is_not_restricted_by_them(comparison: Comparison, viewer: User) -> None:
    factories.restrict(comparison.revision.controls.get().payload)
    comparison.with_controls = False
    assert reading.readable_by(comparison, viewer)


def test_a_manifest_is_restricted_with_what_it_replayed_and_with_nothing_else(
    comparison: Comparison, viewer: User
) -> None:
    factories.restrict(comparison.revision.controls.get().payload)
    readable = {(run.run_set.control_id is None, reading.readable_by(run, viewer)) for run in comparison.runs()}
    assert readable == {(True, True), (False, False)}
    factories.restrict(comparison.revision.payload)
    own = comparison.runs().filter(run_set__comparison=comparison)
    assert not any(reading.readable_by(run, viewer) for run in own)


def test_a_verdict_is_stored_as_restricted_as_its_parts(project: Project, everyone: User) -> None:
    secret = factories.case(project, everyone, classification=QUARANTINED)
    public = factories.case(project, everyone, same_fixture(), classification=PUBLIC)
    old, new = (
        factories.implementation(project, everyone, code, version=version)
        for code, version in ((factories.OLD_CODE, "1"), (factories.NEW_CODE, "2"))
    )
    jobs.request_run_set(everyone, revision=factories.revision(secret), implementation=new, size=1)
    kept = recorded.finish(recorded.requested(public, everyone, old, new), recorded.RED, recorded.GREEN).document
    assert kept is not None
    assert kept.classification == QUARANTINED
