"""What needs two people: who may be either, what it is bound to, and that it ends."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.models import ApiToken, Membership, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import gates, intake, lifecycle, proposals
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Classification,
    LaneName,
    Proposal,
    ProposalKind,
    ProposalState,
    Stage,
)
from replaycases.cases.policies import BY_PERSON, InvalidTransition
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def soon(days: float = 7) -> datetime:
    return timezone.now() + timedelta(days=days)


def unseen(of: factories.People) -> Case:
    """In quarantine, never replayed: its red is missing."""
    case = factories.case(of.project, of.responder, classification=Classification.QUARANTINED)
    factories.describe(of, case)
    return factories.fresh(case)


def override(of: factories.People, case: Case, gate: str = "red", *, days: float = 7) -> Proposal:
    return proposals.propose_override(
        of.lead, case=case, gate=gate, reason="The old service is gone.", until=soon(days)
    )


def demotion(of: factories.People, case: Case, owner: User | Team | None = None) -> Proposal:
    return proposals.propose_demotion(of.qa, case=case, reason="It flickers.", until=soon(), owner=owner or of.engineer)


def submit(of: factories.People, case: Case) -> Case:
    seen = factories.revision(factories.fresh(case)).fixture_hash
    return lifecycle.submit(of.responder, case=case, fixture_hash=seen)


# --- overrides -------------------------------------------------------------------------------------------------------


def test_a_missing_red_is_overridden_by_two_and_stays_visible(of: factories.People) -> None:
    case = unseen(of)
    proposal = override(of, case)
    with pytest.raises(gates.GatesClosed):
        submit(of, case)
    proposals.confirm(of.owner, proposal=proposal)
    assert submit(of, case).stage == Stage.IN_REVIEW
    shown = {gate.name: gate for gate in gates.gates_of(case, "in_review", actor=of.qa)}["red"]
    assert shown.state == "overridden"
    assert shown.override is not None
    assert shown.override.id == proposal.pk


def test_an_override_holds_for_the_revision_it_was_made_for(of: factories.People) -> None:
    case = unseen(of)
    proposals.confirm(of.owner, proposal=override(of, case))
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(prompt_version="2"))
    with pytest.raises(gates.GatesClosed):
        submit(of, case)
    intake.add_revision(of.responder, case=case, fixture=factories.fixture())
    with pytest.raises(gates.GatesClosed):
        submit(of, case)


def test_an_override_ends(of: factories.People, monkeypatch: pytest.MonkeyPatch) -> None:
    case = unseen(of)
    proposals.confirm(of.owner, proposal=override(of, case))
    later = soon(8)
    monkeypatch.setattr(timezone, "now", lambda: later)
    with pytest.raises(gates.GatesClosed):
        submit(of, case)


def test_an_override_is_not_confirmed_after_its_time_nor_for_another_revision(
    of: factories.People, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = unseen(of)
    proposal = override(of, case)
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(prompt_version="2"))
    with pytest.raises(InvalidTransition, match="not the current one"):
        proposals.confirm(of.owner, proposal=proposal)
    later = soon(8)
    monkeypatch.setattr(timezone, "now", lambda: later)
    with pytest.raises(InvalidTransition, match="has passed"):
        proposals.confirm(of.owner, proposal=proposal)
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.PENDING


@pytest.mark.parametrize(
    "gate", ["statement", "evidence_expiry", "comments_resolved", "redaction_approval", "promoter"]
)
def test_nothing_else_is_overridden(of: factories.People, gate: str) -> None:
    for case in (unseen(of), factories.in_review(of)):
        with pytest.raises(InvalidTransition, match="Nothing here can be overridden"):
            override(of, case, gate)
    assert not Proposal.objects.exists()


def test_a_red_that_is_there_needs_no_override(of: factories.People) -> None:
    with pytest.raises(InvalidTransition):
        override(of, factories.quarantined(of))


def test_a_gate_that_cannot_be_computed_is_overridden_but_no_approval(
    of: factories.People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(facts: object) -> None:
        raise RuntimeError

    case = factories.in_review(of)
    monkeypatch.setattr(gates, "_RULES", {**gates._RULES, "fixture_valid": broken, "redaction_approval": broken})
    with pytest.raises(InvalidTransition):
        override(of, case, "redaction_approval")
    proposals.confirm(of.qa, proposal=override(of, case, "fixture_valid"))
    assert factories.approve_redaction(of, case).decided_by == of.privacy


@pytest.mark.parametrize("days", [-1, 0, 91])
def test_what_is_proposed_ends_in_the_near_future(of: factories.People, days: float) -> None:
    with pytest.raises(ValidationError, match="in the future"):
        override(of, unseen(of), days=days)


def test_there_is_no_override_of_an_unknown_gate_or_without_a_reason(of: factories.People) -> None:
    case = unseen(of)
    with pytest.raises(ValidationError, match="no gate"):
        override(of, case, "everything")
    with pytest.raises(ValidationError, match="Say why"):
        proposals.propose_override(of.lead, case=case, gate="red", reason="  ", until=soon())


# --- the second person -----------------------------------------------------------------------------------------------


def test_nobody_is_both_people(of: factories.People) -> None:
    both = factories.everyone(of.project)
    proposal = proposals.propose_override(both, case=unseen(of), gate="red", reason="It is gone.", until=soon())
    for act in (proposals.confirm, proposals.decline):
        with pytest.raises(PermissionDenied, match="You proposed it"):
            act(both, proposal=proposal, note="Yes.")
    assert proposals.why_not_decide(both, proposal).startswith("You proposed it")


def test_whose_work_the_case_is_confirms_no_override_of_it(of: factories.People) -> None:
    case = unseen(of)
    Membership.objects.create(project=of.project, user=of.responder, role=Role.INCIDENT_OWNER)
    with pytest.raises(PermissionDenied, match="You captured this case"):
        proposals.confirm(of.responder, proposal=override(of, case))


def test_a_missing_red_is_for_who_owns_the_prohibited_outcome(of: factories.People) -> None:
    proposal = override(of, unseen(of))
    with pytest.raises(PermissionDenied, match="Incident owner"):
        proposals.confirm(of.qa, proposal=proposal)
    assert proposals.why_not_decide(of.owner, proposal) == ""


def test_a_token_neither_proposes_nor_decides_nor_withdraws(of: factories.People) -> None:
    case = unseen(of)
    proposal = override(of, case)
    for person in (of.lead, of.owner):
        person.token = ApiToken(project=of.project, user=person, name="nightly", prefix="rc_12345678")
    for act in (
        lambda: override(of, case),
        lambda: proposals.confirm(of.owner, proposal=proposal),
        lambda: proposals.decline(of.owner, proposal=proposal, note="No."),
        lambda: proposals.withdraw(of.lead, proposal=proposal),
    ):
        with pytest.raises(PermissionDenied, match=BY_PERSON):
            act()
    assert Proposal.objects.get().state == ProposalState.PENDING


def test_a_superuser_without_the_role_is_no_second_person(of: factories.People) -> None:
    root = User.objects.create_superuser("root", "root@example.invalid", "a long enough password")
    with pytest.raises(PermissionDenied):
        proposals.confirm(root, proposal=override(of, unseen(of)))


def test_what_somebody_proposed_who_left_is_not_confirmed(of: factories.People) -> None:
    proposal = override(of, unseen(of))
    Membership.objects.filter(user=of.lead).delete()
    with pytest.raises(InvalidTransition, match="may not propose it any more"):
        proposals.confirm(of.owner, proposal=proposal)


def test_only_who_proposed_it_takes_it_back(of: factories.People) -> None:
    proposal = override(of, unseen(of))
    with pytest.raises(PermissionDenied):
        proposals.withdraw(of.owner, proposal=proposal)
    assert proposals.withdraw(of.lead, proposal=proposal).state == ProposalState.WITHDRAWN


def test_what_is_decided_stays_decided(of: factories.People) -> None:
    proposal = proposals.decline(of.owner, proposal=override(of, unseen(of)), note="Find the old service.")
    for act in (proposals.confirm, proposals.decline):
        with pytest.raises(InvalidTransition, match="declined already"):
            act(of.owner, proposal=proposal, note="Yes.")
    with pytest.raises(InvalidTransition, match="declined already"):
        proposals.withdraw(of.lead, proposal=proposal)
    assert proposals.why_not_decide(of.owner, proposal) == "It was declined already."


def test_the_same_is_proposed_once_at_a_time(of: factories.People) -> None:
    case = unseen(of)
    first = override(of, case)
    with pytest.raises(InvalidTransition, match="proposed already"):
        override(of, case)
    proposals.withdraw(of.lead, proposal=first)
    assert override(of, case).state == ProposalState.PENDING


def test_every_step_of_a_proposal_is_in_the_chain(of: factories.People) -> None:
    proposals.confirm(of.owner, proposal=override(of, unseen(of)), note="It is.")
    told = AuditEvent.objects.filter(action__startswith="proposal.").order_by("sequence")
    assert [(event.action, event.actor, json.loads(event.after)["kind"]) for event in told] == [
        ("proposal.made", of.lead, "override"),
        ("proposal.confirmed", of.owner, "override"),
    ]


# --- demotion, retirement, extension ---------------------------------------------------------------------------------


def test_a_demotion_takes_a_case_out_of_blocking_by_two(of: factories.People) -> None:
    case = factories.blocking(of)
    proposal = demotion(of, case)
    assert factories.fresh(case).lane == LaneName.BLOCKING
    proposals.confirm(of.lead, proposal=proposal)
    assert factories.fresh(case).lane == LaneName.NONBLOCKING


def test_a_demotion_names_who_answers_for_it(of: factories.People) -> None:
    case = factories.blocking(of)
    stranger = factories.person(factories.project("OTHER"), Role.QA)
    empty = Team.objects.create(project=of.project, name="Empty")
    foreign = Team.objects.create(project=stranger.memberships.get().project, name="Foreign")
    foreign.members.add(of.engineer)
    for nobody in (stranger, empty, foreign):
        with pytest.raises(ValidationError, match=r"is not a member|no team of|no members"):
            demotion(of, case, nobody)
    empty.members.add(of.engineer)
    assert demotion(of, case, empty).owner_team == empty


def test_what_does_not_block_is_not_demoted(of: factories.People) -> None:
    with pytest.raises(InvalidTransition, match="does not stand in blocking"):
        demotion(of, factories.case(of.project, of.responder))


def test_a_demotion_is_not_confirmed_once_the_revision_left(of: factories.People) -> None:
    case = factories.blocking(of)
    proposal = demotion(of, case)
    proposals.confirm(of.owner, proposal=proposals.propose_retirement(of.lead, case=case, reason="It is gone."))
    with pytest.raises(InvalidTransition):
        proposals.confirm(of.lead, proposal=proposal)
    assert proposals.decline(of.lead, proposal=proposal, note="It is retired.").state == ProposalState.DECLINED


def test_a_longer_life_is_given_by_two_and_at_most_once_so_long(of: factories.People) -> None:
    case = factories.case(of.project, of.responder, classification=Classification.QUARANTINED)
    for days in (1, 91):
        with pytest.raises(ValidationError):
            proposals.propose_extension(of.responder, case=case, reason="The vendor still looks.", until=soon(days))
    until = soon(60)
    proposal = proposals.propose_extension(of.responder, case=case, reason="The vendor still looks.", until=until)
    assert factories.fresh(case).evidence_expires_at == case.evidence_expires_at
    proposals.confirm(of.security, proposal=proposal)
    assert factories.fresh(case).evidence_expires_at == until


@pytest.mark.parametrize("kind", list(ProposalKind))
def test_every_kind_has_its_second_people(of: factories.People, kind: ProposalKind) -> None:
    roles = proposals.confirmers(Proposal(kind=kind, gate="controls"))
    assert roles
    assert Role.VIEWER not in roles
    assert Role.ADMINISTRATOR not in roles
