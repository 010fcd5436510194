"""A case's way: in order, by the people who may, for the bytes that they saw."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import Role
from replaycases.cases import details, events, gates, intake, lane_moves, lifecycle, proposals, reading
from replaycases.cases.models import (
    AuditEvent,
    Boundary,
    Case,
    Classification,
    Decision,
    DecisionKind,
    FixtureRevision,
    LaneEntry,
    LaneName,
    LeftBy,
    Run,
    Stage,
)
from replaycases.cases.policies import InvalidTransition, SeenAnother
from tests import factories

pytestmark = pytest.mark.django_db

OTHER = factories.fixture(prompt_version="2")
ORIGINAL = factories.fixture()
MORE = factories.fixture(expected=factories.EXPECTED_MORE)


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def changed(of: factories.People, case: Case, data: bytes, by: User | None = None) -> Case:
    intake.add_revision(by or of.responder, case=case, fixture=data)
    return factories.fresh(case)


def owner_who_reads(case: Case) -> User:
    """Who decides about expectations here and reads raw evidence, so that only what they saw can be in the way."""
    return factories.person(case.project, Role.INCIDENT_OWNER, Role.SECURITY_OWNER)


def standing(case: Case) -> set[str]:
    return {
        given.kind for given in Decision.objects.filter(case=case, voided_at=None, outcome="approved", control=None)
    }


def seen(case: Case) -> FixtureRevision:
    return factories.revision(factories.fresh(case))


# --- in order --------------------------------------------------------------------------------------------------------


def test_a_case_goes_from_quarantine_to_blocking_and_each_step_is_in_the_chain(of: factories.People) -> None:
    case = factories.blocking(of)
    assert (case.stage, case.lane) == (Stage.REPRODUCED, LaneName.BLOCKING)
    steps = [
        "case.submitted",
        "redaction.approved",
        "expectation.approved",
        "control.approved",
        "case.reproduced",
        "lane.promoted",
        "lane.promoted",
    ]
    told = AuditEvent.objects.filter(case=case).order_by("sequence").values_list("action", flat=True)
    assert [action for action in told if action in steps] == steps
    assert events.verify() == []


def test_a_case_is_not_submitted_before_it_was_seen_red(of: factories.People) -> None:
    case = factories.case(of.project, of.responder, classification=Classification.QUARANTINED)
    with pytest.raises(gates.GatesClosed, match="Affected version"):
        lifecycle.submit(of.responder, case=case, fixture_hash=seen(case).fixture_hash)
    assert factories.fresh(case).stage == Stage.QUARANTINED


def test_a_security_incident_is_contained_before_it_is_reviewed(of: factories.People) -> None:
    case = factories.quarantined(of)
    details.set_security_incident(of.responder, case=case, flagged=True)
    with pytest.raises(gates.GatesClosed, match="Containment"):
        lifecycle.submit(of.responder, case=case, fixture_hash=seen(case).fixture_hash)
    details.confirm_containment(of.security, case=case, note="The keys were changed.")
    assert lifecycle.submit(of.responder, case=case, fixture_hash=seen(case).fixture_hash).stage == Stage.IN_REVIEW


def test_no_step_is_skipped(of: factories.People) -> None:
    case = factories.quarantined(of)
    hashed = seen(case).fixture_hash
    with pytest.raises(InvalidTransition, match="only while it is in review"):
        factories.approve_redaction(of, case)
    with pytest.raises(InvalidTransition, match="only while it is redaction approved"):
        lifecycle.mark_reproduced(of.qa, case=case, fixture_hash=hashed)
    with pytest.raises(InvalidTransition, match="only while it is reproduced"):
        lifecycle.promote(of.qa, case=case, lane=LaneName.NONBLOCKING, fixture_hash=hashed)
    assert factories.fresh(case).stage == Stage.QUARANTINED


def test_a_gate_that_raises_blocks_and_says_nothing_of_why(
    of: factories.People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(facts: object) -> None:
        raise RuntimeError("the key is 4711")

    case = factories.in_review(of)
    monkeypatch.setattr(gates, "_RULES", {**gates._RULES, "fixture_valid": broken})
    with pytest.raises(gates.GatesClosed) as closed:
        factories.approve_redaction(of, case)
    assert [gate.state for gate in closed.value.gates if gate.name == "fixture_valid"] == ["error"]
    assert "4711" not in str(closed.value)
    assert factories.fresh(case).stage == Stage.IN_REVIEW


# --- what was seen ---------------------------------------------------------------------------------------------------


def test_an_edit_between_render_and_post_is_a_conflict_and_approves_nothing(of: factories.People) -> None:
    case = factories.in_review(of)
    shown = seen(case)
    changed(of, case, OTHER)
    with pytest.raises(SeenAnother):
        lifecycle.approve_redaction(of.privacy, case=case, revision=shown.number, content_hash=shown.content_hash)
    with pytest.raises(SeenAnother):
        lifecycle.approve_expectation(
            owner_who_reads(case),
            case=case,
            revision=shown.number,
            fixture_hash=shown.fixture_hash,
            checks_hash=shown.checks_hash,
        )
    assert not Decision.objects.exists()


@pytest.mark.parametrize("wrong", ["content_hash", "fixture_hash", "checks_hash"])
def test_another_hash_than_the_current_one_is_a_conflict(of: factories.People, wrong: str) -> None:
    case = factories.in_review(of)
    revision = seen(case)
    hashes = {name: getattr(revision, name) for name in ("content_hash", "fixture_hash", "checks_hash")}
    shown = {**hashes, wrong: "sha256:" + "0" * 64}
    content = {"content_hash": shown.pop("content_hash")}
    approve = (
        partial(lifecycle.approve_redaction, of.privacy, **content)
        if wrong in content
        else partial(lifecycle.approve_expectation, owner_who_reads(case), **shown)
    )
    with pytest.raises(SeenAnother):
        approve(case=case, revision=revision.number)
    assert not Decision.objects.exists()


def test_content_that_returns_to_what_was_approved_is_not_approved(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    changed(of, case, OTHER)
    back = changed(of, case, ORIGINAL)
    assert back.stage == Stage.IN_REVIEW
    assert seen(back).content_hash == case.decisions.get(kind=DecisionKind.REDACTION).content_hash
    assert standing(case) == set()
    with pytest.raises(SeenAnother):
        lifecycle.approve_redaction(of.privacy, case=case, revision=1, content_hash=seen(back).content_hash)


def test_a_change_of_what_is_expected_keeps_the_redaction_and_voids_the_expectation(of: factories.People) -> None:
    case = factories.reproduced(of)
    after = changed(of, case, MORE, of.engineer)
    assert (after.stage, standing(case)) == (Stage.REDACTION_APPROVED, {DecisionKind.REDACTION})
    assert seen(after).payload.classification == Classification.QUARANTINED
    factories.approve_expectation(of, after)
    assert seen(after).payload.classification == Classification.REDACTED


@pytest.mark.parametrize("decide", ["approve", "return"])
def test_nobody_decides_about_an_expectation_that_they_cannot_read(of: factories.People, decide: str) -> None:
    case = factories.in_review(of)
    shown = {"case": case, "revision": 1, "fixture_hash": seen(case).fixture_hash}
    given = (
        partial(lifecycle.approve_expectation, **shown, checks_hash=seen(case).checks_hash)
        if decide == "approve"
        else partial(lifecycle.return_expectation, **shown, note="It misses the status.")
    )
    with pytest.raises(PermissionDenied, match="Quarantined evidence"):
        given(of.owner)
    assert not case.decisions.exists()


def test_a_changed_expectation_is_read_by_who_decides_about_it_while_the_redaction_stands(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    changed(of, case, MORE, of.engineer)
    assert reading.readable_by(seen(case), of.owner)
    assert not reading.readable_by(seen(case), of.viewer)
    changed(of, case, OTHER)
    assert not reading.readable_by(seen(case), of.owner)


def test_a_changed_expectation_goes_its_whole_way(of: factories.People) -> None:
    case = factories.reproduced(of)
    back = changed(of, case, MORE, of.engineer)
    assert back.stage == Stage.REDACTION_APPROVED
    factories.replayed(of, case)
    made = [seen(case), *Run.objects.filter(run_set__revision=seen(case))]
    assert len(made) > 1
    assert all(reading.readable_by(one, who) for one in made for who in (of.owner, of.engineer))
    assert not any(reading.readable_by(one, who) for one in made for who in (of.qa, of.viewer))
    factories.approve_expectation(of, case)
    assert all(reading.readable_by(one, of.viewer) for one in made)
    on = lifecycle.mark_reproduced(of.qa, case=case, fixture_hash=seen(case).fixture_hash)
    assert on.stage == Stage.REPRODUCED


def test_a_change_of_content_voids_both_and_a_lane_keeps_what_it_holds(of: factories.People) -> None:
    case = factories.nonblocking(of)
    after = changed(of, case, OTHER)
    assert (after.stage, after.lane, standing(case)) == (Stage.IN_REVIEW, LaneName.NONBLOCKING, set())
    assert LaneEntry.objects.get(case=case, left_at=None).revision.number == 1


def test_what_is_voided_stands_in_the_event(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    approval = case.decisions.get(kind=DecisionKind.REDACTION)
    changed(of, case, OTHER)
    told = AuditEvent.objects.get(case=case, action="case.back_in_review")
    assert json.loads(told.after)["voided"] == [str(approval.pk)]


def test_an_owner_or_a_label_voids_nothing(of: factories.People) -> None:
    case = factories.reproduced(of)
    factories.describe(of, case)
    assert standing(case) == {DecisionKind.REDACTION, DecisionKind.EXPECTATION}


def test_a_return_voids_the_approval_that_stood(of: factories.People) -> None:
    case = factories.reproduced(of)
    hashed = seen(case).fixture_hash
    lifecycle.return_expectation(of.owner, case=case, revision=1, fixture_hash=hashed, note="It misses the status.")
    assert standing(case) == {DecisionKind.REDACTION}
    with pytest.raises(gates.GatesClosed, match="Expectation approved"):
        factories.promoted(of, case, LaneName.NONBLOCKING)


def test_nothing_is_returned_without_a_reason(of: factories.People) -> None:
    case = factories.in_review(of)
    with pytest.raises(ValidationError):
        lifecycle.return_redaction(of.privacy, case=case, revision=1, content_hash=seen(case).content_hash, note=" ")
    assert not Decision.objects.exists()


# --- side exits ------------------------------------------------------------------------------------------------------


def test_sending_back_asks_for_every_approval_again_and_leaves_no_lane(of: factories.People) -> None:
    case = factories.nonblocking(of)
    back = lifecycle.send_back(of.qa, case=case, reason="The policy changed.")
    assert (back.stage, back.lane, standing(case)) == (Stage.IN_REVIEW, LaneName.NONBLOCKING, set())


def test_a_case_in_a_lane_is_not_closed_by_one_person(of: factories.People) -> None:
    case = factories.nonblocking(of)
    with pytest.raises(InvalidTransition, match="a lane is left by two people"):
        lifecycle.mark_non_replayable(of.qa, case=case, reason="It flickers.", missing="The clock.")
    assert factories.fresh(case).lane == LaneName.NONBLOCKING


def test_a_case_that_cannot_be_replayed_is_closed_and_opened_again_with_nothing_approved(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    lifecycle.mark_non_replayable(of.owner, case=case, reason="It needs the vendor.", missing="The vendor's answer.")
    with pytest.raises(InvalidTransition):
        changed(of, case, OTHER)
    opened = lifecycle.reopen(of.owner, case=case, reason="The answer was found.")
    assert (opened.stage, standing(case)) == (Stage.IN_REVIEW, set())


def test_a_case_is_closed_only_with_somebody_who_can_be_asked_about_what_is_missing(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    closing = partial(lifecycle.mark_non_replayable, of.qa, case=case, reason="No clock.", missing="Its clock.")
    left = factories.person(of.project, Role.VIEWER)
    details.set_owners(of.engineer, case=case, owners={Boundary.WORKFLOW: left})
    left.memberships.all().delete()
    with pytest.raises(InvalidTransition, match="Name an owner first"):
        closing()
    assert factories.fresh(case).stage == Stage.QUARANTINED
    details.set_owners(of.engineer, case=case, owners={Boundary.WORKFLOW: of.engineer})
    assert closing().stage == Stage.NON_REPLAYABLE


def test_opening_again_is_no_way_around_the_gates(of: factories.People) -> None:
    case = factories.case(of.project, of.responder, classification=Classification.QUARANTINED)
    details.set_owners(of.engineer, case=case, owners={Boundary.WORKFLOW: of.engineer})
    lifecycle.mark_non_replayable(of.owner, case=case, reason="It needs the vendor.", missing="The vendor's answer.")
    assert lifecycle.reopen(of.owner, case=case, reason="The answer was found.").stage == Stage.QUARANTINED


def test_a_retired_case_stays_closed_and_runs_nowhere(of: factories.People) -> None:
    case = factories.blocking(of)
    proposal = proposals.propose_retirement(of.lead, case=case, reason="The feature is gone.")
    proposals.confirm(of.owner, proposal=proposal)
    closed = factories.fresh(case)
    assert (closed.stage, closed.lane) == (Stage.RETIRED, "")
    assert not LaneEntry.objects.filter(case=case, left_at=None).exists()
    for person in (of.qa, of.owner):
        with pytest.raises((InvalidTransition, PermissionDenied)):
            lifecycle.reopen(person, case=case, reason="Again.")


# --- lanes -----------------------------------------------------------------------------------------------------------


def test_blocking_needs_a_history_in_nonblocking(of: factories.People) -> None:
    case = factories.nonblocking(of)
    with pytest.raises(gates.GatesClosed, match="Minimum history"):
        factories.promoted(of, case, LaneName.BLOCKING)


def test_who_made_the_case_does_not_promote_it_to_blocking(of: factories.People) -> None:
    case = factories.nonblocking(of)
    factories.with_history(of, case)
    Membership.objects.create(project=of.project, user=of.responder, role=Role.QA)
    with pytest.raises(gates.GatesClosed, match="Promoter"):
        lifecycle.promote(of.responder, case=case, lane=LaneName.BLOCKING, fixture_hash=seen(case).fixture_hash)


def test_nobody_is_promoted_to_where_they_stand_or_beside_it(of: factories.People) -> None:
    case = factories.blocking(of)
    for lane, words in ((LaneName.BLOCKING, "stands in lane blocking"), (LaneName.NONBLOCKING, "blocks already")):
        with pytest.raises(InvalidTransition, match=words):
            factories.promoted(of, case, lane)
    assert LaneEntry.objects.filter(case=case, left_at=None).count() == 1


def again_nonblocking(of: factories.People, case: Case, data: bytes) -> Case:
    """A later revision on the same way, while the earlier one stands where it stands."""
    changed(of, case, data)
    factories.control(seen(case), of.engineer)
    factories.replayed(of, factories.fresh(case))
    factories.approve_redaction(of, case)
    factories.approve_expectation(of, case)
    control = seen(case).controls.get()
    lifecycle.approve_control(of.privacy, control=control, fixture_hash=control.fixture_hash)
    factories.no_effect(of, case)
    lifecycle.mark_reproduced(of.qa, case=case, fixture_hash=seen(case).fixture_hash)
    factories.promoted(of, case, LaneName.NONBLOCKING)
    return factories.fresh(case)


def test_a_revision_blocks_until_its_successor_does(of: factories.People) -> None:
    case = again_nonblocking(of, factories.blocking(of), OTHER)
    assert {lane: stay.revision.number for lane, stay in lane_moves.stays(case).items()} == {
        LaneName.BLOCKING: 1,
        LaneName.NONBLOCKING: 2,
    }
    assert case.lane == LaneName.BLOCKING
    factories.with_history(of, case)
    factories.promoted(of, case, LaneName.BLOCKING)
    left = {(stay.revision.number, stay.left_by) for stay in LaneEntry.objects.filter(case=case)}
    assert left == {(1, LeftBy.PROMOTED), (1, LeftBy.SUCCEEDED), (2, LeftBy.PROMOTED), (2, "")}


def demoted(of: factories.People, case: Case) -> LaneEntry:
    proposal = proposals.propose_demotion(
        of.qa, case=case, reason="It flickers.", until=timezone.now() + timedelta(days=7), owner=of.engineer
    )
    proposals.confirm(of.lead, proposal=proposal)
    return LaneEntry.objects.get(case=case, left_at=None)


def test_a_demoted_revision_goes_on_in_nonblocking(of: factories.People) -> None:
    case = factories.blocking(of)
    goes_on = demoted(of, case)
    assert (goes_on.revision.number, goes_on.lane.name, factories.fresh(case).lane) == (1, "nonblocking", "nonblocking")
    assert goes_on.demotion is not None
    assert goes_on.demotion.owner == of.engineer


def test_a_demotion_leaves_the_successor_its_stay_and_its_history(of: factories.People) -> None:
    case = again_nonblocking(of, factories.blocking(of), OTHER)
    stay = lane_moves.stays(case)[LaneName.NONBLOCKING]
    assert demoted(of, case) == stay
    assert factories.fresh(case).lane == LaneName.NONBLOCKING


def test_the_promoter_sees_the_fixture_that_enters(of: factories.People) -> None:
    case = factories.reproduced(of)
    shown = seen(case).fixture_hash
    changed(of, case, MORE, of.engineer)
    factories.replayed(of, case)
    factories.approve_expectation(of, case)
    lifecycle.mark_reproduced(of.qa, case=case, fixture_hash=seen(case).fixture_hash)
    with pytest.raises(SeenAnother):
        lifecycle.promote(of.qa, case=case, lane=LaneName.NONBLOCKING, fixture_hash=shown)
    assert not LaneEntry.objects.exists()
