"""A redaction that was edited by hand keeps the relations of the raw revision, or is told as having lost them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.cases import evidence, flags, gates, intake, lifecycle, redacting, redaction_policies, waivers
from replaycases.cases.gates import Gate
from replaycases.cases.models import Case, FixtureRevision
from tests import factories
from tests.cases.test_redacting import newest, replayed, soon

OWNED = {"owner_email": "jane.doe@corp.test", "requester_email": "jane.doe@corp.test"}
LOST = {"requester_email": "somebody.else@corp.test"}
NOT_COMPARED = "blind:relations not compared"


@pytest.fixture
def of(db: None) -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def redacted(of: factories.People) -> Case:
    """Revision 2, made of revision 1, in which owner and requester are one."""
    case = factories.in_review(of, factories.fixture(input=OWNED))
    redacting.redact(of.responder, case=case, seen_revision=1)
    return factories.fresh(case)


def edit(of: factories.People, case: Case, **change: str) -> Case:
    return write(of, case, lambda document: document["input"].update(change))


def other_expectations(of: factories.People, case: Case) -> Case:
    def change(document: Any) -> None:
        document["expected"]["prohibited_claims"][0]["statement"] = "Only what is expected is another."

    return write(of, case, change)


def write(of: factories.People, case: Case, change: Any) -> Case:
    case = factories.fresh(case)
    document = json.loads(evidence.read(factories.revision(case).payload))
    change(document)
    intake.add_revision(of.responder, case=case, fixture=json.dumps(document).encode())
    return factories.fresh(case)


def approved(of: factories.People, case: Case) -> Case:
    factories.approve_redaction(of, replayed(of, case))
    return factories.fresh(case)


def destroy(case: Case, number: int) -> None:
    evidence.destroy(FixtureRevision.objects.get(case=case, number=number).payload)


def detectors(case: Case) -> list[str]:
    return [one["detector"] for one in newest(case).open]


def test_what_was_compared_when_it_was_approved_is_not_asked_for_again_once_the_raw_revision_is_destroyed(
    of: factories.People, redacted: Case
) -> None:
    case = approved(of, edit(of, redacted, note="new"))
    destroy(case, 1)
    redaction_policies.save(of.privacy, project=of.project, data={"dates": "shift"}, note="Dates too.", seen=0)
    redacting.look_again(of.responder, case=factories.fresh(case), seen_revision=3)
    assert detectors(case) == []
    flags.review_again(of.qa, case=factories.fresh(case), note="Nothing new is found.")
    case = other_expectations(of, case)
    assert detectors(case) == []
    factories.approve_expectation(of, case)
    assert detectors(edit(of, case, note="newer")) == [NOT_COMPARED]


def test_what_two_people_let_stand_uncompared_stays_open_by_that_waiver(of: factories.People, redacted: Case) -> None:
    destroy(redacted, 1)
    case = edit(of, redacted, note="new")
    [waiver] = waivers.ask(
        of.privacy,
        redaction=newest(case),
        findings=[newest(case).open[0]["finding"]],
        reason="It was read.",
        until=soon(),
    )
    waivers.confirm(of.security, waiver=waiver)
    case = approved(of, case)
    redacting.look_again(of.responder, case=case, seen_revision=3)
    assert [(one["finding"], one["detector"]) for one in newest(case).open] == [(waiver.finding, NOT_COMPARED)]


def test_an_edit_with_something_open_after_an_approval_is_held_against_the_relations_too(
    of: factories.People, redacted: Case
) -> None:
    case = approved(of, redacted)
    lifecycle.send_back(of.privacy, case=case, reason="A name is left.")
    case = edit(of, case, **LOST)
    looked = newest(case)
    assert ([one["kind"] for one in looked.open], looked.lost) == (["email"], 1)
    redacting.look_again(of.responder, case=case, seen_revision=3)
    assert newest(case).lost == 1


def test_what_stands_for_a_value_is_no_finding_in_any_edit_after_the_key_is_destroyed(
    of: factories.People, redacted: Case
) -> None:
    case = approved(of, redacted)
    lifecycle.send_back(of.privacy, case=case, reason="A name is left.")
    assert detectors(edit(of, edit(of, case, note="new"), note="newer")) == []


def test_an_edit_of_what_was_not_compared_is_not_either(of: factories.People, redacted: Case) -> None:
    case = approved(of, redacted)
    lifecycle.send_back(of.privacy, case=case, reason="A name is left.")
    destroy(case, 1)
    case = edit(of, edit(of, case, note="new"), note="newer")
    assert detectors(case) == [NOT_COMPARED]


def test_what_is_redacted_of_an_edit_that_lost_a_relation_asks_to_undo_the_edit(
    of: factories.People, redacted: Case
) -> None:
    case = edit(of, redacted, **LOST)
    redacting.redact(of.responder, case=case, seen_revision=3)
    case = factories.fresh(case)
    assert (factories.revision(case).number, newest(case).lost) == (4, 1)
    assert residual(of, case).remedy.startswith("Undo what was edited by hand")


def residual(of: factories.People, case: Case) -> Gate:
    [found] = [gate for gate in gates.gates_of(case, "redaction_approved", actor=of.privacy) if gate.name == "residual"]
    return found
