"""Verdicts from really replayed runs, in this process: the same functions as a worker's, without the broker."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from replaycases.accounts.models import User
from replaycases.cases import comparing, evidence, executing, immutability, intake, jobs
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Comparison,
    Implementation,
    OutcomeType,
    Payload,
    Run,
    RunState,
)
from tests import factories, in_process

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(120)]

CONTROL = factories.fixture(
    case_id="refund-confirmed",
    expected={
        "boundary": ["known"],
        "prohibited_claims": [{"id": "none", "statement": "Lost.", "detect": {"any": ["(?i)lost"]}}],
        "required_claims": [{"id": "known", "statement": "Open.", "detect": {"any": ["(?i)could not confirm"]}}],
    },
)
# The new version says what the lookup says, so that a control can be turned red.
NEW_CODE = """
def replay(session):
    found = session.tools.call("refund.lookup", {"order": "o-1"})
    if found["state"] == "lost":
        session.finish(message="It is lost.", status="lost")
    else:
        session.finish(message="I could not confirm the refund yet.", status="open")
"""
MUTATION = json.dumps([{"op": "replace", "path": "/events/0/outcome/value/state", "value": "lost"}]).encode()
IDLE_MUTATION = json.dumps([{"op": "replace", "path": "/events/0/outcome/value/state", "value": "odd"}]).encode()

Requested = Callable[..., Comparison]


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


@pytest.fixture
def requested(actor: User) -> Requested:
    project = actor.memberships.first().project
    case = factories.case(project, actor)
    old = factories.implementation(project, actor, factories.OLD_CODE, version="1")
    new = factories.implementation(project, actor, NEW_CODE, version="2")

    def request(*, mutation: bytes | None = None, size: int = 2) -> Comparison:
        revision = factories.revision(case)
        if mutation is not None:
            intake.add_control(
                actor,
                revision=revision,
                name="confirmed",
                outcome_type=OutcomeType.SUCCESS,
                fixture=CONTROL,
                mutation=mutation,
            )
        return jobs.request_comparison(actor, revision=revision, old=old, new=new, size=size)

    return request


def replay_all(*, leave: int = 0) -> None:
    waiting = list(Run.objects.filter(state=RunState.QUEUED).order_by("number"))
    for run in waiting[: len(waiting) - leave]:
        executing.look_at(run.pk, worker="here")
    comparing.refresh_waiting()


def label(comparison: Comparison) -> str:
    comparison.refresh_from_db()
    return comparison.label


def test_old_violates_and_new_holds(requested: Requested) -> None:
    comparison = requested()
    replay_all()
    assert label(comparison) == "verified_red_to_green"
    assert comparison.state == "computed"
    assert json.loads(evidence.read(comparison.document))["controls"] == "not run"


def test_no_label_stands_while_a_run_is_outstanding(requested: Requested) -> None:
    comparison = requested()
    replay_all(leave=1)
    assert (label(comparison), comparison.state) == ("", "waiting")


def test_asking_for_more_runs_takes_the_label_back_until_they_ended(requested: Requested, actor: User) -> None:
    comparison = requested()
    replay_all()
    jobs.request_run_set(actor, revision=comparison.revision, implementation=comparison.new, size=1)
    assert (label(comparison), comparison.state) == ("", "waiting")
    replay_all()
    assert label(comparison) == "verified_red_to_green"


def test_two_workers_that_see_the_last_run_end_store_one_verdict(requested: Requested) -> None:
    comparison = requested()
    replay_all(leave=1)
    last = Run.objects.get(state=RunState.QUEUED)
    seen_by_both = [Comparison.objects.get(pk=comparison.pk) for _ in range(2)]
    executing.look_at(last.pk, worker="here")
    for seen in seen_by_both:
        comparing.refresh(seen)
    assert AuditEvent.objects.filter(action="comparison.computed", object_id=str(comparison.pk)).count() == 1


def test_a_control_added_while_a_verdict_is_computed_is_in_that_verdict(
    requested: Requested, actor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = requested()
    replay_all(leave=1)
    judge = comparing.judging.judge

    def overtaken(computed: Comparison) -> object:
        judged = judge(computed)
        if not comparison.revision.controls.exists():
            factories.control(comparison.revision, actor)
        return judged

    monkeypatch.setattr(comparing.judging, "judge", overtaken)
    replay_all()
    assert label(comparison) == "control_failed"


def test_results_of_other_sets_are_read_too(requested: Requested, actor: User) -> None:
    comparison = requested()
    jobs.request_run_set(actor, revision=comparison.revision, implementation=comparison.new, size=3)
    replay_all()
    assert label(comparison) == "verified_red_to_green"
    assert json.loads(evidence.read(comparison.document))["new_runs"] == 5


def test_a_control_that_holds_and_can_turn_red_passes(requested: Requested) -> None:
    comparison = requested(mutation=MUTATION)
    replay_all()
    assert label(comparison) == "verified_red_to_green"
    assert json.loads(evidence.read(comparison.document))["controls"] == "passed"


def test_a_control_that_cannot_turn_red_is_not_passed(requested: Requested) -> None:
    comparison = requested(mutation=IDLE_MUTATION)
    replay_all()
    assert label(comparison) == "control_failed"
    assert "proves nothing" in json.loads(evidence.read(comparison.document))["control_results"][0]["reason"]


def test_a_control_with_one_result_is_not_passed(requested: Requested) -> None:
    comparison = requested(mutation=MUTATION)
    single = comparison.runs().filter(run_set__mutated=True).first()
    jobs.cancel(comparison.requested_by, subject=single.run_set)
    replay_all()
    assert label(comparison) == "control_failed"


def test_a_quarantined_run_forbids_the_verdict(requested: Requested) -> None:
    comparison = requested(size=3)
    unlucky = comparison.runs().filter(run_set__implementation=comparison.new).first()
    for _ in range(3):
        Run.objects.filter(pk=unlucky.pk).update(not_before=unlucky.created_at)
        jobs.fail(jobs.lease(unlucky.pk, worker="w"), "its worker died")
    replay_all()
    assert label(comparison) == "not_comparable"
    assert "its worker died" in comparison.reason


def test_a_cancelled_run_is_listed_and_not_read(requested: Requested, actor: User) -> None:
    comparison = requested()
    extra = jobs.request_run_set(actor, revision=comparison.revision, implementation=comparison.new, size=2)
    jobs.cancel(actor, subject=extra)
    replay_all()
    assert label(comparison) == "verified_red_to_green"
    document = json.loads(evidence.read(comparison.document))
    assert [entry["status"] for entry in document["unread"]] == ["cancelled", "cancelled"]


def test_a_side_with_one_result_is_undetermined(requested: Requested) -> None:
    comparison = requested(size=1)
    replay_all()
    assert label(comparison) != "verified_red_to_green"
    assert "undetermined" in label(comparison)


def test_a_manifest_that_was_changed_in_the_database_is_not_believed(requested: Requested) -> None:
    comparison = requested()
    replay_all()
    run = comparison.runs().filter(run_set__implementation=comparison.old).first()
    Payload.objects.filter(pk=run.manifest_id).update(body=b"{}")
    comparing.invalidate(run.run_set)
    comparing.refresh_waiting()
    assert label(comparison) == "not_comparable"


def test_a_manifest_swapped_for_another_runs_is_not_believed(requested: Requested) -> None:
    comparison = requested()
    replay_all()
    old, new = (
        comparison.runs().filter(run_set__implementation=side).first() for side in (comparison.old, comparison.new)
    )
    immutability.remove("default")
    Run.objects.filter(pk=old.pk).update(manifest=new.manifest_id)
    comparing.invalidate(old.run_set)
    comparing.refresh_waiting()
    assert label(comparison) == "not_comparable"
    assert "another run's manifest" in comparison.reason


def test_voiding_a_set_takes_its_results_out(requested: Requested, actor: User) -> None:
    comparison = requested()
    replay_all()
    jobs.void(
        actor, run_set=comparison.runs().filter(run_set__implementation=comparison.old).first().run_set, reason="x"
    )
    assert label(comparison) == ""
    comparing.refresh_waiting()
    assert label(comparison) == "baseline_only"


def test_another_project_with_the_same_hashes_lends_no_results(requested: Requested, actor: User) -> None:
    comparison = requested()
    elsewhere = factories.project("OTHER")
    other = factories.everyone(elsewhere)
    jobs.request_run_set(
        other,
        revision=factories.revision(factories.case(elsewhere, other)),
        implementation=factories.implementation(elsewhere, other, NEW_CODE),
        size=1,
    )
    replay_all()
    assert json.loads(evidence.read(Comparison.objects.get(pk=comparison.pk).document))["new_runs"] == 2


def test_an_implementation_that_cannot_start_is_an_adapter_error(requested: Requested, actor: User) -> None:
    comparison = requested()
    broken = factories.implementation(comparison.project, actor, "import nothing_of_this_name", version="3")
    failing = jobs.request_comparison(actor, revision=comparison.revision, old=comparison.old, new=broken)
    replay_all()
    assert label(failing) == "adapter_error"
    shown = failing.runs().filter(run_set__implementation=broken).first()
    assert "nothing_of_this_name" in json.loads(evidence.read(shown.manifest))["stderr"]


def test_a_manifest_is_restricted_like_its_fixture(actor: User) -> None:
    project = actor.memberships.first().project
    case = factories.case(project, actor, classification="quarantined")
    jobs.request_run_set(
        actor, revision=factories.revision(case), implementation=factories.implementation(project, actor), size=1
    )
    replay_all()
    assert Run.objects.get().manifest.classification == "quarantined"


# --- what a comparison says of each side, and what the case repeats -------------------------------------------------


Described = tuple[factories.People, Case]


@pytest.fixture
def described() -> Described:
    """With both versions and one control, and nothing replayed."""
    of = factories.people(factories.project("NEW"))
    case = factories.case(of.project, of.responder)
    factories.control(factories.revision(case), of.engineer)
    factories.describe(of, case)
    return of, factories.fresh(case)


def ask(of: factories.People, case: Case, **sides: Implementation | None) -> Comparison:
    both = {"old": case.provenance.affected, "new": case.provenance.fixed, **sides}
    return jobs.request_comparison(of.engineer, revision=factories.revision(case), **both)


def on_case(case: Case) -> tuple[str, str, str]:
    case.refresh_from_db()
    return case.verdict, case.last_verdict, case.previous_verdict


def test_whether_old_is_red_and_which_control_passed_is_kept_with_the_verdict(described: Described) -> None:
    of, case = described
    asked = ask(of, case)
    in_process.replay_all()
    asked.refresh_from_db()
    assert asked.old_red is True
    assert asked.controls == {str(factories.revision(case).controls.get().pk): True}


def test_red_is_confirmed_without_a_new_version(described: Described) -> None:
    of, case = described
    asked = ask(of, case, new=None)
    in_process.replay_all()
    asked.refresh_from_db()
    assert (asked.label, asked.old_red, asked.controls) == ("old_only", True, {})


@pytest.mark.parametrize(("code", "size", "red"), [(NEW_CODE, 2, False), (factories.OLD_CODE, 1, None)])
def test_old_is_red_only_by_the_rule_of_the_verdict(
    described: Described, code: str, size: int, red: bool | None
) -> None:
    of, case = described
    old = factories.implementation(of.project, of.engineer, code, version="9")
    asked = jobs.request_comparison(of.engineer, revision=factories.revision(case), old=old, new=None, size=size)
    in_process.replay_all()
    asked.refresh_from_db()
    assert asked.computed_at is not None
    assert asked.old_red is red


def test_a_new_side_that_is_refused_leaves_old_as_red_as_it_is(described: Described) -> None:
    of, case = described
    asked = ask(of, case)
    unlucky = asked.runs().filter(run_set__implementation=asked.new, run_set__control=None).first()
    assert unlucky is not None
    for _ in range(3):
        Run.objects.filter(pk=unlucky.pk).update(not_before=unlucky.created_at)
        jobs.fail(jobs.lease(unlucky.pk, worker="w"), "its worker died")
    in_process.replay_all()
    asked.refresh_from_db()
    assert (asked.label, asked.old_red) == ("not_comparable", True)


def test_one_old_run_that_cannot_be_read_is_not_left_out(described: Described) -> None:
    of, case = described
    asked = jobs.request_comparison(
        of.engineer, revision=factories.revision(case), old=case.provenance.affected, new=None, size=3
    )
    unlucky = asked.runs()[0]
    for _ in range(3):
        Run.objects.filter(pk=unlucky.pk).update(not_before=unlucky.created_at)
        jobs.fail(jobs.lease(unlucky.pk, worker="w"), "its worker died")
    in_process.replay_all()
    asked.refresh_from_db()
    assert (asked.label, asked.old_red) == ("not_comparable", None)


def test_a_control_that_is_not_decided_has_not_passed(described: Described) -> None:
    of, case = described
    idle = intake.add_control(
        of.engineer,
        revision=factories.revision(case),
        name="idle",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="idle"),
        mutation=IDLE_MUTATION,
    )
    asked = ask(of, case)
    in_process.replay_all()
    asked.refresh_from_db()
    assert asked.controls[str(idle.pk)] is None
    assert sorted(map(str, asked.controls.values())) == ["None", "True"]


def test_red_and_controls_are_cleared_with_the_verdict(described: Described) -> None:
    of, case = described
    asked = ask(of, case)
    in_process.replay_all()
    jobs.request_run_set(of.engineer, revision=asked.revision, implementation=case.provenance.fixed, size=1)
    asked.refresh_from_db()
    assert (asked.label, asked.old_red, asked.controls) == ("", None, {})


def test_the_case_repeats_its_newest_verdict_and_keeps_the_one_before(described: Described) -> None:
    of, case = described
    asked = ask(of, case)
    assert on_case(case) == ("", "", "")
    assert case.latest_comparison == asked
    in_process.replay_all()
    assert on_case(case) == ("verified_red_to_green", "verified_red_to_green", "")
    since = case.verdict_since
    asked.refresh_from_db()
    assert since == asked.computed_at
    jobs.request_run_set(of.engineer, revision=asked.revision, implementation=case.provenance.fixed, size=1)
    assert on_case(case) == ("", "verified_red_to_green", "")
    in_process.replay_all()
    assert on_case(case) == ("verified_red_to_green", "verified_red_to_green", "")
    assert case.verdict_since == since


def test_a_voided_set_changes_the_verdict_of_the_case(described: Described) -> None:
    of, case = described
    asked = ask(of, case)
    in_process.replay_all()
    jobs.void(of.qa, run_set=asked.run_sets.get(implementation=asked.old), reason="The wrong build.")
    assert on_case(case) == ("", "verified_red_to_green", "")
    in_process.replay_all()
    assert on_case(case) == ("baseline_only", "baseline_only", "verified_red_to_green")
    asked.refresh_from_db()
    assert (asked.old_red, case.verdict_since) == (None, asked.computed_at)


def test_a_control_that_was_never_run_takes_the_verdict_from_the_case(described: Described) -> None:
    of, case = described
    ask(of, case)
    in_process.replay_all()
    factories.control(factories.revision(case), of.engineer, name="late")
    assert on_case(case) == ("", "verified_red_to_green", "")
    in_process.replay_all()
    assert on_case(case) == ("control_failed", "control_failed", "verified_red_to_green")


def test_a_new_revision_starts_without_a_verdict(described: Described) -> None:
    of, case = described
    ask(of, case)
    in_process.replay_all()
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    assert on_case(case) == ("", "verified_red_to_green", "")
    assert case.latest_comparison is None


def test_a_verdict_on_an_earlier_revision_is_not_that_of_the_case(described: Described) -> None:
    of, case = described
    earlier = ask(of, case)
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    in_process.replay_all()
    earlier.refresh_from_db()
    assert earlier.label == "verified_red_to_green"
    assert on_case(case) == ("", "", "")


def test_an_older_comparison_that_is_computed_later_is_not_the_newest(described: Described) -> None:
    of, case = described
    ask(of, case)
    newer = ask(of, case, new=None)
    in_process.replay_all()
    assert on_case(case) == ("old_only", "old_only", "")
    assert case.latest_comparison == newer
