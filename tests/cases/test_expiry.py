from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from replaycases.accounts.models import LONGEST_RETENTION_DAYS, Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import evidence, expiry, gates, intake, reading
from replaycases.cases.models import (
    AuditEvent,
    Boundary,
    Case,
    CaseOwner,
    Classification,
    Notification,
    Payload,
    Proposal,
    ProposalKind,
    ProposalState,
)
from replaycases.cases.policies import InvalidTransition
from tests import factories

pytestmark = pytest.mark.django_db

GATE, MUTATION = "evidence_expiry", "a control's mutation"


@pytest.fixture
def case(project: Project, responder: User) -> Case:
    return factories.case(project, responder, classification=Classification.QUARANTINED)


def ends_in(case: Case, **left: int) -> None:
    """Its evidence, and the bytes of it, end then."""
    at = timezone.now() + timedelta(**left)
    Case.objects.filter(pk=case.pk).update(evidence_expires_at=at)
    Payload.objects.filter(pk=factories.revision(case).payload_id).update(expires_at=at)
    case.refresh_from_db()


def confirmed(case: Case, days: int, *, by: User, state: ProposalState = ProposalState.CONFIRMED) -> Proposal:
    proposal = Proposal.objects.create(
        case=case,
        kind=ProposalKind.EXTENSION,
        reason="The review needs more time.",
        until=timezone.now() + timedelta(days=days),
        proposed_by=case.created_by,
        proposed_at=timezone.now(),
    )
    if state != ProposalState.PENDING:
        Proposal.objects.filter(pk=proposal.pk).update(state=state, decided_by=by, decided_at=timezone.now())
    proposal.refresh_from_db()
    return proposal


def extend(case: Case, days: int, *, by: User) -> Proposal:
    proposal = confirmed(case, days, by=by)
    with transaction.atomic():
        expiry.extend(by, proposal=proposal)
    return proposal


def told(user: User) -> list[str]:
    return sorted(Notification.objects.filter(user=user).values_list("kind", flat=True))


# --- when it ends ---------------------------------------------------------------------------------------------------


def test_evidence_ends_after_the_projects_retention_and_earlier_if_asked(project: Project) -> None:
    for days, kept in ((None, 30), (30, 30), (3, 3)):
        left = expiry.expiry_for(project, days) - timezone.now()
        assert timedelta(days=kept, minutes=-1) < left <= timedelta(days=kept)


@pytest.mark.parametrize("days", [0, -1, 31])
def test_evidence_never_lives_longer_than_the_project_allows_and_never_no_time(project: Project, days: int) -> None:
    with pytest.raises(ValidationError, match="1 to 30 days"):
        expiry.expiry_for(project, days)


# --- extension ------------------------------------------------------------------------------------------------------


def test_a_confirmed_extension_moves_the_case_and_its_quarantined_bytes(case: Case, reviewer: User) -> None:
    ends_in(case, hours=5)
    proposal = extend(case, 20, by=reviewer)
    case.refresh_from_db()
    assert case.evidence_expires_at == proposal.until
    assert factories.revision(case).payload.expires_at == proposal.until
    event = AuditEvent.objects.get(action="evidence.extended")
    assert (event.case, event.actor) == (case, reviewer)
    assert str(proposal.pk) in event.after


def test_bytes_that_another_case_holds_end_with_the_first_of_them(
    case: Case, project: Project, responder: User, reviewer: User
) -> None:
    twin = factories.case(project, responder, classification=Classification.QUARANTINED)
    ends_in(twin, days=9)
    ends_in(case, days=2)
    extend(case, 20, by=reviewer)
    assert factories.revision(case).payload_id == factories.revision(twin).payload_id
    assert Payload.objects.get(pk=factories.revision(case).payload_id).expires_at == twin.evidence_expires_at


# --- bytes that two cases hold ---------------------------------------------------------------------------------------


