"""What is said about a case: by whom, in which state, and what it does to what was approved."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.models import ApiToken, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, details, events, policies
from replaycases.cases.models import (
    AuditEvent,
    Boundary,
    Case,
    CaseOwner,
    DecisionKind,
    DecisionOutcome,
    GraderFinding,
    Provenance,
    Stage,
)
from tests import factories

pytestmark = pytest.mark.django_db

SAID = {
    "title": "Claimed a refund that was not known",
    "trigger": "The lookup gave no state.",
    "prohibited_outcome": "The reply says that the refund was completed.",
    "deciding_evidence": "The state was unknown.",
    "reported_symptom": "",
}
LINKS: dict[str, Any] = {
    "incident_url": "https://tracker.example/INC-1",
    "trace_id": "tr-66f1",
    "trace_url": "http://traces.example/tr-66f1",
    "affected": None,
    "fixed": None,
    "covering_test": "tests/test_refund.py::test_unknown",
}


@pytest.fixture
def case(project: Project, responder: User) -> Case:
    return factories.case(project, responder)


def token_of(user: User, project: Project) -> User:
    known = User.objects.get(pk=user.pk)
    known.token = ApiToken(project=project, user=known, name="ci", prefix="rc_1", expires_at=timezone.now())
    return known


def last_event() -> AuditEvent:
    event = AuditEvent.objects.order_by("-sequence").first()
    assert event is not None
    return event


def approve_expectation(case: Case, by: User) -> None:
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    decisions.record(
        by,
        revision=factories.revision(case),
        kind=DecisionKind.EXPECTATION,
        outcome=DecisionOutcome.APPROVED,
        note="",
    )


# --- the failure statement ------------------------------------------------------------------------------------------


def test_the_statement_is_edited_and_the_event_says_what_changed(case: Case, responder: User) -> None:
    details.edit_statement(responder, case=case, **{**SAID, "trigger": "The lookup timed out."})
    assert Case.objects.get(pk=case.pk).trigger == "The lookup timed out."
    event = last_event()
    assert (event.action, event.actor, event.case) == ("statement.edited", responder, case)
    assert json.loads(event.before) == {"trigger": "The lookup gave no state."}
    assert json.loads(event.after) == {"trigger": "The lookup timed out."}
    assert events.verify() == []


def test_the_event_repeats_only_the_start_of_a_long_text(case: Case, responder: User) -> None:
    details.edit_statement(responder, case=case, **{**SAID, "trigger": "The lookup gave no state. " + "x" * 900})
    assert len(json.loads(last_event().after)["trigger"]) < 300


@pytest.mark.parametrize("part", ["trigger", "prohibited_outcome", "deciding_evidence"])
def test_a_statement_that_says_nothing_is_refused_by_part(case: Case, responder: User, part: str) -> None:
    with pytest.raises(ValidationError) as refused:
        details.edit_statement(responder, case=case, **{**SAID, part: "the answer was bad"})
    assert list(refused.value.message_dict) == [part]
    assert getattr(Case.objects.get(pk=case.pk), part) == SAID[part]


@pytest.mark.parametrize("part", ["trigger", "prohibited_outcome", "deciding_evidence"])
def test_editing_a_part_voids_the_approved_expectation(case: Case, responder: User, owner: User, part: str) -> None:
    approve_expectation(case, owner)
    details.edit_statement(responder, case=case, **{**SAID, part: "Something else happened to the order."})
    assert decisions.standing(case) == {}
    assert json.loads(last_event().after)["expectation"] == "voided"


def test_a_better_title_voids_nothing(case: Case, responder: User, owner: User) -> None:
    approve_expectation(case, owner)
    details.edit_statement(
        responder, case=case, **{**SAID, "title": "Refund claimed", "reported_symptom": "Angry mail"}
    )
    assert list(decisions.standing(case)) == [DecisionKind.EXPECTATION]


def test_an_unchanged_statement_leaves_no_event_and_voids_nothing(case: Case, responder: User, owner: User) -> None:
    approve_expectation(case, owner)
    before = last_event().sequence
    details.edit_statement(responder, case=case, **SAID)
    assert last_event().sequence == before
    assert list(decisions.standing(case)) == [DecisionKind.EXPECTATION]


def test_nobody_overwrites_words_that_they_did_not_see(case: Case, responder: User) -> None:
    seen = details.statement_hash(case)
    details.edit_statement(responder, case=case, **{**SAID, "trigger": "The lookup timed out."}, seen=seen)
    with pytest.raises(policies.SeenAnother):
        details.edit_statement(responder, case=case, **{**SAID, "title": "Another title"}, seen=seen)
    assert Case.objects.get(pk=case.pk).trigger == "The lookup timed out."


@pytest.mark.parametrize("stage", sorted(set(Stage) - policies.DRAFT))
def test_an_approved_or_closed_case_keeps_its_statement(case: Case, responder: User, stage: str) -> None:
    Case.objects.filter(pk=case.pk).update(stage=stage)
    with pytest.raises(policies.InvalidTransition):
        details.edit_statement(responder, case=case, **{**SAID, "trigger": "The lookup timed out."})


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.RESPONDER, Role.INCIDENT_OWNER}))
def test_others_do_not_edit_the_statement(case: Case, role: Role) -> None:
    with pytest.raises(PermissionDenied):
        details.edit_statement(factories.person(case.project, role), case=case, **SAID)


# --- links and versions ---------------------------------------------------------------------------------------------


def test_links_and_versions_are_kept_and_changed(case: Case, responder: User) -> None:
    engineer = factories.person(case.project, Role.WORKFLOW_ENGINEER)
    old, new = (factories.implementation(case.project, engineer, f"# {n}", version=n) for n in "12")
    details.edit_provenance(responder, case=case, **{**LINKS, "affected": old})
    details.edit_provenance(responder, case=case, **{**LINKS, "affected": old, "fixed": new})
    kept = Provenance.objects.get(case=case)
    assert (kept.incident_url, kept.affected, kept.fixed) == (LINKS["incident_url"], old, new)
    assert json.loads(last_event().before) == {"fixed": ""}
    assert json.loads(last_event().after) == {"fixed": str(new.pk)}


@pytest.mark.parametrize("field", ["incident_url", "trace_url"])
@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "ftp://traces.example/", "data:text/html,x", "tracker", "//x.example"]
)
def test_only_web_addresses_are_links(case: Case, responder: User, field: str, url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        details.edit_provenance(responder, case=case, **{**LINKS, field: url})
    assert list(refused.value.message_dict) == [field]
    assert not Provenance.objects.exists()


@pytest.mark.parametrize("side", ["affected", "fixed"])
def test_a_version_of_another_project_is_refused(case: Case, responder: User, side: str) -> None:
    other = factories.project("OTHER")
    foreign = factories.implementation(other, factories.everyone(other))
    with pytest.raises(ValidationError) as refused:
        details.edit_provenance(responder, case=case, **{**LINKS, side: foreign})
    assert list(refused.value.message_dict) == [side]


def test_the_fix_is_not_the_affected_version(case: Case, responder: User) -> None:
    same = factories.implementation(case.project, factories.person(case.project, Role.WORKFLOW_ENGINEER))
    with pytest.raises(ValidationError):
        details.edit_provenance(responder, case=case, **{**LINKS, "affected": same, "fixed": same})


def test_a_viewer_edits_no_links(case: Case) -> None:
    with pytest.raises(PermissionDenied):
        details.edit_provenance(factories.person(case.project, Role.VIEWER), case=case, **LINKS)


# --- owners ---------------------------------------------------------------------------------------------------------


def test_owners_are_people_or_teams_and_change_one_by_one(case: Case, responder: User, owner: User) -> None:
    team = Team.objects.create(project=case.project, name="Payments")
    team.members.add(owner)
    details.set_owners(responder, case=case, owners={Boundary.WORKFLOW: team, Boundary.PRIVACY: owner})
    details.set_owners(responder, case=case, owners={Boundary.WORKFLOW: responder})
    kept = {row.boundary: row.user or row.team for row in CaseOwner.objects.filter(case=case)}
    assert kept == {Boundary.WORKFLOW: responder, Boundary.PRIVACY: owner}
    assert json.loads(last_event().before) == {"workflow": f"team:{team.pk}"}
    details.set_owners(responder, case=case, owners={Boundary.WORKFLOW: None})
    assert not CaseOwner.objects.filter(boundary=Boundary.WORKFLOW).exists()


def test_setting_the_same_owners_again_leaves_no_event(case: Case, responder: User, owner: User) -> None:
    details.set_owners(responder, case=case, owners={Boundary.PRIVACY: owner})
    before = last_event().sequence
    details.set_owners(responder, case=case, owners={Boundary.PRIVACY: owner, Boundary.WORKFLOW: None})
    assert last_event().sequence == before


def test_whoever_is_not_in_the_project_owns_nothing_in_it(case: Case, responder: User) -> None:
    other = factories.project("OTHER")
    gone = factories.person(case.project, Role.QA)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    strangers = {
        factories.person(other, Role.QA): "is not a member of project",
        User.objects.get(pk=gone.pk): "is not active",
        Team.objects.create(project=other, name="Theirs"): "no team of project",
        Team.objects.create(project=case.project, name="Nobody"): "no members",
    }
    for stranger, why in strangers.items():
        with pytest.raises(ValidationError, match=why) as refused:
            details.set_owners(responder, case=case, owners={Boundary.WORKFLOW: stranger})
        assert list(refused.value.message_dict) == ["workflow"]
    assert not CaseOwner.objects.exists()


# --- security incidents ---------------------------------------------------------------------------------------------


def test_any_editor_marks_a_security_incident_and_only_the_security_owner_clears_it(
    case: Case, responder: User
) -> None:
    security = factories.person(case.project, Role.SECURITY_OWNER)
    details.set_security_incident(responder, case=case, flagged=True)
    assert Case.objects.get(pk=case.pk).security_incident
    with pytest.raises(PermissionDenied):
        details.set_security_incident(responder, case=case, flagged=False)
    with pytest.raises(PermissionDenied):
        details.set_security_incident(token_of(security, case.project), case=case, flagged=False)
    details.set_security_incident(security, case=case, flagged=False)
    assert not Case.objects.get(pk=case.pk).security_incident


def test_containment_is_confirmed_once_by_the_security_owner_with_a_note(case: Case, responder: User) -> None:
    security = factories.person(case.project, Role.SECURITY_OWNER)
    details.set_security_incident(responder, case=case, flagged=True)
    with pytest.raises(PermissionDenied):
        details.confirm_containment(responder, case=case, note="Keys were changed.")
    with pytest.raises(ValidationError):
        details.confirm_containment(security, case=case, note="  ")
    details.confirm_containment(security, case=case, note="Keys were changed.")
    kept = Case.objects.get(pk=case.pk)
    assert (kept.contained_by, kept.containment_note) == (security, "Keys were changed.")
    with pytest.raises(policies.InvalidTransition):
        details.confirm_containment(security, case=case, note="Again.")
    with pytest.raises(policies.InvalidTransition):
        details.set_security_incident(security, case=case, flagged=False)


def test_a_case_that_is_no_security_incident_has_nothing_to_contain(case: Case) -> None:
    with pytest.raises(policies.InvalidTransition):
        details.confirm_containment(factories.person(case.project, Role.SECURITY_OWNER), case=case, note="Done.")


# --- graders --------------------------------------------------------------------------------------------------------


def recorded(case: Case, by: User) -> GraderFinding:
    return details.record_grader_finding(
        by, case=case, grader="claims", version="4", label="false claim", result="0.97"
    )


def test_a_grader_finding_is_confirmed_by_another_incident_owner(case: Case, owner: User) -> None:
    finding = recorded(case, owner)
    with pytest.raises(policies.InvalidTransition):
        details.confirm_grader_finding(owner, finding=finding)
    second = factories.person(case.project, Role.INCIDENT_OWNER)
    with pytest.raises(PermissionDenied):
        details.confirm_grader_finding(token_of(second, case.project), finding=finding)
    assert details.confirm_grader_finding(second, finding=finding).confirmed_by == second
    assert last_event().action == "grader_finding.confirmed"
    with pytest.raises(policies.InvalidTransition):
        details.confirm_grader_finding(factories.person(case.project, Role.INCIDENT_OWNER), finding=finding)


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.INCIDENT_OWNER}))
def test_nobody_else_confirms_a_grader_finding(case: Case, responder: User, role: Role) -> None:
    finding = recorded(case, responder)
    with pytest.raises(PermissionDenied):
        details.confirm_grader_finding(factories.person(case.project, role), finding=finding)


@pytest.mark.parametrize("field", ["grader", "version", "label"])
def test_a_grader_finding_names_grader_version_and_label(case: Case, responder: User, field: str) -> None:
    said = {"grader": "claims", "version": "4", "label": "false claim", "result": ""}
    with pytest.raises(ValidationError) as refused:
        details.record_grader_finding(responder, case=case, **{**said, field: " "})
    assert list(refused.value.message_dict) == [field]


@pytest.mark.parametrize("stage", [Stage.RETIRED, Stage.NON_REPLAYABLE])
def test_nothing_is_said_about_a_closed_case(case: Case, responder: User, owner: User, stage: Stage) -> None:
    finding = recorded(case, responder)
    Case.objects.filter(pk=case.pk).update(stage=stage)
    with pytest.raises(policies.InvalidTransition):
        details.edit_provenance(responder, case=case, **LINKS)
    with pytest.raises(policies.InvalidTransition):
        details.set_owners(responder, case=case, owners={Boundary.PRIVACY: owner})
    with pytest.raises(policies.InvalidTransition):
        details.set_security_incident(responder, case=case, flagged=True)
    with pytest.raises(policies.InvalidTransition):
        recorded(case, responder)
    with pytest.raises(policies.InvalidTransition):
        details.confirm_grader_finding(owner, finding=finding)
