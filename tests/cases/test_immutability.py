from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from replaycases.accounts.models import User
from replaycases.cases import intake, jobs
from replaycases.cases.models import Control, FixtureRevision, OutcomeType, Run, RunSet, RunState
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


@pytest.fixture
def run_set(actor: User) -> RunSet:
    project = actor.memberships.first().project
    revision = factories.revision(factories.case(project, actor))
    return jobs.request_run_set(
        actor, revision=revision, implementation=factories.implementation(project, actor), size=2
    )


def refused(statement: str) -> None:
    """The database itself says no."""
    with pytest.raises(IntegrityError, match="immutable"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE cases_fixturerevision SET fixture_hash = 'sha256:0'", "DELETE FROM cases_fixturerevision"],
)
def test_a_revision_is_changed_by_nobody(run_set: RunSet, statement: str) -> None:
    refused(statement)
    assert FixtureRevision.objects.get().fixture_hash != "sha256:0"


def test_a_control_is_changed_by_nobody(actor: User, run_set: RunSet) -> None:
    intake.add_control(
        actor,
        revision=run_set.revision,
        name="success",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="other"),
    )
    refused("UPDATE cases_control SET name = 'x'")
    refused("DELETE FROM cases_control")
    assert Control.objects.get().name == "success"


def test_a_run_that_has_ended_is_changed_by_nobody(actor: User, run_set: RunSet) -> None:
    jobs.cancel(actor, subject=run_set)
    refused("UPDATE cases_run SET state = 'queued', finished_at = NULL")
    refused("DELETE FROM cases_run")
    assert set(Run.objects.values_list("state", flat=True)) == {RunState.CANCELLED}


def test_a_run_set_is_not_resized_or_deleted(run_set: RunSet) -> None:
    refused("UPDATE cases_runset SET size = 1")
    refused("DELETE FROM cases_runset")
    assert RunSet.objects.get().size == run_set.size


def test_a_run_set_is_voided_once_and_its_reason_stays(actor: User, run_set: RunSet) -> None:
    jobs.void(actor, run_set=run_set, reason="The worker's host had no disk space.")
    refused("UPDATE cases_runset SET void_reason = 'another'")
    refused("UPDATE cases_runset SET voided_at = NULL, voided_by_id = NULL, void_reason = ''")
    assert RunSet.objects.get().void_reason == "The worker's host had no disk space."


def test_migrating_again_keeps_the_triggers(run_set: RunSet) -> None:
    call_command("migrate", verbosity=0)
    refused("DELETE FROM cases_fixturerevision")
    assert FixtureRevision.objects.get() == run_set.revision


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("UPDATE cases_run SET state = 'finished', finished_at = created_at", "run_finished_iff_manifest"),
        ("UPDATE cases_run SET attempts = 4, lease_token = 4", "run_attempts_bounded"),
        ("UPDATE cases_run SET state = 'leased'", "run_leased_iff_deadline"),
        ("UPDATE cases_run SET state = 'done'", "run_state_known"),
    ],
)
def test_the_database_refuses_a_run_that_cannot_be(run_set: RunSet, statement: str, constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