def test_bytes_that_are_brought_again_for_a_shorter_time_end_for_nobody_unseen(
    case: Case, project: Project, responder: User
) -> None:
    for days in (3, 20):
        intake.create_case(
            responder, project=project, **factories.STATEMENT, fixture=factories.fixture(), evidence_days=days
        )
    case = factories.fresh(case)
    ends, own = factories.revision(case).payload.expires_at, case.evidence_expires_at
    assert ends is not None
    assert own is not None
    assert ends < timezone.now() + timedelta(days=3) < own
    event = AuditEvent.objects.get(action="evidence.end_set")
    assert (event.case, json.loads(event.after)["brought_by"]) == (case, "RC-2")
    (told,) = Notification.objects.filter(case=case, user=case.created_by)
    assert told.text == f"RC-1: RC-2 brought bytes that it holds too; they end on {expiry._day(ends)}."


def endless(case: Case) -> str:
    """What the gate says of the end of its raw evidence."""
    (found,) = [gate for gate in gates.gates_of(case, "in_review", actor=case.created_by) if gate.name == GATE]
    return found.state


@pytest.mark.parametrize("kind", ["fixture", "control", MUTATION])
def test_a_case_that_held_the_bytes_as_redacted_ends_with_them_once_they_come_in_raw(
    project: Project, responder: User, kind: str
) -> None:
    other = factories.case(project, responder, factories.fixture(input={"order": "o-2"}))
    control = factories.control(factories.revision(other), factories.person(project, Role.WORKFLOW_ENGINEER))
    assert (other.evidence_expires_at, endless(other)) == (None, "not_applicable")
    assert control.mutation is not None
    held = {"fixture": factories.revision(other).payload, "control": control.payload, MUTATION: control.mutation}[kind]
    raw = evidence.read(held)
    # From the time when who brought evidence said itself that it was redacted.
    Payload.objects.filter(pk=held.pk).update(released_at=None)
    if kind == MUTATION:
        mine = factories.case(project, responder, classification=Classification.QUARANTINED)
        intake.add_control(
            responder,
            revision=factories.revision(mine),
            name="mine",
            outcome_type=control.outcome_type,
            fixture=factories.fixture(case_id="control-2"),
            mutation=raw,
        )
    else:
        mine = factories.case(project, responder, raw, classification=Classification.QUARANTINED)
    other.refresh_from_db()
    mine.refresh_from_db()
    assert mine.evidence_expires_at is not None
    assert (other.evidence_expires_at, endless(other)) == (mine.evidence_expires_at, "satisfied")
    event = AuditEvent.objects.get(action="evidence.end_set")
    assert (event.case, event.actor) == (other, responder)
    assert mine.readable_id in event.after


def test_what_has_an_end_keeps_its_own(case: Case, project: Project, responder: User) -> None:
    ends_in(case, days=9)
    factories.case(project, responder, classification=Classification.QUARANTINED)
    before, _ = case.evidence_expires_at, case.refresh_from_db()
    assert case.evidence_expires_at == before
    assert not AuditEvent.objects.filter(action="evidence.end_set").exists()


def test_a_case_of_another_project_with_the_same_bytes_gets_no_end(responder: User, project: Project) -> None:
    elsewhere = factories.project("XX")
    other = factories.case(elsewhere, factories.person(elsewhere, Role.RESPONDER))
    factories.case(project, responder, classification=Classification.QUARANTINED)
    other.refresh_from_db()
    assert other.evidence_expires_at is None


def test_bytes_that_a_reviewer_approved_are_neither_raw_again_nor_end(project: Project, responder: User) -> None:
    other = factories.case(project, responder)
    reading.release_revision(factories.revision(other))
    mine = factories.case(project, responder, classification=Classification.QUARANTINED)
    other.refresh_from_db()
    payload = factories.revision(mine).payload
    assert payload == factories.revision(other).payload
    assert (payload.classification, payload.expires_at) == (Classification.REDACTED, None)
    assert (other.evidence_expires_at, endless(other)) == (None, "not_applicable")


def test_bytes_that_were_released_keep_their_own_time(case: Case, reviewer: User) -> None:
    ends_in(case, days=2)
    held = Payload.objects.filter(pk=factories.revision(case).payload_id)
    evidence.release(Q(pk=factories.revision(case).payload_id))
    extend(case, 20, by=reviewer)
    assert held.get().expires_at is None


