"""What two people approved in place of a gate, and what a gate that fails says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from replaycases.cases import (
    gate_rules,
    gates,
    immutability,
    intake,
    jobs,
    lifecycle,
    proposals,
)
from replaycases.cases.models import (
    Case,
    Comparison,
    Payload,
    Proposal,
)
from tests import factories, in_process
from tests.cases.gates.asking import affected_by, gate, override, red
from tests.factories import People

pytestmark = pytest.mark.django_db


# --- overrides --------------------------------------------------------------------------------------------------------


@pytest.fixture
def never_red(of: People, captured: Case) -> Case:
    affected_by(of, captured, factories.NEW_CODE)
    return captured


def test_a_missing_red_that_two_people_approved_shows_as_green_without_red(of: People, never_red: Case) -> None:
    given = override(of, never_red)
    for target in ("in_review", "reproduced", "nonblocking"):
        found = gate(never_red, target, "red", of.qa)
        assert found.state == "overridden"
        assert found.override is not None
        assert found.override.id == given.pk
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


# --- errors -----------------------------------------------------------------------------------------------------------


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


# --- what a verdict says of a missing red -----------------------------------------------------------------------------


def fixed_alone(of: People, case: Case) -> Comparison:
    """The verdict on the fixed version, which holds every check, without an old side."""
    fixed = factories.implementation(of.project, of.engineer, factories.FIXED_CODE, version="9")
    asked = jobs.request_comparison(of.engineer, revision=factories.revision(case), old=None, new=fixed)
    in_process.replay_all()
    return Comparison.objects.get(pk=asked.pk)


def test_a_fix_whose_missing_red_was_approved_reads_green_without_red(of: People, never_red: Case) -> None:
    override(of, never_red)
    found = fixed_alone(of, never_red)
    never_red.refresh_from_db()
    assert (found.label, never_red.verdict) == ("green_without_red", "green_without_red")


def test_approving_a_missing_red_makes_the_verdicts_say_so_that_were_reached_before(
    of: People, never_red: Case, django_capture_on_commit_callbacks: Any
) -> None:
    found = fixed_alone(of, never_red)
    assert found.label == "baseline_only"
    with django_capture_on_commit_callbacks(execute=True):
        override(of, never_red)
    found.refresh_from_db()
    assert found.label == "green_without_red"


def test_a_verdict_goes_on_saying_it_once_the_override_has_ended(of: People, never_red: Case) -> None:
    override(of, never_red)
    with time_machine.travel(timezone.now() + timedelta(days=21)):
        assert fixed_alone(of, never_red).label == "green_without_red"


def test_an_override_of_another_gate_changes_no_verdict(
    of: People, never_red: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, "statement")
    override(of, never_red, "statement")
    assert fixed_alone(of, never_red).label == "baseline_only"


def test_an_affected_version_that_held_is_not_excused_by_the_override(of: People, never_red: Case) -> None:
    override(of, never_red)
    fixed = factories.implementation(of.project, of.engineer, factories.FIXED_CODE, version="9")
    asked = jobs.request_comparison(
        of.engineer, revision=factories.revision(never_red), old=never_red.provenance.affected, new=fixed
    )
    in_process.replay_all()
    assert Comparison.objects.get(pk=asked.pk).label == "not_reproduced"
