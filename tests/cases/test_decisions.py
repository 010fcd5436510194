"""Approvals: nobody's own work, exactly the bytes, and one of two who race."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, details, events, intake, lifecycle, proposals
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Decision,
    DecisionKind,
    DecisionOutcome,
    LaneEntry,
    LaneName,
    ProposalState,
    Stage,
)
from replaycases.cases.policies import InvalidTransition
from tests import factories
from tests.cases.deployment import Deployment


@pytest.fixture
def of(db: None) -> factories.People:
    return factories.people(factories.project())


def reviewer(case: Case) -> User:
    """A second one of each kind."""
    return factories.person(case.project, Role.PRIVACY_REVIEWER, Role.INCIDENT_OWNER, Role.QA, Role.QA_LEAD)


def approvals(case: Case, by: User) -> dict[str, Callable[[], Decision]]:
    """Every service by which somebody approves something of the case."""
    seen = factories.revision(factories.fresh(case))
    hashes = {"fixture_hash": seen.fixture_hash, "checks_hash": seen.checks_hash}
    control = seen.controls.get()
    return {
        "redaction": partial(
            lifecycle.approve_redaction, by, case=case, revision=seen.number, content_hash=seen.content_hash
        ),
        "expectation": partial(lifecycle.approve_expectation, by, case=case, revision=seen.number, **hashes),
        "control": partial(lifecycle.approve_control, by, control=control, fixture_hash=control.fixture_hash),
    }


def standing(case: Case) -> list[Decision]:
    return list(Decision.objects.filter(case=case, outcome=DecisionOutcome.APPROVED, voided_at=None))


# --- own work --------------------------------------------------------------------------------------------------------


def test_lists_and_decisions_agree_on_whose_work_a_case_is(of: factories.People) -> None:
    made = factories.case(of.project, of.responder, on_behalf_of=of.engineer)
    intake.add_revision(of.privacy, case=made, fixture=factories.fixture(input={"message": "b"}), on_behalf_of=of.lead)
    said = {name: f"{name.replace('_', ' ')} said quite anew" for name in details.STATEMENT}
    details.edit_statement(of.owner, case=made, title="Anew", reported_symptom="", **said)
    another = factories.case(of.project, factories.person(of.project, Role.RESPONDER))
    for user in User.objects.all():
        mine = {case for case in (made, another) if user.pk in decisions.contributors(factories.fresh(case))}
        assert set(Case.objects.filter(decisions.is_work_of(user))) == mine
        own = decisions.own_work_of(user, [factories.fresh(made), factories.fresh(another)])
        assert {key for key, why in own.items() if why} == {case.pk for case in mine}
    assert set(decisions.contributors(factories.fresh(made))) == {
        user.pk for user in (of.responder, of.engineer, of.privacy, of.lead, of.owner)
    }


@pytest.mark.parametrize("kind", ["redaction", "expectation", "control"])
@pytest.mark.parametrize("way", ["captured", "captured for", "edited", "edited for", "superuser"])
def test_nobody_approves_their_own_work(of: factories.People, kind: str, way: str) -> None:
    own = reviewer_of(of)
    if way == "superuser":
        own.is_superuser = True
        own.save()
    if way in {"captured", "superuser"}:
        Membership.objects.create(project=of.project, user=own, role=Role.RESPONDER)
    author = own if way in {"captured", "superuser"} else of.responder
    case = intake.create_case(
        author,
        project=of.project,
        **factories.STATEMENT,
        fixture=factories.fixture(prompt_version="0"),
        on_behalf_of=own if way == "captured for" else None,
    )
    editor = own if way == "edited" else of.responder
    intake.add_revision(
        editor, case=case, fixture=factories.fixture(), on_behalf_of=own if way == "edited for" else None
    )
    factories.control(factories.revision(factories.fresh(case)), of.engineer)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    with pytest.raises(PermissionDenied, match="Somebody else approves it"):
        approvals(case, own)[kind]()
    assert not Decision.objects.exists()
    assert approvals(case, reviewer(case))["control"]().outcome == DecisionOutcome.APPROVED


@pytest.mark.parametrize("part", ["trigger", "prohibited_outcome", "deciding_evidence"])
def test_who_states_anew_what_must_not_happen_does_not_approve_it(of: factories.People, part: str) -> None:
    case = factories.in_review(of)
    said = {**factories.STATEMENT, part: "The reply says that the order was sent."}
    del said["incident_id"]
    details.edit_statement(of.owner, case=case, reported_symptom="", **said)
    with pytest.raises(PermissionDenied, match="You edited the failure statement"):
        approvals(case, of.owner)["expectation"]()
    now = factories.fresh(case)
    with pytest.raises(IntegrityError, match="own work"), transaction.atomic():
        decisions.record(
            of.owner,
            revision=factories.revision(now),
            kind=DecisionKind.EXPECTATION,
            outcome=DecisionOutcome.APPROVED,
            note="",
        )
    assert not Decision.objects.exists()
    other = factories.person(of.project, Role.INCIDENT_OWNER, Role.PRIVACY_REVIEWER)
    assert approvals(case, other)["expectation"]().outcome == DecisionOutcome.APPROVED


def test_who_restated_a_part_is_not_free_of_it_once_others_edit_the_statement(of: factories.People) -> None:
    case = factories.in_review(of)
    said = {name: text for name, text in factories.STATEMENT.items() if name != "incident_id"}
    said["prohibited_outcome"] = "The reply says that the order was sent."
    details.edit_statement(of.owner, case=case, reported_symptom="", **said)
    said["trigger"] = "The lookup timed out after dispatch."
    details.edit_statement(of.responder, case=case, reported_symptom="", **said)
    now = factories.fresh(case)
    for kind in ("expectation", "redaction"):
        Membership.objects.get_or_create(project=of.project, user=of.owner, role=Role.PRIVACY_REVIEWER)
        with pytest.raises(PermissionDenied, match="You edited the failure statement"):
            approvals(now, of.owner)[kind]()
        with pytest.raises(IntegrityError, match="own work"), transaction.atomic():
            decisions.record(
                of.owner,
                revision=factories.revision(now),
                kind=DecisionKind(kind),
                outcome=DecisionOutcome.APPROVED,
                note="",
            )
    assert not Decision.objects.exists()
    assert decisions.own_work(reviewer_of(of), now) == ""


def test_another_title_makes_nobody_an_author(of: factories.People) -> None:
    case = factories.in_review(of)
    said = {**factories.STATEMENT, "title": "Another title"}
    del said["incident_id"]
    details.edit_statement(of.owner, case=case, reported_symptom="", **said)
    assert decisions.own_work(of.owner, factories.fresh(case)) == ""


def reviewer_of(of: factories.People) -> User:
    return factories.person(of.project, Role.PRIVACY_REVIEWER, Role.INCIDENT_OWNER)


def test_who_added_a_control_does_not_approve_it(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    Membership.objects.create(project=of.project, user=of.engineer, role=Role.PRIVACY_REVIEWER)
    factories.control(factories.revision(case), of.engineer)
    with pytest.raises(PermissionDenied, match="You added this control"):
        approvals(case, of.engineer)["control"]()
    assert not Decision.objects.exists()


def test_an_editor_of_an_earlier_revision_approves_no_later_one(of: factories.People) -> None:
    case = factories.in_review(of)
    editor = factories.person(of.project, Role.PRIVACY_REVIEWER)
    intake.add_revision(editor, case=case, fixture=factories.fixture(prompt_version="2"))
    intake.add_revision(of.responder, case=case, fixture=factories.fixture())  # as if it had never been edited
    with pytest.raises(PermissionDenied, match="You edited revision 2"):
        factories.approve_redaction(factories.People(**{**vars(of), "privacy": editor}), case)
    assert not Decision.objects.exists()


def test_the_database_says_no_where_a_service_forgets_to_ask(of: factories.People) -> None:
    case = factories.in_review(of)
    with pytest.raises(IntegrityError, match="own work"), transaction.atomic():
        decisions.record(
            of.responder,
            revision=factories.revision(case),
            kind=DecisionKind.REDACTION,
            outcome=DecisionOutcome.APPROVED,
            note="",
        )
    assert not Decision.objects.exists()


def test_somebody_who_loses_the_role_decides_no_more(of: factories.People) -> None:
    case = factories.in_review(of)
    factories.see_everything(of.privacy, case)
    Membership.objects.filter(user=of.privacy).delete()
    with pytest.raises(PermissionDenied, match="needs the role"):
        factories.decide_redaction(of.privacy, case)
    assert not Decision.objects.exists()


def test_what_is_approved_is_not_approved_again(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    factories.approve_expectation(of, case)
    with pytest.raises(InvalidTransition, match="approved already"):
        factories.approve_expectation(of, case)
    assert len(standing(case)) == 2


# --- races -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def at(deployment: Deployment) -> factories.People:
    return factories.people(factories.project())


def race(calls: Sequence[Callable[[], object]]) -> list[object]:
    """All at once, each in a connection of its own; what each gave or raised."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        try:
            barrier.wait()
            return call()
        except Exception as raised:
            return raised
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_of_two_reviewers_at_once_one_decides(at: factories.People) -> None:
    case = factories.in_review(at)
    people = [at.privacy, reviewer(case), reviewer(case), reviewer(case)]
    for one in people:
        factories.see_everything(one, case)
    found = race([approvals(case, by)["redaction"] for by in people])
    assert sum(isinstance(one, Decision) for one in found) == 1
    assert sum(isinstance(one, InvalidTransition) for one in found) == 3
    assert (len(standing(case)), factories.fresh(case).stage) == (1, Stage.REDACTION_APPROVED)
    assert AuditEvent.objects.filter(action="redaction.approved").count() == 1
    assert events.verify() == []


