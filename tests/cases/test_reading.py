from __future__ import annotations

import json

import pytest
from django.core.exceptions import PermissionDenied

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import evidence, intake, reading
from replaycases.cases.models import Classification, Comparison, OutcomeType, Run
from tests import factories
from tests.web import recorded

pytestmark = pytest.mark.django_db

QUARANTINED, REDACTED, PUBLIC = Classification


@pytest.fixture
def project() -> Project:
    return factories.project()


@pytest.fixture
def everyone(project: Project) -> User:
    return factories.everyone(project)


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


def test_a_verdict_is_restricted_like_every_run_it_reads(project: Project, everyone: User, viewer: User) -> None:
    secret = factories.case(project, everyone, classification=QUARANTINED)
    first = recorded.compared(secret, everyone)
    assert first.old is not None
    assert first.new is not None
    public = factories.case(project, everyone, same_fixture(), classification=PUBLIC)
    second = recorded.finish(recorded.requested(public, everyone, first.old, first.new), recorded.RED, recorded.GREEN)
    assert reading.readable_by(second.revision, viewer)
    assert not reading.readable_by(second, viewer)
    assert second.document is not None
    assert second.document.classification == QUARANTINED


def test_a_verdict_is_restricted_like_the_controls_it_reads(project: Project, everyone: User, viewer: User) -> None:
    case = factories.case(project, everyone, classification=PUBLIC)
    intake.add_control(
        everyone,
        revision=factories.revision(case),
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="control-1"),
        classification=QUARANTINED,
    )
    comparison = recorded.compared(case, everyone)
    assert reading.readable_by(comparison.revision, viewer)
    assert not reading.readable_by(comparison, viewer)
    readable = {run.run_set.control_id is None: reading.readable_by(run, viewer) for run in comparison.runs()}
    assert readable == {True: True, False: False}


def test_what_was_made_from_a_fixture_is_restricted_with_it_afterwards(
    project: Project, everyone: User, viewer: User
) -> None:
    comparison = recorded.compared(factories.case(project, everyone, classification=PUBLIC), everyone)
    subjects: list[Comparison | Run] = [comparison, comparison.runs()[0]]
    assert all(reading.readable_by(subject, viewer) for subject in subjects)
    evidence.store(project, factories.fixture(), media_type=evidence.JSON_TYPE, classification=QUARANTINED)
    assert not any(reading.readable_by(subject, viewer) for subject in subjects)
