"""What runs show: the verdict, repetitions, history. What waits, varies or was voided opens nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.cases import (
    gates,
    intake,
    jobs,
    proposals,
)
from replaycases.cases.models import (
    Case,
    Comparison,
    LaneName,
    Provenance,
    Run,
    RunSet,
    RunState,
)
from replaycases.verdict.labels import Label
from tests import factories, in_process
from tests.cases.gates.asking import (
    ended,
    gate,
    queued,
    standing,
)
from tests.factories import People

pytestmark = pytest.mark.django_db


# --- green ------------------------------------------------------------------------------------------------------------


def test_affected_and_fixed_were_never_compared(of: People, captured: Case) -> None:
    factories.describe(of, captured)
    for name in ("current_passes", "deterministic"):
        assert gate(captured, "blocking", name, of.qa).state == "unsatisfied"


@pytest.mark.parametrize("label", [label for label in Label if label is not Label.VERIFIED_RED_TO_GREEN])
def test_only_verified_red_to_green_lets_a_case_block(of: People, label: Label) -> None:
    case = factories.nonblocking(of)
    assert gate(case, "blocking", "current_passes", of.qa).state == "satisfied"
    Comparison.objects.update(label=label, reason="So it is.")
    found = gate(case, "blocking", "current_passes", of.qa)
    assert found.state == "unsatisfied"
    assert found.detail.endswith("So it is.")


def test_a_verdict_that_waits_lets_nothing_block(of: People) -> None:
    case = factories.nonblocking(of)
    queued(of, case, 1)
    for name in ("current_passes", "deterministic", "controls_pass", "repeated_runs"):
        assert gate(case, "blocking", name, of.qa).state == "unsatisfied"


def test_a_verdict_without_controls_is_not_the_one(of: People) -> None:
    case = factories.nonblocking(of)
    Comparison.objects.update(with_controls=False)
    assert gate(case, "blocking", "current_passes", of.qa).state == "unsatisfied"


@pytest.mark.parametrize("label", ["compatible_pass", "compatible_fail"])
def test_a_provider_backed_case_can_only_stand_in_compatibility(of: People, label: str) -> None:
    case = factories.nonblocking(of)
    assert gate(case, "compatibility", "provider_backed", of.qa).state == "unsatisfied"
    Comparison.objects.update(label=label, reason="The serving is not known.")
    for name in ("deterministic", "current_passes"):
        found = gate(case, "blocking", name, of.qa)
        assert (found.state, "tool catalogue" in found.remedy) == ("unsatisfied", True)
    found = gate(case, "compatibility", "provider_backed", of.qa)
    assert found.state == "satisfied"
    assert "never block" in found.detail


def test_without_a_verdict_nobody_knows_what_it_depends_on(of: People, captured: Case) -> None:
    assert gate(captured, "compatibility", "provider_backed", of.qa).state == "unsatisfied"


# --- repetitions and history ------------------------------------------------------------------------------------------


@pytest.fixture
def inside(of: People) -> Case:
    """In nonblocking; two runs of the fixed version stand, of its comparison."""
    return factories.nonblocking(of)


def repeated(of: People, case: Case) -> gates.Gate:
    return gate(case, "blocking", "repeated_runs", of.qa)


def observed(case: Case) -> str:
    return str(Run.objects.filter(run_set__implementation=case.provenance.fixed)[0].observation_hash)


def test_enough_runs_with_one_observation(of: People, inside: Case) -> None:
    assert repeated(of, inside).detail.startswith("2 of 5 runs")
    assert repeated(of, inside).state == "unsatisfied"
    queued(of, inside, 3)
    in_process.replay_all()
    assert repeated(of, inside).state == "satisfied"


ENDINGS: dict[str, dict[str, Any]] = {
    "violated": {"passed": False},
    "undetermined": {"passed": None},
    "another observation": {"observed": "sha256:other"},
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_one_run_that_differs_or_does_not_hold_spoils_the_repetition(of: People, inside: Case, ending: str) -> None:
    queued(of, inside, 3)
    in_process.replay_all()
    (odd,) = queued(of, inside, 1)
    ended(odd, **{"observed": observed(inside), **ENDINGS[ending]})
    assert repeated(of, inside).state == "unsatisfied"


def test_a_run_that_gave_no_result_is_not_left_out(of: People, inside: Case) -> None:
    queued(of, inside, 3)
    in_process.replay_all()
    (lost,) = queued(of, inside, 1)
    for _ in range(3):
        Run.objects.filter(pk=lost.pk).update(not_before=lost.created_at)
        jobs.fail(jobs.lease(lost.pk, worker="w"), "its worker died")
    found = repeated(of, inside)
    assert (found.state, found.evidence[0].number) == ("unsatisfied", lost.number)


def test_runs_without_an_environment_are_shown_and_not_counted(of: People, inside: Case) -> None:
    for run in queued(of, inside, 3):
        ended(run, status="environment_unavailable", passed=None, observed="sha256:none")
    found = repeated(of, inside)
    assert found.detail.startswith("2 of 5 runs")
    assert "3 more said nothing" in found.detail


def test_voided_runs_do_not_count(of: People, inside: Case) -> None:
    runs = queued(of, inside, 3)
    in_process.replay_all()
    jobs.void(of.qa, run_set=runs[0].run_set, reason="The wrong build.")
    in_process.replay_all()
    assert repeated(of, inside).detail.startswith("2 of 5 runs")


def test_who_voided_a_set_does_not_promote_on_what_is_left_and_all_see_it(of: People, inside: Case) -> None:
    factories.with_history(of, inside)
    (unlucky,) = queued(of, inside, 1)
    ended(unlucky, passed=False, observed=observed(inside))
    assert repeated(of, inside).state == "unsatisfied"
    jobs.void(of.qa, run_set=unlucky.run_set, reason="It ran on a broken host.")
    left = repeated(of, inside)
    assert left.state == "satisfied"
    assert f"{of.qa} voided a set of 1: It ran on a broken host." in left.detail
    by = {who: gate(inside, "blocking", "promoter", who).state for who in (of.qa, of.lead)}
    assert by == {of.qa: "unsatisfied", of.lead: "satisfied"}


def test_who_voided_a_set_on_a_control_does_not_promote_either(of: People, inside: Case) -> None:
    beside = RunSet.objects.filter(control__isnull=False).first()
    assert beside is not None
    jobs.void(of.qa, run_set=beside, reason="It ran on a broken host.")
    assert gate(inside, "blocking", "promoter", of.qa).state == "unsatisfied"
    assert gate(inside, "blocking", "promoter", of.lead).state == "satisfied"


def test_repetitions_are_of_the_fixed_version(of: People, inside: Case) -> None:
    Provenance.objects.update(fixed=None)
    assert repeated(of, inside).state == "unsatisfied"


def history(of: People, case: Case) -> gates.Gate:
    return gate(case, "blocking", "history", of.qa)


def test_a_case_outside_nonblocking_has_no_history(of: People) -> None:
    assert history(of, factories.reproduced(of)).detail == "This revision does not stand in nonblocking."


def test_the_stay_of_an_earlier_revision_is_no_history_of_this_one(of: People, inside: Case) -> None:
    intake.add_revision(of.engineer, case=inside, fixture=factories.fixture(expected=factories.EXPECTED_MORE))
    assert history(of, inside).detail == "This revision does not stand in nonblocking."


@pytest.mark.parametrize("name", ["containment", "redaction_approval", "promoter", "deterministic"])
def test_nothing_stands_in_for_an_approval_or_for_determinism(name: gates.GateName) -> None:
    assert not any(gates.may_override(name, "error", target) for target in gates.GATES)


def test_history_counts_the_runs_of_this_stay(of: People, inside: Case) -> None:
    queued(of, inside, 9, entry=standing(inside))
    in_process.replay_all()
    assert history(of, inside).detail.startswith("9 of 10 runs counted")
    assert history(of, inside).state == "unsatisfied"
    queued(of, inside, 1, entry=standing(inside))
    in_process.replay_all()
    assert history(of, inside).state == "satisfied"


def test_runs_outside_the_lane_are_no_history(of: People, inside: Case) -> None:
    queued(of, inside, 10)
    in_process.replay_all()
    assert history(of, inside).detail.startswith("0 of 10 runs counted")


def test_a_stay_that_ended_leaves_no_history_to_the_next(of: People) -> None:
    case = factories.blocking(of)
    until = timezone.now() + timedelta(days=20)
    proposal = proposals.propose_demotion(of.qa, case=case, reason="It flickers.", until=until, owner=of.engineer)
    proposals.confirm(of.lead, proposal=proposal)
    assert history(of, case).detail.startswith("0 of 10 runs counted")


@pytest.mark.parametrize("passed", [False, None], ids=["violated", "undetermined"])
def test_a_run_in_the_lane_that_did_not_hold_blocks_and_is_said(of: People, inside: Case, passed: bool | None) -> None:
    queued(of, inside, 10, entry=standing(inside))
    in_process.replay_all()
    (odd,) = queued(of, inside, 1, entry=standing(inside))
    ended(odd, passed=passed)
    found = history(of, inside)
    assert (found.state, found.evidence[0].number) == ("unsatisfied", odd.number)
    assert "1 of them did not hold" in found.detail


def lost_environment(of: People, runs: list[Run]) -> None:
    for run in runs:
        ended(run, status="environment_unavailable", passed=None)


def cancelled(of: People, runs: list[Run]) -> None:
    jobs.cancel(of.qa, subject=runs[0].run_set)


def voided(of: People, runs: list[Run]) -> None:
    in_process.replay_all()
    jobs.void(of.qa, run_set=runs[0].run_set, reason="The wrong build.")


def outstanding(of: People, runs: list[Run]) -> None:
    assert all(run.state == RunState.QUEUED for run in runs)


@pytest.mark.parametrize("happened", [lost_environment, cancelled, voided, outstanding])
def test_what_says_nothing_is_shown_in_the_history_and_not_counted(
    of: People, inside: Case, happened: Callable[[People, list[Run]], None]
) -> None:
    happened(of, queued(of, inside, 10, entry=standing(inside)))
    found = history(of, inside)
    assert found.state == "unsatisfied"
    assert found.detail.startswith("0 of 10 runs counted")
    assert "10 more did not count" in found.detail


def test_a_lane_asks_for_as_much_as_its_policy_says(of: People) -> None:
    case = factories.nonblocking(of)
    factories.with_history(of, case)
    factories.promoted(of, case, LaneName.BLOCKING)
    lane = standing(case).lane
    lane.minimum_history, lane.repeated_runs = 40, 30
    lane.save()
    assert repeated(of, case).detail.startswith("12 of 30 runs")


@pytest.mark.parametrize("target", ["nonblocking", "blocking", "compatibility"])
def test_a_name_that_another_case_bears_in_a_lane_is_not_free(of: People, target: gates.Target) -> None:
    first, second = factories.nonblocking(of), factories.reproduced(of)
    found = gate(second, target, "only_name", of.qa)
    assert found.state == "unsatisfied"
    assert found.detail.startswith(f"{first.readable_id} stands in a lane under the same case_id, refund-claimed")
    assert gate(first, target, "only_name", of.qa).state == "satisfied"


# --- cost -------------------------------------------------------------------------------------------------------------


def test_the_gates_of_many_cases_take_as_many_queries_as_those_of_one(of: People) -> None:
    cases = [factories.reproduced(of, factories.fixture(case_id=f"case-{number}")) for number in range(3)]
    factories.promoted(of, cases[0], LaneName.NONBLOCKING)
    counted = []
    for some in (cases[:1], cases):
        with CaptureQueriesContext(connection) as queries:
            gates.gates_of_many(some, "blocking", actor=of.qa)
        counted.append(len(queries))
    assert counted == [5, 5]