def test_own_work_is_approved_by_no_number_of_tries_at_once(at: factories.People) -> None:
    case = factories.in_review(at)
    Membership.objects.create(project=at.project, user=at.responder, role=Role.PRIVACY_REVIEWER)
    found = race([approvals(case, at.responder)["redaction"] for _ in range(8)])
    assert all(isinstance(one, PermissionDenied) for one in found)
    assert not Decision.objects.exists()


def test_an_edit_and_an_approval_at_once_leave_no_approval_of_other_bytes(at: factories.People) -> None:
    case = factories.in_review(at)
    edit = partial(intake.add_revision, at.responder, case=case, fixture=factories.fixture(prompt_version="2"))
    race([approvals(case, at.privacy)["redaction"], edit, approvals(case, at.owner)["expectation"]])
    now = factories.fresh(case)
    assert (factories.revision(now).number, now.stage, standing(case)) == (2, Stage.IN_REVIEW, [])
    assert events.verify() == []


def test_an_editor_who_approves_at_the_moment_of_the_edit_approved_no_own_work(at: factories.People) -> None:
    case = factories.in_review(at)
    edit = partial(intake.add_revision, at.privacy, case=case, fixture=factories.fixture(prompt_version="2"))
    found = race([approvals(case, at.privacy)["redaction"], edit])
    assert isinstance(found[0], Decision | PermissionDenied | InvalidTransition)
    assert standing(case) == []


