"""What a dependency owner says, for which revision, and what it opens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, dependency, gates, immutability, intake
from replaycases.cases.models import Acceptance, AuditEvent, Case, DependencyStatement, FixtureRevision
from replaycases.cases.policies import SeenAnother
from tests import factories
from tests.factories import People

pytestmark = pytest.mark.django_db


def authored(*, origin: str = "authored", **changes: Any) -> bytes:
    """A fixture with one answer that nobody recorded, whatever it says of its origin."""
    document = json.loads(factories.fixture(**changes))
    document["events"][0]["alternatives"] = [
        {
            "tool": "refund.status",
            "arguments": {"order": "o-1"},
            "outcome": {"type": "result", "value": {"state": "unknown"}},
            "origin": origin,
        }
    ]
    return json.dumps(document).encode()


@pytest.fixture
def of() -> People:
    return factories.people(factories.project())


@pytest.fixture
def vendor(of: People) -> User:
    return factories.person(of.project, Role.DEPENDENCY_OWNER)


def state(actor: User, case: Case, acceptance: str = Acceptance.UNKNOWN, **more: Any) -> DependencyStatement:
    seen = factories.revision(factories.fresh(case))
    said = {"revision_number": seen.number, "fixture_hash": seen.fixture_hash, **more}
    return dependency.state(actor, case=case, acceptance=acceptance, **said)


def gate(of: People, case: Case, target: gates.Target = "nonblocking") -> str:
    found = gates.gates_of(factories.fresh(case), target, actor=of.qa)
    return next(one.state for one in found if one.name == "authored_answers")


def test_the_acceptance_is_stated_in_quarantine_and_kept_with_who_said_it(of: People, vendor: User) -> None:
    case = factories.case(of.project, of.responder, authored())
    said = state(vendor, case, Acceptance.BEFORE, note="The ledger has no entry.")
    assert (said.acceptance, said.said_by, said.revision.number) == ("before_acceptance", vendor, 1)
    event = AuditEvent.objects.get(action="dependency.stated")
    assert (event.actor, event.case, event.object_hash) == (vendor, case, said.revision.fixture_hash)


def test_only_dependency_owners_state_it(of: People) -> None:
    case = factories.case(of.project, of.responder)
    with pytest.raises(PermissionDenied, match="Dependency owner"):
        state(of.owner, case)


@pytest.mark.parametrize("stale", [{"revision_number": 2}, {"fixture_hash": "sha256:" + "0" * 64}])
def test_what_was_not_seen_is_not_stated_about(of: People, vendor: User, stale: dict[str, Any]) -> None:
    case = factories.case(of.project, of.responder)
    with pytest.raises(SeenAnother, match="Look again"):
        state(vendor, case, **stale)
    assert not DependencyStatement.objects.exists()


def test_another_word_is_refused(of: People, vendor: User) -> None:
    with pytest.raises(ValidationError, match="Say one of: before_acceptance"):
        state(vendor, factories.case(of.project, of.responder), "perhaps")


def test_a_revision_counts_the_answers_that_nobody_recorded(of: People) -> None:
    case = factories.case(of.project, of.responder, authored())
    assert factories.revision(case).authored_answers == 1
    intake.add_revision(of.responder, case=case, fixture=factories.fixture())
    assert factories.revision(factories.fresh(case)).authored_answers == 0


def test_a_word_does_not_make_an_answer_a_recorded_one(of: People, vendor: User) -> None:
    case = factories.case(of.project, of.responder, authored(origin="recorded"))
    assert gate(of, case) == "unsatisfied"
    state(vendor, case, authored_confirmed=True)
    assert gate(of, case) == "satisfied"


def test_recorded_answers_need_nobody(of: People, vendor: User) -> None:
    case = factories.case(of.project, of.responder)
    assert gate(of, case) == "not_applicable"
    with pytest.raises(ValidationError, match="none is to confirm"):
        state(vendor, case, authored_confirmed=True)


@pytest.mark.parametrize("target", ["nonblocking", "blocking"])
def test_authored_answers_wait_for_the_dependency_owner(of: People, vendor: User, target: gates.Target) -> None:
    case = factories.case(of.project, of.responder, authored())
    assert gate(of, case, target) == "unsatisfied"
    state(vendor, case, Acceptance.AFTER)
    assert gate(of, case, target) == "unsatisfied"
    state(vendor, case, Acceptance.AFTER, authored_confirmed=True)
    assert gate(of, case, target) == "satisfied"
    assert not any(gates.may_override("authored_answers", state, target) for state in ("error", "unsatisfied"))  # type: ignore[arg-type]


def test_the_newest_statement_of_the_current_revision_counts(of: People, vendor: User) -> None:
    case = factories.case(of.project, of.responder, authored())
    state(vendor, case, authored_confirmed=True)
    state(vendor, case)
    assert gate(of, case) == "unsatisfied"
    state(vendor, case, authored_confirmed=True)
    intake.add_revision(of.responder, case=case, fixture=authored(input={"order": "o-2"}))
    assert gate(of, case) == "unsatisfied"


def test_raw_answers_are_confirmed_by_nobody_who_may_not_read_them(of: People, vendor: User) -> None:
    case = factories.quarantined(of, authored())
    state(vendor, case)
    with pytest.raises(PermissionDenied, match="Quarantined evidence"):
        state(vendor, case, authored_confirmed=True)
    Membership.objects.create(project=of.project, user=vendor, role=Role.SECURITY_OWNER)
    assert state(vendor, case, authored_confirmed=True).authored_confirmed


@pytest.mark.parametrize("way", ["author", "behalf"])
def test_nobody_confirms_answers_that_they_authored(of: People, vendor: User, way: str) -> None:
    Membership.objects.create(project=of.project, user=vendor, role=Role.RESPONDER)
    author, behalf = (vendor, None) if way == "author" else (of.responder, vendor)
    case = factories.case(of.project, author, authored(), on_behalf_of=behalf)
    with pytest.raises(PermissionDenied, match="Somebody else"):
        state(vendor, case, authored_confirmed=True)
    assert state(vendor, case).acceptance == "unknown"
    assert decisions.own_work(vendor, case)


def test_the_database_refuses_it_too_and_keeps_what_was_said(of: People, vendor: User) -> None:
    case = factories.case(of.project, of.responder, authored())
    said = state(vendor, case)
    said.pk, said.said_by, said.authored_confirmed = None, of.responder, True
    with pytest.raises(IntegrityError, match="their own answers"), transaction.atomic():
        DependencyStatement.objects.bulk_create([said])
    with pytest.raises(IntegrityError, match="immutable"), transaction.atomic():
        DependencyStatement.objects.update(authored_confirmed=True)


# --- tools of which the fixture names no effect -----------------------------------------------------------------------

LOOKUP = "refund.lookup"


def silent(of: People, case: Case, target: gates.Target = "nonblocking") -> gates.Gate:
    found = gates.gates_of(factories.fresh(case), target, actor=of.qa)
    return next(one for one in found if one.name == "effects_stated")


@pytest.mark.parametrize("target", ["nonblocking", "blocking"])
def test_silence_about_an_effect_is_no_statement(of: People, vendor: User, target: gates.Target) -> None:
    case = factories.case(of.project, of.responder)
    found = silent(of, case, target)
    assert (found.state, LOOKUP in found.detail) == ("unsatisfied", True)
    state(vendor, case, Acceptance.AFTER)
    assert silent(of, case, target).state == "unsatisfied"
    state(vendor, case, no_effect_confirmed=True)
    assert silent(of, case, target).state == "satisfied"
    assert not any(gates.may_override("effects_stated", state, target) for state in ("error", "unsatisfied"))  # type: ignore[arg-type]
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    assert silent(of, case, target).state == "unsatisfied"


def test_a_tool_whose_effect_is_told_needs_no_statement_and_asks_for_its_controls(of: People, vendor: User) -> None:
    """Also where only an alternative tells it."""
    document = json.loads(authored())
    lookup, other = document["events"][0], document["events"][0]["alternatives"][0]
    lookup["effect"] = other["effect"] = {"action": "lookup", "accepted": True}
    case = factories.case(of.project, of.responder, json.dumps(document).encode())
    assert factories.revision(case).effectful_tools == [LOOKUP, "refund.status"]
    assert silent(of, case).state == "not_applicable"
    with pytest.raises(ValidationError, match="Every tool of this revision has an effect"):
        state(vendor, case, no_effect_confirmed=True)


def test_a_revision_from_before_tools_were_kept_is_looked_at_anew(of: People) -> None:
    case = factories.case(of.project, of.responder)
    immutability.remove("default")
    FixtureRevision.objects.update(unstated_tools=None)
    assert LOOKUP in silent(of, case).detail


def test_nobody_confirms_for_their_own_case_that_its_tools_have_no_effect(of: People, vendor: User) -> None:
    Membership.objects.create(project=of.project, user=vendor, role=Role.RESPONDER)
    case = factories.case(of.project, vendor)
    with pytest.raises(PermissionDenied, match="Somebody else"):
        state(vendor, case, no_effect_confirmed=True)
    said = state(vendor, case)
    said.pk, said.no_effect_confirmed = None, True
    with pytest.raises(IntegrityError, match="their own answers"), transaction.atomic():
        DependencyStatement.objects.bulk_create([said])


# --- recordings that can only be read ---------------------------------------------------------------------------------


def test_what_can_only_be_read_passes_no_gate_on_the_way_to_a_lane_and_no_edit_lifts_that(of: People) -> None:
    mark = {"class": "non_replayable", "reason": "Spans without content."}
    case = factories.case(of.project, of.responder, factories.fixture(replayability=mark))
    for target in ("reproduced", "nonblocking", "blocking", "compatibility"):
        found = {one.name: one for one in gates.gates_of(factories.fresh(case), target, actor=of.qa)}
        assert found["replayable"].state == "unsatisfied", target
        assert "Forensic reading only" in found["replayable"].detail
        assert not gates.may_override("replayable", "unsatisfied", target)
    with pytest.raises(ValidationError, match="no edit makes it a recording"):
        intake.add_revision(of.responder, case=case, fixture=factories.fixture())
    still = factories.fixture(replayability=mark, input={"order": "o-2"})
    assert intake.add_revision(of.responder, case=case, fixture=still).non_replayable
    immutability.remove("default")
    FixtureRevision.objects.update(non_replayable=None)  # as those from before it was kept
    with pytest.raises(ValidationError, match="no edit makes it a recording"):
        intake.add_revision(of.responder, case=case, fixture=factories.fixture())
