"""What a case and its statement must have, and that the incident was seen red."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from replaycases.cases import (
    details,
    gates,
    immutability,
    intake,
    jobs,
    lifecycle,
)
from replaycases.cases.models import (
    Case,
    Classification,
    LaneName,
    OutcomeType,
    Provenance,
)
from tests import factories, in_process
from tests.cases.gates.asking import FICKLE_CODE, NOT_APPLICABLE, affected_by, gate, red, standing, states
from tests.factories import People

pytestmark = pytest.mark.django_db


# --- every target, open -----------------------------------------------------------------------------------------------


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
    assert len(found) == 20
    assert [name for name, state in found.items() if state != "satisfied"] == NOT_APPLICABLE


# --- the case and its statement ---------------------------------------------------------------------------------------


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


# --- red --------------------------------------------------------------------------------------------------------------


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