def test_of_two_who_confirm_at_once_one_does(at: factories.People) -> None:
    case = factories.case(at.project, at.responder)
    proposal = proposals.propose_retirement(at.lead, case=case, reason="It is covered elsewhere.")
    confirm = [partial(proposals.confirm, by, proposal=proposal) for by in (at.qa, at.owner)]
    decline = [partial(proposals.decline, by, proposal=proposal, note="No.") for by in (at.qa, at.owner)]
    found = race([*confirm, *decline, partial(proposals.withdraw, at.lead, proposal=proposal)])
    assert sum(isinstance(one, InvalidTransition) for one in found) == 4
    proposal.refresh_from_db()
    closed = factories.fresh(case).stage == Stage.RETIRED
    assert closed is (proposal.state == ProposalState.CONFIRMED)
    assert AuditEvent.objects.filter(action__startswith="proposal.").count() == 2


def test_of_two_who_promote_at_once_one_does(at: factories.People) -> None:
    case = factories.reproduced(at)
    shown = factories.revision(case).fixture_hash
    promote = partial(lifecycle.promote, case=case, lane=LaneName.NONBLOCKING, fixture_hash=shown)
    found = race([partial(promote, by) for by in (at.qa, at.lead, reviewer(case))])
    assert sum(isinstance(one, LaneEntry) for one in found) == 1
    assert LaneEntry.objects.filter(case=case).count() == 1


def test_moves_at_once_leave_a_state_that_some_order_gives(at: factories.People) -> None:
    case = factories.reproduced(at)
    shown = factories.revision(case).fixture_hash
    until = timezone.now() + timedelta(days=7)
    race(
        [
            partial(lifecycle.send_back, at.qa, case=case, reason="Look again."),
            partial(lifecycle.mark_non_replayable, at.owner, case=case, reason="It cannot be.", missing="The answer."),
            partial(lifecycle.promote, at.lead, case=case, lane=LaneName.NONBLOCKING, fixture_hash=shown),
            partial(proposals.propose_extension, at.privacy, case=case, reason="Longer.", until=until),
        ]
    )
    now = factories.fresh(case)
    inside = LaneEntry.objects.filter(case=case, left_at=None).exists()
    assert bool(now.lane) is inside
    assert (now.stage == Stage.NON_REPLAYABLE) is not (inside or now.stage == Stage.IN_REVIEW)
    assert not standing_redaction(now) or now.stage != Stage.IN_REVIEW
    assert events.verify() == []


def standing_redaction(case: Case) -> bool:
    return any(given.kind == DecisionKind.REDACTION for given in standing(case))
