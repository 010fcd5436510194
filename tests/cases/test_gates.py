"""Each gate in each of its states. What waits, varies, was voided or could not be decided opens nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Membership, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    comments,
    details,
    gate_rules,
    gates,
    immutability,
    intake,
    jobs,
    lifecycle,
    proposals,
)
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Classification,
    Comparison,
    Control,
    Decision,
    LaneEntry,
    LaneName,
    OutcomeType,
    Payload,
    Proposal,
    Provenance,
    Run,
    RunSet,
    RunState,
)
from replaycases.verdict.labels import Label
from tests import factories, in_process
from tests.factories import People

pytestmark = pytest.mark.django_db

# Answers something else each time it is asked.
FICKLE_CODE = """
asked = []
def replay(session):
    session.tools.call("refund.lookup", {"order": "o-1"})
    asked.append(1)
    session.finish(message="Your refund was completed." + "!" * len(asked), status="done")
"""


@pytest.fixture
def of() -> People:
    return factories.people(factories.project())


def gate(case: Case, target: gates.Target, name: str, actor: User) -> gates.Gate:
    return next(found for found in gates.gates_of(case, target, actor=actor) if found.name == name)


def states(case: Case, target: gates.Target, actor: User) -> dict[str, str]:
    return {found.name: found.state for found in gates.gates_of(case, target, actor=actor)}


def affected_by(of: People, case: Case, code: str, *, size: int = 2) -> Comparison:
    """The incident happened in this code, and it was replayed alone."""
    implementation = factories.implementation(of.project, of.engineer, code, version="7")
    Provenance.objects.update_or_create(case=case, defaults={"affected": implementation})
    asked = jobs.request_comparison(
        of.engineer, revision=factories.revision(case), old=implementation, new=None, size=size
    )
    in_process.replay_all()
    return asked


def ended(run: Run, *, status: str = "finished", passed: bool | None = True, observed: str = "sha256:a") -> None:
    """The run as a worker would end it, with a result of our choice."""
    held = jobs.lease(run.pk, worker="here")
    assert held is not None
    result = jobs.Result(
        manifest=str(run.pk).encode(),
        classification=Classification.REDACTED,
        status=status,
        boundary_passed=passed,
        observation_hash=observed,
        matching_policy="",
        stderr="",
    )
    jobs.finish(held, result)


def queued(of: People, case: Case, size: int, *, entry: LaneEntry | None = None) -> list[Run]:
    """Runs of the fixed version that nobody has replayed yet."""
    asked = jobs.request_run_set(
        of.qa,
        revision=factories.revision(case),
        implementation=case.provenance.fixed,
        size=size,
        lane_entry=entry,
    )
    return list(asked.runs.order_by("number"))


def standing(case: Case) -> LaneEntry:
    return LaneEntry.objects.select_related("lane").get(case=case, left_at=None)


def override(of: People, case: Case, name: str = "red") -> Proposal:
    until = timezone.now() + timedelta(days=20)
    proposal = proposals.propose_override(of.lead, case=case, gate=name, reason="The trace shows it.", until=until)
    return proposals.confirm(of.owner, proposal=proposal)


# What the cases here have no need of.
NOT_APPLICABLE = ["containment", "authored_answers"]


# --- every target, open ---------------------------------------------------------------------------------------------


def test_a_described_case_that_is_red_may_go_into_review(of: People) -> None:
    assert states(factories.quarantined(of), "in_review", of.responder) == {
        "statement": "satisfied",
        "evidence_expiry": "satisfied",
        "containment": "not_applicable",
        "red": "satisfied",
    }


def test_a_case_with_all_approvals_and_controls_may_stand_in_nonblocking(of: People) -> None:
    found = states(factories.reproduced(of), "nonblocking", of.qa)
    assert [name for name, state in found.items() if state != "satisfied"] == NOT_APPLICABLE


def test_a_case_with_history_may_block(of: People) -> None:
    case = factories.nonblocking(of)
    factories.with_history(of, case)
    found = states(case, "blocking", of.qa)
    assert len(found) == 18
    assert [name for name, state in found.items() if state != "satisfied"] == NOT_APPLICABLE


# --- the case and its statement -------------------------------------------------------------------------------------


def test_a_vague_statement_is_named_part_by_part(of: People) -> None:
    case = factories.quarantined(of)
    Case.objects.update(trigger="see the ticket")
    found = gate(case, "in_review", "statement", of.responder)
    assert found.state == "unsatisfied"
    assert found.detail.startswith("Trigger:")


@pytest.mark.parametrize(
    ("days", "state"), [(3, "satisfied"), (-1, "unsatisfied"), (None, "unsatisfied")], ids=["set", "passed", "unset"]
)
def test_raw_evidence_has_an_end_that_lies_ahead(of: People, days: int | None, state: str) -> None:
    case = factories.quarantined(of)
    immutability.remove("default")
    ends = None if days is None else timezone.now() + timedelta(days=days)
    Case.objects.update(evidence_expires_at=ends)
    assert gate(case, "in_review", "evidence_expiry", of.responder).state == state


def test_a_case_without_quarantined_evidence_needs_no_end(of: People) -> None:
    case = factories.case(of.project, of.responder, classification=Classification.REDACTED)
    assert gate(case, "in_review", "evidence_expiry", of.responder).state == "not_applicable"


def test_a_quarantined_control_is_raw_evidence_too(of: People) -> None:
    case = factories.case(of.project, of.responder, classification=Classification.REDACTED)
    intake.add_control(
        of.responder,
        revision=factories.revision(case),
        name="raw",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="raw"),
        classification=Classification.QUARANTINED,
    )
    assert gate(case, "in_review", "evidence_expiry", of.responder).state != "not_applicable"


def test_a_security_incident_waits_for_containment(of: People) -> None:
    case = factories.quarantined(of)
    Case.objects.update(security_incident=True)
    assert gate(case, "in_review", "containment", of.responder).state == "unsatisfied"
    details.confirm_containment(of.security, case=case, note="Keys were changed.")
    assert gate(case, "in_review", "containment", of.responder).state == "satisfied"


@pytest.mark.parametrize("target", gates.GATES)
def test_no_step_is_open_for_a_security_incident_that_is_not_contained(of: People, target: gates.Target) -> None:
    case = factories.reproduced(of)
    Case.objects.update(security_incident=True)
    assert gate(case, target, "containment", of.qa).blocks
    assert not any(gates.may_override("containment", state, target) for state in ("error", "unsatisfied"))  # type: ignore[arg-type]


def test_a_case_flagged_after_it_was_submitted_is_neither_approved_nor_promoted(of: People) -> None:
    waiting, done = factories.in_review(of), factories.reproduced(of)
    for case in (waiting, done):
        details.set_security_incident(of.responder, case=case, flagged=True)
    with pytest.raises(gates.GatesClosed, match="not contained yet"):
        factories.approve_redaction(of, waiting)
    hashed = factories.revision(done).fixture_hash
    with pytest.raises(gates.GatesClosed, match="not contained yet"):
        lifecycle.promote(of.qa, case=done, lane=LaneName.NONBLOCKING, fixture_hash=hashed, note="")


def test_a_case_in_a_lane_stands_there_on_once_it_is_flagged(of: People) -> None:
    case = factories.blocking(of)
    details.set_security_incident(of.responder, case=case, flagged=True)
    assert standing(case).lane.name == LaneName.BLOCKING


def test_a_blank_case_has_no_fixture_to_be_red(of: People) -> None:
    case = intake.create_case(of.responder, project=of.project, **factories.STATEMENT)
    found = gate(case, "in_review", "red", of.responder)
    assert (found.state, found.detail) == ("unsatisfied", "The case has no fixture yet.")


# --- red ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def captured(of: People) -> Case:
    return factories.case(of.project, of.responder)


def red(of: People, case: Case) -> gates.Gate:
    return gate(case, "reproduced", "red", of.qa)


def test_without_an_affected_version_nothing_is_red(of: People, captured: Case) -> None:
    assert red(of, captured).state == "unsatisfied"
    assert "not recorded" in red(of, captured).detail


def test_a_version_that_was_never_replayed_is_not_red(of: People, captured: Case) -> None:
    implementation = factories.implementation(of.project, of.engineer, factories.OLD_CODE)
    Provenance.objects.create(case=captured, affected=implementation)
    assert red(of, captured).state == "unsatisfied"
    assert "was not replayed" in red(of, captured).detail


def test_red_alone_is_confirmed_without_a_new_version(of: People, captured: Case) -> None:
    asked = affected_by(of, captured, factories.OLD_CODE)
    found = red(of, captured)
    assert found.state == "satisfied"
    assert found.evidence == (
        gates.Evidence(kind="comparison", label=f"comparison {asked.number}", number=asked.number),
    )


def test_a_version_that_holds_is_not_red(of: People, captured: Case) -> None:
    affected_by(of, captured, factories.NEW_CODE)
    assert red(of, captured).state == "unsatisfied"
    assert "is not red" in red(of, captured).detail


def test_runs_that_differ_are_not_red(of: People, captured: Case) -> None:
    asked = affected_by(of, captured, FICKLE_CODE)
    asked.refresh_from_db()
    assert asked.old_red is None
    assert red(of, captured).state == "unsatisfied"
    assert "differ" in red(of, captured).detail


def test_one_run_is_not_red(of: People, captured: Case) -> None:
    affected_by(of, captured, factories.OLD_CODE, size=1)
    assert red(of, captured).state == "unsatisfied"
    assert "1 results" in red(of, captured).detail


def test_red_waits_while_a_run_is_outstanding(of: People, captured: Case) -> None:
    asked = affected_by(of, captured, factories.OLD_CODE)
    assert asked.old is not None
    jobs.request_run_set(of.engineer, revision=asked.revision, implementation=asked.old, size=1)
    assert red(of, captured).state == "unsatisfied"
    assert "waits" in red(of, captured).detail


def test_voided_runs_show_no_red(of: People, captured: Case) -> None:
    asked = affected_by(of, captured, factories.OLD_CODE)
    jobs.void(of.qa, run_set=asked.run_sets.get(), reason="The wrong build.")
    in_process.replay_all()
    assert red(of, captured).state == "unsatisfied"


def test_red_of_an_earlier_revision_is_not_red_now(of: People, captured: Case) -> None:
    affected_by(of, captured, factories.OLD_CODE)
    intake.add_revision(of.responder, case=captured, fixture=factories.fixture(input={"order": "o-2"}))
    assert red(of, captured).state == "unsatisfied"


def test_red_of_another_version_is_not_that_of_the_affected_one(of: People, captured: Case) -> None:
    affected_by(of, captured, factories.OLD_CODE)
    other = factories.implementation(of.project, of.engineer, factories.OLD_CODE + "# other", version="8")
    Provenance.objects.update(affected=other)
    assert red(of, captured).state == "unsatisfied"


# --- overrides ------------------------------------------------------------------------------------------------------


@pytest.fixture
def never_red(of: People, captured: Case) -> Case:
    affected_by(of, captured, factories.NEW_CODE)
    return captured


def test_a_missing_red_that_two_people_approved_shows_as_green_without_red(of: People, never_red: Case) -> None:
    given = override(of, never_red)
    for target in ("in_review", "reproduced", "nonblocking"):
        found = gate(never_red, target, "red", of.qa)
        assert (found.state, found.override) == ("overridden", given)
        assert found.detail.startswith("Green without red")
        assert not found.blocks


def test_a_missing_red_never_blocks_a_release(of: People, never_red: Case) -> None:
    override(of, never_red)
    assert gate(never_red, "blocking", "red", of.qa).state == "unsatisfied"


def test_an_override_that_waits_for_its_second_person_changes_nothing(of: People, never_red: Case) -> None:
    until = timezone.now() + timedelta(days=20)
    proposals.propose_override(of.lead, case=never_red, gate="red", reason="The trace shows it.", until=until)
    assert red(of, never_red).state == "unsatisfied"


def test_an_override_that_the_second_person_declined_changes_nothing(of: People, never_red: Case) -> None:
    until = timezone.now() + timedelta(days=20)
    asked = proposals.propose_override(of.lead, case=never_red, gate="red", reason="The trace shows it.", until=until)
    proposals.decline(of.owner, proposal=asked, note="It does not.")
    assert red(of, never_red).state == "unsatisfied"


def test_an_override_that_has_ended_changes_nothing(of: People, never_red: Case) -> None:
    override(of, never_red)
    with time_machine.travel(timezone.now() + timedelta(days=21)):
        assert red(of, never_red).state == "unsatisfied"


def test_an_override_holds_for_no_other_revision(of: People, never_red: Case) -> None:
    override(of, never_red)
    intake.add_revision(of.responder, case=never_red, fixture=factories.fixture(input={"order": "o-2"}))
    assert red(of, never_red).state == "unsatisfied"


def test_an_override_of_one_gate_opens_no_other(of: People, never_red: Case) -> None:
    override(of, never_red)
    immutability.remove("default")
    Proposal.objects.update(gate="statement")
    Case.objects.update(trigger="")
    assert gate(never_red, "in_review", "red", of.qa).state == "unsatisfied"
    assert gate(never_red, "in_review", "statement", of.qa).state == "unsatisfied"


# --- errors ---------------------------------------------------------------------------------------------------------


def broken(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def raises(facts: Any) -> Any:
        raise RuntimeError("alice@example.org")

    monkeypatch.setattr(gates, "_RULES", {**gates._RULES, name: raises})


def test_a_gate_that_raises_is_an_error_that_blocks_and_tells_no_evidence(
    of: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = factories.quarantined(of)
    broken(monkeypatch, "statement")
    found = gate(case, "in_review", "statement", of.responder)
    assert (found.state, found.blocks) == ("error", True)
    assert "RuntimeError" in found.detail
    assert "alice" not in found.detail
    with pytest.raises(gates.GatesClosed):
        lifecycle.submit(of.responder, case=case, fixture_hash=factories.revision(case).fixture_hash)


def test_an_error_can_be_overridden_for_a_time(of: People, monkeypatch: pytest.MonkeyPatch) -> None:
    case = factories.quarantined(of)
    broken(monkeypatch, "statement")
    override(of, case, "statement")
    assert gate(case, "in_review", "statement", of.responder).state == "overridden"


@pytest.mark.parametrize("name", ["red", "current_passes", "controls", "controls_pass"])
def test_an_error_in_one_of_the_four_facts_blocks_whatever_was_approved(
    of: People, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    case = factories.nonblocking(of)
    broken(monkeypatch, name)
    immutability.remove("default")
    Proposal.objects.create(
        case=case,
        kind="override",
        state="confirmed",
        revision=case.current_revision,
        gate=name,
        reason="x",
        until=timezone.now() + timedelta(days=1),
        proposed_by=of.lead,
        proposed_at=timezone.now(),
        decided_by=of.owner,
        decided_at=timezone.now(),
    )
    assert gate(case, "blocking", name, of.qa).state == "error"


def test_a_damaged_payload_is_an_error(of: People) -> None:
    case = factories.in_review(of)
    assert gate(case, "redaction_approved", "fixture_valid", of.privacy).state == "satisfied"
    immutability.remove("default")
    Payload.objects.filter(pk=factories.revision(case).payload_id).update(body=b"{}")
    assert gate(case, "redaction_approved", "fixture_valid", of.privacy).state == "error"


def test_bytes_of_another_fixture_are_an_error(of: People) -> None:
    case = factories.in_review(of)
    other = factories.case(of.project, of.responder, factories.fixture(input={"order": "o-2"}))
    immutability.remove("default")
    type(factories.revision(case)).objects.filter(pk=case.current_revision_id).update(
        payload=factories.revision(other).payload
    )
    found = gate(case, "redaction_approved", "fixture_valid", of.privacy)
    assert (found.state, gate_rules.HashesDiffer.__name__ in found.detail) == ("error", True)


def test_bytes_that_are_no_fixture_any_more_are_not_valid(of: People) -> None:
    case = factories.in_review(of)
    other = factories.control(factories.revision(case), of.engineer, name="another")
    immutability.remove("default")
    type(factories.revision(case)).objects.filter(pk=case.current_revision_id).update(payload=other.mutation)
    assert gate(case, "redaction_approved", "fixture_valid", of.privacy).state == "unsatisfied"


# --- what people decide ---------------------------------------------------------------------------------------------


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


def test_the_author_of_the_checks_is_who_made_them_what_they_are(of: People) -> None:
    case = factories.in_review(of)
    intake.add_revision(of.engineer, case=case, fixture=factories.fixture(expected=factories.EXPECTED_MORE))
    more = factories.fixture(expected=factories.EXPECTED_MORE, input={"order": "o-2"})
    intake.add_revision(of.responder, case=case, fixture=more)
    detail = gate(case, "blocking", "promoter", of.qa).detail
    assert str(of.engineer) in detail
    assert "revision 2" in detail


# --- controls -------------------------------------------------------------------------------------------------------


def effectful(**changes: Any) -> bytes:
    """The worked fixture, with a lookup that has an effect."""
    document = json.loads(factories.fixture(**changes))
    document["events"][0]["effect"] = {"action": "refund_lookup", "key": "/order", "accepted": True}
    return json.dumps(document).encode()


def add_control(of: People, case: Case, kind: OutcomeType, tool: str, mutation: bytes = factories.MUTATION) -> None:
    intake.add_control(
        of.engineer,
        revision=factories.revision(case),
        name=f"{kind} of {tool}",
        outcome_type=kind,
        tool=tool,
        fixture=effectful(case_id=f"control-{kind}"),
        mutation=mutation,
        classification=Classification.REDACTED,
    )


@pytest.fixture
def with_effect(of: People) -> Case:
    case = factories.case(of.project, of.responder, effectful())
    factories.describe(of, case)
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


def test_a_control_that_cannot_turn_red_covers_nothing(of: People, with_effect: Case) -> None:
    idle = b'[{"op": "replace", "path": "/events/0/outcome/value/state", "value": "odd"}]'
    for kind in OutcomeType:
        add_control(of, with_effect, kind, "refund.lookup", idle if kind == OutcomeType.TIMEOUT else factories.MUTATION)
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
        classification=Classification.REDACTED,
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


# --- green ----------------------------------------------------------------------------------------------------------


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
    assert gate(case, "blocking", "deterministic", of.qa).state == "unsatisfied"
    found = gate(case, "compatibility", "provider_backed", of.qa)
    assert found.state == "satisfied"
    assert "never block" in found.detail


def test_without_a_verdict_nobody_knows_what_it_depends_on(of: People, captured: Case) -> None:
    assert gate(captured, "compatibility", "provider_backed", of.qa).state == "unsatisfied"


# --- repetitions and history ----------------------------------------------------------------------------------------


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


# --- cost -----------------------------------------------------------------------------------------------------------


def test_the_gates_of_many_cases_take_as_many_queries_as_those_of_one(of: People) -> None:
    cases = [factories.reproduced(of, factories.fixture(case_id=f"case-{number}")) for number in range(3)]
    factories.promoted(of, cases[0], LaneName.NONBLOCKING)
    counted = []
    for some in (cases[:1], cases):
        with CaptureQueriesContext(connection) as queries:
            gates.gates_of_many(some, "blocking", actor=of.qa)
        counted.append(len(queries))
    assert counted == [6, 6]
