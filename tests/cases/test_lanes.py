"""History, the daily run, and the policy of a lane."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.models import ApiToken, User
from replaycases.cases import details, intake, jobs, lane_export, lanes, lifecycle, proposals
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Lane,
    LaneEntry,
    LaneName,
    Provenance,
    Run,
    RunSet,
    RunState,
)
from replaycases.cases.policies import InvalidTransition
from tests import factories, in_process
from tests.factories import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def of() -> People:
    return factories.people(factories.project())


@pytest.fixture
def inside(of: People) -> Case:
    return factories.nonblocking(of)


def standing(case: Case, lane: LaneName = LaneName.NONBLOCKING) -> LaneEntry:
    return LaneEntry.objects.select_related("lane", "case").get(case=case, lane__name=lane, left_at=None)


def demoted(of: People) -> Case:
    case = factories.blocking(of)
    until = timezone.now() + timedelta(days=20)
    proposal = proposals.propose_demotion(of.qa, case=case, reason="It flickers.", until=until, owner=of.engineer)
    proposals.confirm(of.lead, proposal=proposal)
    return factories.fresh(case)


def retire(of: People, case: Case) -> None:
    proposal = proposals.propose_retirement(of.lead, case=case, reason="Nothing asks for it any more.")
    proposals.confirm(of.owner, proposal=proposal)


def in_a_day() -> time_machine.travel:
    return time_machine.travel(timezone.now() + timedelta(hours=25))


# --- history --------------------------------------------------------------------------------------------------------


def test_history_shows_every_run_of_the_stay_and_says_which_do_not_count(of: People, inside: Case) -> None:
    lanes.request_history(of.qa, case=inside, runs=3)
    in_process.replay_all()
    other = jobs.request_run_set(
        of.qa,
        revision=factories.revision(inside),
        implementation=inside.provenance.affected,
        size=1,
        lane_entry=standing(inside),
    )
    unfinished = lanes.request_history(of.qa, case=inside, runs=1)
    found = lanes.history(standing(inside))
    assert (len(found.runs), found.counted, found.needed, found.missing, found.outstanding) == (5, 3, 10, 7, 2)
    assert found.uncounted == {other.runs.get().pk: "not the fixed version", unfinished.runs.get().pk: "has not ended"}


def test_history_is_asked_of_the_fixed_version_for_the_stay(of: People, inside: Case) -> None:
    asked = lanes.request_history(of.qa, case=inside, runs=4)
    assert (asked.implementation, asked.lane_entry, asked.size) == (inside.provenance.fixed, standing(inside), 4)
    assert asked.requested_by == of.qa
    event = AuditEvent.objects.filter(action="run_set.requested").latest("sequence")
    assert '"lane":"nonblocking"' in event.after


def test_the_stay_of_the_current_revision_comes_before_a_stricter_one_of_an_older(of: People) -> None:
    case = factories.blocking(of)
    assert lanes.request_history(of.qa, case=case, runs=1).lane_entry == standing(case, LaneName.BLOCKING)
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    newer = factories.fresh(case).current_revision
    assert newer is not None
    older = lanes.request_history(of.qa, case=case, runs=1)
    assert (older.lane_entry, older.revision.number) == (standing(case, LaneName.BLOCKING), 1)
    lane = Lane.objects.get(name=LaneName.NONBLOCKING)
    entry = LaneEntry.objects.create(lane=lane, case=case, revision=newer, entered_by=of.qa, entered_at=timezone.now())
    assert lanes.request_history(of.qa, case=case, runs=1).lane_entry == entry


def test_outside_every_lane_there_is_no_history_to_ask_for(of: People) -> None:
    with pytest.raises(InvalidTransition, match="stands in a lane"):
        lanes.request_history(of.qa, case=factories.reproduced(of), runs=1)


def test_without_a_fixed_version_there_is_nothing_to_run(of: People, inside: Case) -> None:
    Provenance.objects.update(fixed=None)
    with pytest.raises(ValidationError, match="fixed version"):
        lanes.request_history(of.qa, case=inside, runs=1)


def test_only_who_asks_for_replays_asks_for_history(of: People, inside: Case) -> None:
    with pytest.raises(PermissionDenied):
        lanes.request_history(of.privacy, case=inside, runs=1)
    assert not RunSet.objects.filter(lane_entry__isnull=False).exists()


def test_a_set_belongs_only_to_a_stay_that_is_open_and_its_own(of: People, inside: Case) -> None:
    entry = standing(inside)
    LaneEntry.objects.filter(pk=entry.pk).update(left_at=timezone.now(), left_by="retired")
    entry.refresh_from_db()
    with pytest.raises(ValidationError, match="does not stand"):
        jobs.request_run_set(
            of.qa, revision=entry.revision, implementation=inside.provenance.fixed, size=1, lane_entry=entry
        )


def test_a_set_of_another_revision_is_no_part_of_the_stay(of: People, inside: Case) -> None:
    newer = intake.add_revision(of.responder, case=inside, fixture=factories.fixture(input={"order": "o-2"}))
    with pytest.raises(ValidationError, match="does not stand"):
        jobs.request_run_set(
            of.qa, revision=newer, implementation=inside.provenance.fixed, size=1, lane_entry=standing(inside)
        )


# --- the daily run --------------------------------------------------------------------------------------------------


def test_what_stands_in_a_lane_runs_once_a_day(of: People, inside: Case) -> None:
    assert lanes.run_due() == 1
    assert lanes.run_due() == 0
    asked = RunSet.objects.get(lane_entry=standing(inside))
    assert (asked.size, asked.requested_by, asked.implementation) == (1, None, inside.provenance.fixed)
    event = AuditEvent.objects.filter(action="run_set.requested").latest("sequence")
    assert (event.actor, event.object_id) == (None, str(asked.pk))
    with in_a_day():
        assert lanes.run_due() == 1


def test_a_run_that_somebody_asked_for_is_the_days_run(of: People, inside: Case) -> None:
    lanes.request_history(of.qa, case=inside, runs=2)
    assert lanes.run_due() == 0


def test_a_demoted_case_keeps_running(of: People) -> None:
    case = demoted(of)
    assert lanes.run_due() == 1
    assert RunSet.objects.get(requested_by=None).lane_entry == standing(case)


def test_a_case_sent_back_to_review_keeps_running(of: People, inside: Case) -> None:
    lifecycle.send_back(of.qa, case=inside, reason="The name of a person is in it.")
    assert lanes.run_due() == 1


def test_the_revision_in_the_lane_runs_until_its_successor_stands_there(of: People, inside: Case) -> None:
    intake.add_revision(of.responder, case=inside, fixture=factories.fixture(input={"order": "o-2"}))
    lanes.run_due()
    assert RunSet.objects.get(requested_by=None).revision.number == 1


def test_what_left_a_lane_runs_no_more(of: People, inside: Case) -> None:
    retire(of, inside)
    with in_a_day():
        assert lanes.run_due() == 0


def test_a_case_without_a_fixed_version_does_not_run(of: People, inside: Case) -> None:
    Provenance.objects.update(fixed=None)
    assert lanes.run_due() == 0


def record(of: People, case: Case, **changes: object) -> None:
    kept = Provenance.objects.get(case=case)
    names = ("incident_url", "trace_id", "trace_url", "affected", "fixed", "covering_test")
    details.edit_provenance(of.engineer, case=case, **{**{name: getattr(kept, name) for name in names}, **changes})


def test_what_a_lane_relies_on_is_not_emptied_while_a_revision_stands_there(of: People, inside: Case) -> None:
    for changes in ({"affected": None}, {"fixed": None}, {"covering_test": " "}):
        with pytest.raises(InvalidTransition, match="stands in lane nonblocking, which relies on"):
            record(of, inside, **changes)
    assert lanes.run_due() == 1
    record(of, inside, trace_id="")
    assert not factories.fresh(inside).flagged


def test_what_a_lane_relies_on_is_replaced_only_with_a_review_that_is_due_at_once(of: People, inside: Case) -> None:
    record(of, inside, fixed=factories.implementation(of.project, of.engineer, "# another", version="9"))
    flag = inside.flags.get(cleared_at=None)
    assert (flag.reason, flag.detail) == (
        "review_date_passed",
        "Due at once: the fixed version was replaced in lane nonblocking.",
    )
    assert factories.fresh(inside).review_due_at <= timezone.now()


def test_a_security_incident_keeps_its_place_and_does_not_run_before_it_is_contained(of: People, inside: Case) -> None:
    details.set_security_incident(of.owner, case=inside, flagged=True)
    assert lanes.run_due() == 0
    [listed] = lane_export.take(of.viewer, lane=standing(inside).lane).index.entries
    assert listed.readable_id == inside.readable_id
    details.confirm_containment(of.security, case=inside, note="Keys were changed.")
    assert lanes.run_due() == 1


def test_a_batch_is_bounded_and_the_next_one_goes_on(of: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "BATCH", 1)
    for number in range(2):
        factories.nonblocking(of, factories.fixture(case_id=f"case-{number}"))
    assert [lanes.run_due() for _ in range(3)] == [1, 1, 0]


def test_one_stay_that_cannot_be_run_does_not_stop_the_others(of: People, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (factories.nonblocking(of, factories.fixture(case_id=f"case-{number}")) for number in range(2))
    declare = lanes.declaring.declare

    def failing(actor: object, revision: object, *args: object, **options: object) -> object:
        if revision == factories.revision(first):
            raise RuntimeError("no")
        return declare(actor, revision, *args, **options)

    monkeypatch.setattr(lanes.declaring, "declare", failing)
    assert lanes.run_due() == 1
    assert RunSet.objects.get(requested_by=None).revision == factories.revision(second)


def test_a_daily_run_makes_history(of: People, inside: Case) -> None:
    lanes.run_due()
    in_process.replay_all()
    assert lanes.history(standing(inside)).counted == 1


# --- one name once ---------------------------------------------------------------------------------------------------


def test_two_cases_under_one_case_id_stand_in_no_lanes_together(of: People) -> None:
    first = factories.nonblocking(of)
    second = factories.reproduced(of)
    (shown,) = lanes.preview(of.qa, cases=[second], lane=LaneName.NONBLOCKING)
    assert not shown.will_move
    assert f"{first.readable_id} stands in lane nonblocking under the same case_id" in shown.why
    with pytest.raises(InvalidTransition, match="a suite holds each name once"):
        factories.promoted(of, second, LaneName.NONBLOCKING)
    assert list(LaneEntry.objects.values_list("case", flat=True)) == [first.pk]


def test_a_case_id_in_another_project_is_another_name(of: People) -> None:
    factories.nonblocking(of)
    elsewhere = factories.people(factories.project("XY"))
    assert factories.nonblocking(elsewhere).lane == LaneName.NONBLOCKING


# --- policy ---------------------------------------------------------------------------------------------------------


def test_qa_sets_what_a_lane_asks_for(of: People) -> None:
    lane = Lane.objects.create(project=of.project, name=LaneName.BLOCKING)
    lanes.set_policy(of.qa, lane=lane, repeated_runs=7, minimum_history=20)
    lane.refresh_from_db()
    assert (lane.repeated_runs, lane.minimum_history) == (7, 20)
    event = AuditEvent.objects.get(action="lane.policy_set")
    assert (event.actor, event.before, event.after) == (
        of.qa,
        '{"lane":"blocking","minimum_history":10,"repeated_runs":5}',
        '{"lane":"blocking","minimum_history":20,"repeated_runs":7}',
    )


def test_a_lane_that_nothing_entered_yet_has_a_policy_too(of: People) -> None:
    lanes.set_policy(of.qa, lane=Lane(project=of.project, name=LaneName.BLOCKING), repeated_runs=3, minimum_history=4)
    assert Lane.objects.get().minimum_history == 4


@pytest.mark.parametrize(
    ("repeated", "history", "field"),
    [(1, 10, "repeated_runs"), (101, 10, "repeated_runs"), (5, 1, "minimum_history"), (5, 1001, "minimum_history")],
)
def test_a_policy_asks_for_runs_within_bounds(of: People, repeated: int, history: int, field: str) -> None:
    lane = Lane.objects.create(project=of.project, name=LaneName.BLOCKING)
    with pytest.raises(ValidationError) as refused:
        lanes.set_policy(of.qa, lane=lane, repeated_runs=repeated, minimum_history=history)
    assert list(refused.value.message_dict) == [field]
    lane.refresh_from_db()
    assert (lane.repeated_runs, lane.minimum_history) == (5, 10)
    assert not AuditEvent.objects.filter(action="lane.policy_set").exists()


def test_only_qa_sets_a_policy_and_no_token_does(of: People) -> None:
    lane = Lane.objects.create(project=of.project, name=LaneName.BLOCKING)
    by_token = User.objects.get(pk=of.qa.pk)
    by_token.token = ApiToken(project=of.project, user=of.qa, prefix="rc_test")
    for actor in (of.owner, of.engineer, by_token):
        with pytest.raises(PermissionDenied):
            lanes.set_policy(actor, lane=lane, repeated_runs=2, minimum_history=2)


def test_a_lanes_own_run_leaves_no_verdict_standing_until_it_ended(of: People, inside: Case) -> None:
    lanes.run_due()
    assert factories.fresh(inside).verdict == ""
    assert Run.objects.filter(state=RunState.QUEUED).count() == 1
    in_process.replay_all()
    assert factories.fresh(inside).verdict == "verified_red_to_green"
