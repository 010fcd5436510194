"""The promises about jobs, on both pairs of database and broker, with real worker processes."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

from replaycases.accounts.models import User
from replaycases.cases import bell, evidence, jobs
from replaycases.cases.models import Comparison, Payload, Run, RunSet, RunState
from replaycases.verdict import manifest
from tests import factories
from tests.cases.deployment import Deployment, alive, tree

pytestmark = [pytest.mark.timeout(240)]

SLOW_CODE = """
import time

def replay(session):
    session.tools.call("refund.lookup", {"order": "o-1"})
    time.sleep(%s)
    session.finish(message="I could not confirm the refund yet.", status="open")
"""


def _actor() -> User:
    return factories.everyone(factories.project())


def _comparison() -> Comparison:
    actor = _actor()
    project = actor.memberships.first().project
    case = factories.case(project, actor)
    old = factories.implementation(project, actor, factories.OLD_CODE, version="1")
    new = factories.implementation(project, actor, factories.NEW_CODE, version="2")
    return jobs.request_comparison(actor, revision=factories.revision(case), old=old, new=new)


def _run_set(code: str = factories.NEW_CODE, *, size: int = 1) -> RunSet:
    actor = _actor()
    project = actor.memberships.first().project
    revision = factories.revision(factories.case(project, actor))
    return jobs.request_run_set(
        actor, revision=revision, implementation=factories.implementation(project, actor, code), size=size
    )


def _all_finished() -> bool:
    return not Run.objects.exclude(state=RunState.FINISHED).exists()


def _leased() -> bool:
    return Run.objects.filter(state=RunState.LEASED, progress="replaying").exists()


def test_a_requested_comparison_is_replayed_by_a_worker_and_gets_its_verdict(deployment: Deployment) -> None:
    deployment.start_worker()
    comparison = _comparison()
    deployment.wait_until(lambda: Comparison.objects.get().state == "computed")
    comparison.refresh_from_db()
    assert comparison.label == "verified_red_to_green"
    assert set(Run.objects.values_list("state", "status", "attempts")) == {(RunState.FINISHED, "completed", 1)}


def test_a_broker_that_is_down_when_the_button_is_pressed_loses_no_run(deployment: Deployment) -> None:
    deployment.stop_broker()
    _run_set(size=2)
    assert list(Run.objects.values_list("state", "sent_at")) == [(RunState.QUEUED, None)] * 2
    deployment.start_broker()
    deployment.start_worker()
    deployment.wait_until(_all_finished)


def test_a_broker_that_lost_its_messages_loses_no_run(deployment: Deployment) -> None:
    _run_set(size=2)
    assert not Run.objects.filter(sent_at=None).exists()
    deployment.stop_broker()
    deployment.start_broker()
    deployment.start_worker()
    deployment.wait_until(_all_finished)


def test_a_worker_outlives_its_broker_and_goes_on_when_there_is_one_again(deployment: Deployment) -> None:
    worker = deployment.start_worker()
    first = _run_set()
    deployment.wait_until(_all_finished)
    deployment.stop_broker()
    deployment.wait_until(lambda: "Connection to broker lost" in deployment.log())
    jobs.request_run_set(first.requested_by, revision=first.revision, implementation=first.implementation, size=1)
    deployment.start_broker()
    deployment.wait_until(_all_finished)
    assert Run.objects.count() == 2
    assert worker.poll() is None


def test_a_message_delivered_twenty_times_makes_one_result(deployment: Deployment) -> None:
    run = _run_set().runs.get()
    bell.ring([run.pk] * 19)
    deployment.start_worker(beat=False)
    deployment.start_worker(beat=False)
    deployment.wait_until(lambda: deployment.log().count("succeeded in") == 20)
    run.refresh_from_db()
    assert (run.state, run.attempts, run.lease_token) == (RunState.FINISHED, 1, 1)
    assert Payload.objects.filter(media_type=evidence.MANIFEST_TYPE).count() == 1


def test_a_run_longer_than_its_lease_keeps_it_while_its_worker_is_there(deployment: Deployment) -> None:
    deployment.start_worker(env={"REPLAYCASES_LEASE_SECONDS": "2"})
    _run_set(SLOW_CODE % 5)
    deployment.wait_until(_all_finished)
    assert Run.objects.get().attempts == 1


def test_a_worker_paused_past_its_lease_cannot_write_when_it_resumes(deployment: Deployment) -> None:
    paused = deployment.start_worker(beat=False)
    _run_set(SLOW_CODE % 2)
    deployment.wait_until(_leased)
    os.killpg(paused.pid, signal.SIGSTOP)
    deployment.start_worker()
    deployment.wait_until(_all_finished)
    before = Run.objects.values().get()
    os.killpg(paused.pid, signal.SIGCONT)
    deployment.wait_until(lambda: "its late result is refused" in deployment.log())
    assert Run.objects.values().get() == before
    assert (before["attempts"], before["lease_token"]) == (2, 2)
    assert Payload.objects.filter(media_type=evidence.MANIFEST_TYPE).count() == 1


def test_a_run_that_kills_its_worker_each_time_is_quarantined_after_three_attempts(deployment: Deployment) -> None:
    deployment.start_worker()
    run = _run_set(SLOW_CODE % 60).runs.get()
    for attempt in (1, 2, 3):
        deployment.wait_until(
            lambda attempt=attempt: Run.objects.filter(attempts=attempt, progress="replaying").exists()
        )
        run.refresh_from_db()
        os.kill(int(run.worker.rpartition(":")[2]), signal.SIGKILL)
    deployment.wait_until(lambda: Run.objects.get().ended)
    run.refresh_from_db()
    assert (run.state, run.attempts, run.manifest) == (RunState.QUARANTINED, 3, None)
    assert "attempt 3 of 3" in run.reason


def test_a_cancelled_run_stops_while_it_runs(deployment: Deployment) -> None:
    deployment.start_worker()
    run_set = _run_set(SLOW_CODE % 60)
    deployment.wait_until(_leased)
    jobs.cancel(run_set.requested_by, subject=run_set)
    deployment.wait_until(lambda: Run.objects.get().ended)
    assert Run.objects.get().state == RunState.CANCELLED


def test_a_stopped_worker_finishes_what_it_has_in_hand(deployment: Deployment) -> None:
    worker = deployment.start_worker(beat=False)
    _run_set(SLOW_CODE % 1)
    deployment.wait_until(_leased)
    worker.terminate()
    assert worker.wait(30) == 0
    assert _all_finished()


def test_workers_killed_at_random_moments_leave_no_process_and_no_half_manifest(deployment: Deployment) -> None:
    rounds = int(os.environ.get("REPLAYCASES_TEST_KILLS", "5"))
    run_set = _run_set(SLOW_CODE % 0.7, size=2)
    moments = random.Random(20250211)
    for _ in range(rounds):
        worker = deployment.start_worker()
        deployment.wait_until(_leased)
        jobs.request_run_set(
            run_set.requested_by, revision=run_set.revision, implementation=run_set.implementation, size=2
        )
        time.sleep(moments.uniform(0, 1.2))
        everything = tree(worker.pid)
        worker.kill()
        worker.wait()
        deployment.wait_until(lambda pids=everything: not any(alive(pid) for pid in pids))
    deployment.start_worker()
    for pk in Run.objects.order_by("number").values_list("pk", flat=True):  # each has its own patience: many wait
        deployment.wait_until(lambda pk=pk: Run.objects.get(pk=pk).ended)
    kept = Payload.objects.filter(media_type=evidence.MANIFEST_TYPE)
    assert {manifest.parse(evidence.read(payload)).run_id for payload in kept} == {
        str(pk) for pk in Run.objects.filter(state=RunState.FINISHED).values_list("pk", flat=True)
    }
    assert not Run.objects.exclude(state=RunState.FINISHED).exclude(attempts=jobs.MAX_ATTEMPTS).exists()