@pytest.mark.parametrize("days", [1, LONGEST_RETENTION_DAYS + 1])
def test_an_extension_neither_shortens_nor_leaves_it_open(case: Case, reviewer: User, days: int) -> None:
    ends_in(case, days=2)
    before = case.evidence_expires_at
    with pytest.raises(InvalidTransition):
        extend(case, days, by=reviewer)
    case.refresh_from_db()
    assert case.evidence_expires_at == before
    assert not AuditEvent.objects.filter(action="evidence.extended").exists()


@pytest.mark.parametrize("state", [ProposalState.PENDING, ProposalState.DECLINED])
def test_nothing_is_lengthened_by_one_person(case: Case, reviewer: User, state: ProposalState) -> None:
    ends_in(case, days=2)
    proposal = confirmed(case, 20, by=reviewer, state=state)
    with pytest.raises(InvalidTransition, match="second person"), transaction.atomic():
        expiry.extend(reviewer, proposal=proposal)


def test_nothing_is_lengthened_once_its_time_is_over(case: Case, reviewer: User) -> None:
    ends_in(case, minutes=-1)
    with pytest.raises(InvalidTransition, match="time of the evidence is over"):
        extend(case, 6, by=reviewer)


# --- warnings -------------------------------------------------------------------------------------------------------


def test_each_warning_is_given_once_and_the_last_says_that_the_time_is_over(case: Case, responder: User) -> None:
    ends_in(case, days=8)
    assert expiry.look() == 0
    for left, kinds in (
        ({"days": 6}, ["expires_soon"]),
        ({"hours": 23}, ["expires_soon", "expires_soon"]),
        ({"hours": -1}, ["expired", "expires_soon", "expires_soon"]),
    ):
        ends_in(case, **left)
        assert expiry.look() == 1
        assert expiry.look() == 0
        assert told(responder) == kinds


def test_what_is_found_past_its_time_is_not_said_to_end_soon(case: Case, responder: User) -> None:
    ends_in(case, hours=-1)
    expiry.look()
    assert told(responder) == ["expired"]


def test_after_an_extension_the_warnings_come_again(case: Case, responder: User, reviewer: User) -> None:
    ends_in(case, hours=5)
    expiry.look()
    extend(case, 6, by=reviewer)
    assert expiry.look() == 1
    assert told(responder) == ["expires_soon", "expires_soon"]


def test_capturer_editor_privacy_owner_and_reviewers_are_warned_and_nobody_else(
    project: Project, responder: User, reviewer: User
) -> None:
    owner, passer_by = factories.person(project, Role.SECURITY_OWNER), factories.person(project, Role.QA)
    behalf = factories.person(project, Role.VIEWER)
    case = factories.case(project, responder, classification=Classification.QUARANTINED, on_behalf_of=behalf)
    CaseOwner.objects.create(case=case, boundary=Boundary.PRIVACY, user=owner)
    ends_in(case, hours=5)
    expiry.look()
    assert [told(user) for user in (responder, reviewer, owner, behalf)] == [["expires_soon"]] * 4
    assert told(passer_by) == []


def test_who_left_the_project_is_not_told(case: Case, responder: User, reviewer: User) -> None:
    Membership.objects.filter(user=responder).delete()
    User.objects.filter(pk=reviewer.pk).update(is_active=False)
    ends_in(case, hours=5)
    expiry.look()
    assert not Notification.objects.exists()


def test_evidence_that_ended_or_soon_ends_is_listed_the_first_to_end_first(
    case: Case, project: Project, responder: User
) -> None:
    later = factories.case(project, responder, factories.fixture(case_id="later"))
    ends_in(case, hours=-3)
    ends_in(later, hours=-1)
    assert list(expiry.expiring(Case.objects.all())) == [case, later]
    ends_in(case, hours=3)
    assert list(expiry.expiring(Case.objects.all())) == [later, case]
