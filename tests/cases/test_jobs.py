from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.models import ApiToken, User
from replaycases.accounts.roles import Role
from replaycases.cases import jobs
from replaycases.cases.clock import Now, after
from replaycases.cases.models import AuditEvent, Payload, Run, RunSet, RunState
from replaycases.cases.policies import InvalidTransition
from tests import factories

pytestmark = pytest.mark.django_db

RESULT = jobs.Result(
    manifest=b"{}",
    status="completed",
    boundary_passed=True,
    observation_hash="sha256:1",
    behaviour="sha256:3",
    matching_policy="sha256:2",
)


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


@pytest.fixture
def run_set(actor: User) -> RunSet:
    project = actor.memberships.first().project
    revision = factories.revision(factories.case(project, actor))
    return jobs.request_run_set(
        actor, revision=revision, implementation=factories.implementation(project, actor), size=1
    )


@pytest.fixture
def run(run_set: RunSet) -> Run:
    return run_set.runs.get()


def _taken(run: Run, *, worker: str = "w") -> jobs.Lease:
    held = jobs.lease(run.pk, worker=worker)
    assert held is not None
    return held


def _expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_a_run_is_leased_once(run: Run) -> None:
    held = _taken(run)
    assert (held.token, held.attempt) == (1, 1)
    assert jobs.lease(run.pk, worker="another") is None


def test_an_unknown_run_is_not_leased() -> None:
    assert jobs.lease(uuid4(), worker="w") is None


def test_a_run_that_is_not_due_is_not_leased(run: Run) -> None:
    Run.objects.update(not_before=timezone.now() + timedelta(hours=1))
    assert jobs.lease(run.pk, worker="w") is None


def test_a_result_is_written_once(run: Run) -> None:
    held = _taken(run)
    jobs.finish(held, RESULT)
    with pytest.raises(jobs.LeaseLost):
        jobs.finish(held, RESULT)
    run.refresh_from_db()
    assert (run.state, run.status, run.leased_until) == (RunState.FINISHED, "completed", None)


def test_a_write_under_an_older_token_is_refused_and_keeps_no_manifest(run: Run) -> None:
    late = _taken(run)
    _expire(run)
    jobs.sweep()
    current = _taken(run, worker="another")
    assert current.token == late.token + 1
    with pytest.raises(jobs.LeaseLost):
        jobs.finish(late, RESULT)
    assert not Payload.objects.filter(digest__startswith="sha256:44136f").exists()
    with pytest.raises(jobs.LeaseLost):
        jobs.heartbeat(late, progress="x")
    with pytest.raises(jobs.LeaseLost):
        jobs.fail(late, "late")
    jobs.finish(current, RESULT)


def test_a_heartbeat_moves_the_lease_on(run: Run) -> None:
    held = _taken(run)
    _expire(run)
    assert jobs.heartbeat(held, progress="replaying") is True
    jobs.sweep()
    run.refresh_from_db()
    assert run.state == RunState.LEASED


def test_the_sweep_leaves_a_living_lease_alone(run: Run) -> None:
    _taken(run)
    jobs.sweep()
    run.refresh_from_db()
    assert run.state == RunState.LEASED


@pytest.mark.parametrize("lost", [True, False], ids=["worker lost", "attempt failed"])
def test_a_run_stops_after_three_attempts_with_its_reason(run: Run, lost: bool) -> None:
    for attempt in (1, 2, 3):
        Run.objects.filter(pk=run.pk).update(not_before=Now())
        held = _taken(run)
        assert held.attempt == attempt
        if lost:
            _expire(run)
            jobs.sweep()
        else:
            jobs.fail(held, "no space")
    run.refresh_from_db()
    assert run.state == RunState.QUARANTINED
    assert "attempt 3 of 3" in run.reason
    assert jobs.lease(run.pk, worker="w") is None


def test_a_failed_attempt_waits_before_the_next(run: Run) -> None:
    jobs.fail(_taken(run), "no space")
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    assert run.not_before > timezone.now() - timedelta(seconds=1)
    assert jobs.lease(run.pk, worker="w") is None


def test_cancelling_ends_a_queued_run_at_once(actor: User, run_set: RunSet, run: Run) -> None:
    assert jobs.cancel(actor, subject=run_set) == 1
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    assert jobs.lease(run.pk, worker="w") is None


