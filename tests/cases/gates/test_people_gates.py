"""What people decide: approvals, owners, provenance, controls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.accounts.models import Membership, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    behalf,
    comments,
    comparing,
    decisions,
    details,
    gates,
    immutability,
    intake,
    jobs,
)
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Control,
    Decision,
    LaneName,
    OutcomeType,
    Provenance,
)
from tests import factories
from tests.cases.gates.asking import (
    gate,
)
from tests.factories import People

pytestmark = pytest.mark.django_db
COMPARE = "Compare the affected with the fixed version, with controls."


# --- what people decide -----------------------------------------------------------------------------------------------


def test_a_comment_on_any_revision_must_be_resolved(of: People) -> None:
    case = factories.in_review(of)
    comment = comments.add(of.privacy, revision=factories.revision(case), pointer="", text="Whose order is it?")
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    assert gate(case, "redaction_approved", "comments_resolved", of.privacy).state == "unsatisfied"
    comments.resolve(of.privacy, comment=comment, resolution="A made-up one.")
    assert gate(case, "redaction_approved", "comments_resolved", of.privacy).state == "satisfied"


def test_the_redaction_of_this_content_must_be_approved(of: People) -> None:
    case = factories.in_review(of)
    assert gate(case, "reproduced", "redaction_approval", of.qa).state == "unsatisfied"
    factories.approve_redaction(of, case)
    assert gate(case, "reproduced", "redaction_approval", of.qa).state == "satisfied"
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    assert gate(case, "reproduced", "redaction_approval", of.qa).state == "unsatisfied"


def test_other_checks_keep_the_redaction_and_void_the_expectation(of: People) -> None:
    case = factories.reproduced(of)
    data = factories.fixture(expected=factories.EXPECTED_MORE)
    intake.add_revision(of.responder, case=case, fixture=data)
    assert gate(case, "nonblocking", "redaction_approval", of.qa).state == "satisfied"
    assert gate(case, "nonblocking", "expectation_approval", of.qa).state == "unsatisfied"


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("redaction_approval", {"content_hash": "sha256:other"}),
        ("expectation_approval", {"fixture_hash": "sha256:other"}),
        ("expectation_approval", {"checks_hash": "sha256:other"}),
    ],
)
def test_an_approval_of_other_bytes_is_none(of: People, name: str, changed: dict[str, str]) -> None:
    case = factories.reproduced(of)
    assert gate(case, "nonblocking", name, of.qa).state == "satisfied"
    immutability.remove("default")
    Decision.objects.update(**changed)
    assert gate(case, "nonblocking", name, of.qa).state == "unsatisfied"


def test_every_boundary_needs_an_owner(of: People) -> None:
    case = factories.reproduced(of)
    details.set_owners(of.engineer, case=case, owners={Boundary.DEPENDENCY: None})
    found = gate(case, "nonblocking", "owners", of.qa)
    assert found.state == "unsatisfied"
    assert "dependency" in found.detail


def test_an_owner_who_left_can_be_asked_nothing(of: People) -> None:
    case = factories.reproduced(of)
    User.objects.filter(pk=of.owner.pk).update(is_active=False)
    assert gate(case, "nonblocking", "owners", of.qa).state == "unsatisfied"


def test_an_owner_with_no_role_left_in_the_project_can_be_asked_nothing(of: People) -> None:
    case = factories.reproduced(of)
    Membership.objects.create(project=factories.project("XX"), user=of.owner, role=Role.QA)
    held = Membership.objects.get(project=of.project, user=of.owner)
    held.delete()
    assert gate(case, "nonblocking", "owners", of.qa).state == "unsatisfied"
    with pytest.raises(gates.GatesClosed, match="Nobody who can be asked owns"):
        factories.promoted(of, case, LaneName.NONBLOCKING)
    Membership.objects.create(project=of.project, user=of.owner, role=Role.VIEWER)
    assert factories.promoted(of, case, LaneName.NONBLOCKING).left_at is None


def test_a_team_owns_while_somebody_is_in_it(of: People) -> None:
    case = factories.reproduced(of)
    team = Team.objects.create(project=of.project, name="Payments")
    team.members.add(of.engineer)
    CaseOwner.objects.filter(case=case, boundary=Boundary.DEPENDENCY).update(user=None, team=team)
    assert gate(case, "nonblocking", "owners", of.qa).state == "satisfied"
    stranger = factories.person(factories.project("XX"), Role.QA)
    team.members.set([stranger])
    assert gate(case, "nonblocking", "owners", of.qa).state == "unsatisfied"
    team.members.set([stranger, of.engineer])
    assert gate(case, "nonblocking", "owners", of.qa).state == "satisfied"
    team.members.clear()
    assert gate(case, "nonblocking", "owners", of.qa).state == "unsatisfied"


@pytest.mark.parametrize(
    ("lost", "named"),
    [({"affected": None}, "affected version"), ({"fixed": None}, "fixed version"), ({"trace_id": ""}, "trace")],
    ids=["affected", "fixed", "trace"],
)
def test_provenance_lacks_nothing(of: People, lost: dict[str, Any], named: str) -> None:
    case = factories.reproduced(of)
    assert gate(case, "nonblocking", "provenance", of.qa).state == "satisfied"
    Provenance.objects.update(**lost)
    found = gate(case, "nonblocking", "provenance", of.qa)
    assert found.state == "unsatisfied"
    assert named in found.detail


def test_an_incident_without_id_or_link_is_not_named(of: People) -> None:
    case = factories.reproduced(of)
    Case.objects.update(incident_id="")
    assert gate(case, "nonblocking", "provenance", of.qa).state == "unsatisfied"
    Provenance.objects.update(incident_url="https://incidents.example.invalid/1")
    assert gate(case, "nonblocking", "provenance", of.qa).state == "satisfied"


@pytest.mark.parametrize("lost", [{"fixed": None}, {"covering_test": ""}], ids=["fixed", "test"])
def test_a_fixed_version_and_a_covering_test_are_recorded(of: People, lost: dict[str, Any]) -> None:
    case = factories.nonblocking(of)
    assert gate(case, "blocking", "covered", of.qa).state == "satisfied"
    Provenance.objects.update(**lost)
    assert gate(case, "blocking", "covered", of.qa).state == "unsatisfied"


def test_neither_capturer_nor_author_of_the_expectation_promotes(of: People) -> None:
    case = factories.nonblocking(of)
    intake.add_revision(of.engineer, case=case, fixture=factories.fixture(expected=factories.EXPECTED_MORE))
    assert gate(case, "blocking", "promoter", of.qa).state == "satisfied"
    for author in (of.responder, of.engineer):
        assert gate(case, "blocking", "promoter", author).state == "unsatisfied"


def test_who_restated_or_captured_what_the_case_is_about_does_not_promote_it_either(of: People) -> None:
    case = factories.nonblocking(of)
    assert gate(case, "blocking", "promoter", of.qa).state == "satisfied"
    behalf.in_part_theirs(case, {of.qa.pk})
    found = gate(case, "blocking", "promoter", of.qa)
    assert (found.state, found.detail) == ("unsatisfied", decisions.contributors(case)[of.qa.pk])


def test_the_author_of_the_checks_is_who_made_them_what_they_are(of: People) -> None:
    case = factories.in_review(of)
    intake.add_revision(of.engineer, case=case, fixture=factories.fixture(expected=factories.EXPECTED_MORE))
    more = factories.fixture(expected=factories.EXPECTED_MORE, input={"order": "o-2"})
    intake.add_revision(of.responder, case=case, fixture=more)
    detail = gate(case, "blocking", "promoter", of.qa).detail
    assert str(of.engineer) in detail
    assert "revision 2" in detail


# --- controls ---------------------------------------------------------------------------------------------------------


def effectful(**changes: Any) -> bytes:
    """The worked fixture, with a lookup that has an effect."""
    document = json.loads(factories.fixture(**changes))
    document["events"][0]["effect"] = {"action": "refund_lookup", "key": "/order", "accepted": True}
    return json.dumps(document).encode()


NO_ANSWER = {"type": "error", "error": {"kind": "timeout", "message": "no answer"}}
DONE = b'[{"op": "replace", "path": "/events/0/outcome", "value": {"type": "result", "value": {"state": "done"}}}]'
# The fixed version, which also bears that no answer comes.
PATIENT_CODE = factories.FIXED_CODE.replace(
    'found = session.tools.call("refund.lookup", {"order": "o-1"})',
    """try:
        found = session.tools.call("refund.lookup", {"order": "o-1"})
    except session.ToolError:
        found = {"state": "unknown"}""",
)


def ending(kind: OutcomeType) -> bytes:
    """A control of its own in which the lookup ends so."""
    document = json.loads(effectful(case_id=f"control-{kind}", prompt_version=kind))
    if kind == OutcomeType.TIMEOUT:
        document["events"][0]["outcome"] = NO_ANSWER
    if kind == OutcomeType.REJECTION:
        document["events"][0]["effect"]["accepted"] = False
    return json.dumps(document).encode()


def add_control(of: People, case: Case, kind: OutcomeType, tool: str, mutation: bytes = DONE) -> None:
    intake.add_control(
        of.engineer,
        revision=factories.revision(case),
        name=f"{kind} of {tool}",
        outcome_type=kind,
        tool=tool,
        fixture=ending(kind),
        mutation=mutation,
    )


@pytest.fixture
def with_effect(of: People) -> Case:
    case = factories.case(of.project, of.responder, effectful())
    factories.describe(of, case)
    patient = factories.implementation(of.project, of.engineer, PATIENT_CODE, version="3")
    Provenance.objects.update(fixed=patient)
    return factories.fresh(case)


def controls(of: People, case: Case) -> gates.Gate:
    return gate(case, "nonblocking", "controls", of.qa)


def test_a_tool_with_an_effect_needs_a_control_of_each_outcome(of: People, with_effect: Case) -> None:
    for kind in (OutcomeType.SUCCESS, OutcomeType.REJECTION, OutcomeType.TIMEOUT):
        add_control(of, with_effect, kind, "refund.lookup")
    factories.replayed(of, with_effect)
    found = controls(of, with_effect)
    assert found.state == "unsatisfied"
    assert "uncertain completion of refund.lookup" in found.detail
    assert "explicit rejection" not in found.detail
    add_control(of, with_effect, OutcomeType.UNCERTAIN, "refund.lookup")
    factories.replayed(of, with_effect)
    assert controls(of, with_effect).state == "satisfied"


def test_a_control_of_another_tool_covers_nothing(of: People, with_effect: Case) -> None:
    for kind in OutcomeType:
        add_control(of, with_effect, kind, "refund.lookup")
    factories.replayed(of, with_effect)
    immutability.remove("default")
    Control.objects.filter(outcome_type=OutcomeType.TIMEOUT).update(tool="refund.cancel")
    assert controls(of, with_effect).detail == "No control passed for: timeout before a known result of refund.lookup."


def test_controls_that_were_not_replayed_wait(of: People, with_effect: Case) -> None:
    for kind in OutcomeType:
        add_control(of, with_effect, kind, "refund.lookup")
    jobs.request_comparison(
        of.engineer,
        revision=factories.revision(with_effect),
        old=with_effect.provenance.affected,
        new=with_effect.provenance.fixed,
    )
    found = controls(of, with_effect)
    assert (found.state, found.remedy) == ("unsatisfied", "Wait until its replays have ended.")
    assert found.detail.startswith("No result now for: ")


def test_controls_that_nobody_asked_to_replay_are_not_said_to_wait_or_fail(of: People, with_effect: Case) -> None:
    factories.replayed(of, with_effect)
    for kind in OutcomeType:
        add_control(of, with_effect, kind, "refund.lookup")
    comparing.refresh_waiting()
    for name in ("controls", "controls_pass"):
        found = gate(with_effect, "blocking", name, of.qa)
        assert (found.state, found.remedy) == ("unsatisfied", COMPARE)
        assert found.detail.startswith("Not replayed yet: ")
        assert "success" in found.detail


def test_a_control_that_cannot_turn_red_covers_nothing(of: People, with_effect: Case) -> None:
    idle = b'[{"op": "replace", "path": "/events/0/outcome/error/message", "value": "odd"}]'
    for kind in OutcomeType:
        add_control(of, with_effect, kind, "refund.lookup", idle if kind == OutcomeType.TIMEOUT else DONE)
    factories.replayed(of, with_effect)
    found = controls(of, with_effect)
    assert found.state == "unsatisfied"
    assert found.detail == "No control passed for: timeout before a known result of refund.lookup."


def test_without_an_effect_one_control_is_enough_and_none_is_not(of: People, captured: Case) -> None:
    factories.describe(of, captured)
    case = factories.fresh(captured)
    assert controls(of, case).state == "unsatisfied"
    assert gate(case, "nonblocking", "control_approvals", of.qa).state == "not_applicable"
    assert gate(case, "blocking", "controls_pass", of.qa).state == "unsatisfied"
    factories.control(factories.revision(case), of.engineer)
    factories.replayed(of, case)
    assert controls(of, case).state == "satisfied"


def test_a_control_that_did_not_pass_is_not_enough_without_an_effect(of: People, captured: Case) -> None:
    factories.describe(of, captured)
    case = factories.fresh(captured)
    intake.add_control(
        of.engineer,
        revision=factories.revision(case),
        name="never red",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="never-red"),
    )
    factories.replayed(of, case)
    assert controls(of, case).state == "unsatisfied"


def test_controls_that_passed_for_another_version_show_nothing(of: People) -> None:
    case = factories.reproduced(of)
    other = factories.implementation(of.project, of.engineer, factories.FIXED_CODE + "# other", version="8")
    Provenance.objects.update(fixed=other)
    assert controls(of, case).state == "unsatisfied"


def test_every_control_is_approved(of: People) -> None:
    case = factories.reproduced(of)
    assert gate(case, "nonblocking", "control_approvals", of.qa).state == "satisfied"
    factories.control(factories.revision(case), of.engineer, name="late")
    found = gate(case, "nonblocking", "control_approvals", of.qa)
    assert (found.state, found.detail) == ("unsatisfied", "Not approved: late.")


def test_every_control_passes_before_a_case_blocks(of: People) -> None:
    case = factories.nonblocking(of)
    assert gate(case, "blocking", "controls_pass", of.qa).state == "satisfied"
    factories.control(factories.revision(case), of.engineer, name="late")
    assert gate(case, "blocking", "controls_pass", of.qa).state == "unsatisfied"


def test_a_control_that_came_after_the_verdict_is_said_to_be_unplayed_and_not_to_have_failed(of: People) -> None:
    case = factories.nonblocking(of)
    factories.control(factories.revision(case), of.engineer, name="late")
    comparing.refresh_waiting()
    for name in ("current_passes", "controls_pass"):
        found = gate(case, "blocking", name, of.qa)
        assert (found.state, found.remedy) == ("unsatisfied", COMPARE)
        assert "late" in found.detail
        assert "yet" in found.detail
        assert "confirmed" not in found.detail
    factories.replayed(of, case)
    assert gate(case, "blocking", "controls_pass", of.qa).state == "satisfied"