def test_cancelling_asks_a_running_run_to_stop(actor: User, run_set: RunSet, run: Run) -> None:
    held = _taken(run)
    jobs.cancel(actor, subject=run_set)
    assert jobs.heartbeat(held, progress="replaying") is False
    jobs.finish_cancelled(held)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_a_cancelled_run_of_a_lost_worker_is_not_tried_again(actor: User, run_set: RunSet, run: Run) -> None:
    _taken(run)
    jobs.cancel(actor, subject=run_set)
    _expire(run)
    jobs.sweep()
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_cancelling_a_comparison_leaves_alone_what_others_asked_for(actor: User, run_set: RunSet) -> None:
    sides = {"revision": run_set.revision, "old": run_set.implementation, "new": None}
    mine, theirs = (jobs.request_comparison(actor, **sides) for _ in range(2))
    assert mine.runs().count() == theirs.runs().count() == 5
    assert jobs.cancel(actor, subject=mine) == 2
    left = Run.objects.filter(state=RunState.QUEUED).values_list("run_set__comparison", flat=True)
    assert sorted(left, key=str) == sorted([None, theirs.pk, theirs.pk], key=str)


def test_a_run_whose_message_stays_unanswered_gets_another_one(run: Run, settings: Any) -> None:
    Run.objects.update(sent_at=after(-settings.REPLAYCASES_RESEND_SECONDS + 5))
    assert jobs._unanswered() == []
    Run.objects.update(sent_at=after(-settings.REPLAYCASES_RESEND_SECONDS - 5))
    assert jobs._unanswered() == [run.pk]


def test_requesting_writes_rows_and_audit_event_together(run_set: RunSet) -> None:
    assert AuditEvent.objects.filter(action="run_set.requested", object_id=str(run_set.pk)).count() == 1


def test_readable_numbers_go_on_without_gaps(actor: User, run_set: RunSet) -> None:
    again = jobs.request_run_set(actor, revision=run_set.revision, implementation=run_set.implementation, size=3)
    assert list(again.runs.values_list("number", "index")) == [(2, 0), (3, 1), (4, 2)]


@pytest.mark.parametrize("size", [0, -1, 51])
def test_a_set_of_an_impossible_size_is_refused(actor: User, run_set: RunSet, size: int) -> None:
    with pytest.raises(ValidationError):
        jobs.request_run_set(actor, revision=run_set.revision, implementation=run_set.implementation, size=size)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ADMINISTRATOR, Role.PRIVACY_REVIEWER])
def test_a_role_without_the_right_requests_and_cancels_nothing(run_set: RunSet, role: Role) -> None:
    other = factories.person(run_set.project, role)
    with pytest.raises(PermissionDenied):
        jobs.request_run_set(other, revision=run_set.revision, implementation=run_set.implementation, size=1)
    with pytest.raises(PermissionDenied):
        jobs.cancel(other, subject=run_set)


def test_a_superuser_requests_nothing_by_that_alone(run_set: RunSet) -> None:
    root = User.objects.create_superuser("root", "root@example.invalid")
    with pytest.raises(PermissionDenied):
        jobs.request_run_set(root, revision=run_set.revision, implementation=run_set.implementation, size=1)


def test_an_implementation_of_another_project_is_refused(actor: User, run_set: RunSet) -> None:
    elsewhere = factories.project("OTHER")
    foreign = factories.implementation(elsewhere, factories.everyone(elsewhere))
    with pytest.raises(ValidationError):
        jobs.request_run_set(actor, revision=run_set.revision, implementation=foreign, size=1)


def test_a_token_voids_nothing(run_set: RunSet, actor: User) -> None:
    actor.token = ApiToken(project=run_set.project, user=actor)
    with pytest.raises(PermissionDenied, match="A token never decides"):
        jobs.void(actor, run_set=run_set, reason="bad host")
    run_set.refresh_from_db()
    assert run_set.voided_at is None


def test_voiding_needs_qa_and_a_reason(run_set: RunSet, actor: User) -> None:
    with pytest.raises(PermissionDenied):
        jobs.void(factories.person(run_set.project, Role.WORKFLOW_ENGINEER), run_set=run_set, reason="bad host")
    with pytest.raises(ValidationError):
        jobs.void(actor, run_set=run_set, reason="  ")
    jobs.void(actor, run_set=run_set, reason="bad host")
    with pytest.raises(InvalidTransition):
        jobs.void(actor, run_set=run_set, reason="again")
