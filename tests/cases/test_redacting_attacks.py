"""People who would have a redaction approved that did not earn it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from replaycases.cases import (
    evidence,
    intake,
    raw_reads,
    redacting,
    redaction_facts,
    redaction_marks,
    redaction_policies,
    redaction_rules,
    redaction_scans,
    seen_spans,
    waivers,
)
from replaycases.cases.models import AuditEvent, Case, Redaction, RedactionRule, RuleAction, Waiver
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.redaction.detectors.personal import Personal
from replaycases.redaction.places import Place
from replaycases.redaction.record import MOST_OPEN, TOO_MANY
from tests import factories
from tests.cases.test_redacting import (
    MAIL,
    SECRET,
    TEXT,
    approved,
    ask,
    blocking,
    mark,
    newest,
    place_of,
    raw,
    redacted,
    replayed,
    second_reviewer,
    soon,
)


@pytest.fixture
def of(db: None) -> factories.People:
    return factories.people(factories.project())


def written_on(of: factories.People, case: Case, text: str) -> Case:
    """Somebody edits the current revision by hand."""
    document = json.loads(evidence.read(factories.revision(factories.fresh(case)).payload))
    document["input"]["message"] += text
    intake.add_revision(of.responder, case=case, fixture=json.dumps(document).encode())
    return factories.fresh(case)


# --- pressing a button takes nothing off the list ---------------------------------------------------------------------


def test_a_second_look_takes_nothing_off_what_was_replaced_and_asked_for(of: factories.People) -> None:
    case = redacted(of)
    source = redacting.source_of(factories.revision(case))
    redaction_rules.add(
        of.responder,
        source=source,
        action=RuleAction.SURROGATE,
        place=place_of("desk 4"),
        surrogate="desk 9",
        reason="Nothing is replaced there, so it does not fit.",
    )
    redacting.redact(of.responder, case=case, seen_revision=2)
    before = newest(case)
    after = redacting.look_again(of.responder, case=case, seen_revision=2)
    assert [one["detector"] for one in before.open] == ["manual:does not fit"]
    assert (after.source, after.spans, after.open) == (before.source, before.spans, before.open)


def test_redacting_an_edited_revision_does_not_let_an_earlier_original_pass(of: factories.People) -> None:
    case = redacted(of)
    mark(of, case)
    redacting.redact(of.responder, case=case, seen_revision=2)
    case = written_on(of, case, " Jane is back, see x@corp.test")
    redacting.redact(of.responder, case=case, seen_revision=4)
    assert [one["detector"] for one in newest(case).open] == ["residual:original"]
    case = written_on(of, case, ", and so is Jane")
    assert [one["detector"] for one in newest(case).open] == ["residual:original"] * 2


def test_a_rule_that_is_not_applied_yet_is_in_the_way(of: factories.People) -> None:
    case = replayed(of, redacted(of))
    rule = mark(of, case)
    with pytest.raises(InvalidTransition, match="Redact it again"):
        redacting.look_again(of.responder, case=case, seen_revision=2)
    assert blocking(case, of) == ["residual"]
    redaction_rules.withdraw(of.responder, rule=rule)
    redacting.redact(of.responder, case=case, seen_revision=2)
    assert blocking(case, of) == []


def test_a_rule_for_a_revision_that_was_only_read_is_in_the_way(of: factories.People) -> None:
    case = raw(of, "Where is Jane?")
    assert blocking(case, of) == []
    redaction_rules.add(
        of.responder,
        source=factories.revision(case),
        action=RuleAction.MARK,
        kind="person",
        place=Place(pointer="/input/message", start=9, end=13),
        reason="Her name.",
    )
    assert blocking(case, of) == ["residual"]


# --- waivers ----------------------------------------------------------------------------------------------------------


def test_what_was_let_stand_is_a_finding_again_once_the_waiver_is_ended(of: factories.People) -> None:
    case = raw(of)
    waiver = waivers.confirm(second_reviewer(of), waiver=ask(of, case))
    factories.approve_redaction(of, case)
    case = written_on(of, case, " Soon.")
    assert "residual" not in blocking(case, of)
    waivers.end(of.privacy, waiver=waiver)
    assert "residual" in blocking(case, of)


def test_what_was_let_stand_at_one_place_does_not_stand_at_another(of: factories.People) -> None:
    case = raw(of)
    waivers.confirm(second_reviewer(of), waiver=ask(of, case))
    factories.approve_redaction(of, case)
    document = json.loads(evidence.read(factories.revision(case).payload))
    document["input"]["note"] = MAIL
    intake.add_revision(of.responder, case=case, fixture=json.dumps(document).encode())
    assert "residual" in blocking(factories.fresh(case), of)


def test_a_value_that_stands_twice_in_one_text_can_be_waived(of: factories.People) -> None:
    case = raw(of, f"{TEXT} or {MAIL}")
    looked = newest(case)
    assert len(looked.open) == 2
    found = {one["finding"] for one in looked.open}
    [waiver] = waivers.ask(of.privacy, redaction=looked, findings=found, reason="Our own address.", until=soon())
    waivers.confirm(second_reviewer(of), waiver=waiver)
    assert "residual" not in blocking(case, of)


# --- what is said of it ----------------------------------------------------------------------------------------------


def test_a_name_that_is_a_value_stands_in_no_place_and_no_event(of: factories.People) -> None:
    told = {SECRET: {"m": "see a@corp.test"}, "janedoe": {"username": "janedoe", "m": "see b@corp.test"}}
    case = factories.in_review(of, factories.fixture(input={"message": "Hello", **told}))
    looked, source = newest(case), factories.revision(case)
    for found in {one["finding"] for one in looked.open}:
        waivers.ask(of.privacy, redaction=looked, findings=[found], reason="Made up.", until=soon())
    for name in (SECRET, "janedoe"):
        redaction_marks.mark_every(
            of.responder, source=source, pointer=f"/input/{name}/m", in_key=False, text="see", kind="text", reason="No."
        )
    said = [*Waiver.objects.values_list("place", flat=True), *RedactionRule.objects.values_list("place", flat=True)]
    said += AuditEvent.objects.values_list("after", flat=True)
    assert not [one for one in said if SECRET in one or "janedoe" in one]


@pytest.mark.parametrize(("pointer", "in_key"), [("nowhere", False), ("", True), ("/input/none", False)])
def test_a_place_that_is_none_is_bad_input(of: factories.People, pointer: str, in_key: bool) -> None:
    source = factories.revision(raw(of))
    with pytest.raises(ValidationError, match="does not hold"):
        redaction_marks.mark_every(
            of.responder, source=source, pointer=pointer, in_key=in_key, text="Jane", kind="person", reason="A name."
        )


def test_a_place_between_two_counts_for_none_that_was_seen(of: factories.People) -> None:
    case = raw(of)
    raw_reads.begin(of.privacy, case=case, reason="To review it.")
    halves: Any = [number / 10 for number in range(10)]
    with pytest.raises(ValidationError, match="spans"):
        seen_spans.mark(of.privacy, redaction=newest(case), spans=halves)


# --- at the same time -------------------------------------------------------------------------------------------------


def test_a_key_that_an_approval_destroyed_does_not_come_back_with_a_redaction_begun_before(
    of: factories.People,
) -> None:
    case = replayed(of, redacted(of))
    begun = redacting._made(case, redacting.source_of(factories.revision(case)))
    other = begun.data.replace(b"desk 4", b"desk 5")
    factories.approve_redaction(of, case)
    with pytest.raises(SeenAnother, match="redacted the case in the meantime"):
        intake.add_revision(of.responder, case=case, fixture=other, seen_revision=2, look=begun.look)
    assert not Redaction.objects.filter(mapping__purged_at=None).exists()


def test_a_redaction_begun_before_a_rule_was_added_is_not_kept(of: factories.People) -> None:
    case = redacted(of)
    source = redacting.source_of(factories.revision(case))
    mark(of, case)
    begun = redacting._made(case, source)
    mark(of, case, "desk 4")
    with pytest.raises(InvalidTransition, match="added a rule"):
        intake.add_revision(of.responder, case=case, fixture=begun.data, seen_revision=2, look=begun.look)


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_a_policy_that_no_database_can_keep_is_bad_input(of: factories.People, text: str) -> None:
    with pytest.raises(ValidationError, match="cannot be kept"):
        redaction_policies.save(of.privacy, project=of.project, data={"allowed": [text]}, note="No.", seen=0)


def test_new_expectations_that_were_looked_through_under_an_earlier_policy_are_looked_through_again(
    of: factories.People,
) -> None:
    case = approved(of)
    document = json.loads(evidence.read(factories.revision(case).payload))
    document["expected"]["prohibited_claims"][0]["statement"] = "The refund was said to be paid."
    intake.add_revision(of.engineer, case=case, fixture=json.dumps(document).encode())
    redaction_policies.save(of.privacy, project=of.project, data={"dates": "shift"}, note="Dates too.", seen=0)
    with pytest.raises(InvalidTransition, match="look again"):
        factories.approve_expectation(of, case)
    redacting.look_again(of.responder, case=factories.fresh(case), seen_revision=3)
    factories.approve_expectation(of, case)


def test_what_only_a_stricter_policy_finds_in_an_approved_revision_is_open(of: factories.People) -> None:
    case = approved(of)
    stricter = {"fields": [{"pointer": "/input/message", "kind": "text"}]}
    redaction_policies.save(of.privacy, project=of.project, data=stricter, note="Nothing of it stays.", seen=0)
    looked = redacting.look_again(of.responder, case=case, seen_revision=2)
    assert [(one["kind"], one["detector"]) for one in looked.open] == [("text", "field:/input/message")]
    assert "residual" in blocking(factories.fresh(case), of)


def test_what_stands_for_a_value_is_no_finding_where_a_later_policy_names_another_kind(of: factories.People) -> None:
    case = replayed(of, redacted(of, MAIL))
    factories.approve_redaction(of, case)
    stricter = {"fields": [{"pointer": "/input/message", "kind": "id"}]}
    redaction_policies.save(of.privacy, project=of.project, data=stricter, note="It is an id.", seen=0)
    looked = redacting.look_again(of.responder, case=factories.fresh(case), seen_revision=2)
    assert looked.open == []


def test_what_newer_detectors_find_in_an_approved_revision_is_open_and_what_stands_for_a_value_is_not(
    of: factories.People, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        for module in (redaction_facts, redaction_scans):
            before.setattr(module, "DETECTORS_VERSION", "0")
        before.setattr(Personal, "hits", lambda *_: ())
        case = replayed(of, redacted(of, f"{MAIL} has {SECRET}"))
        factories.approve_redaction(of, case)
    looked = redacting.look_again(of.responder, case=factories.fresh(case), seen_revision=2)
    assert [one["kind"] for one in looked.open] == ["email"]


def test_more_findings_than_anybody_decides_about_are_not_all_kept_and_not_waived_one_by_one(
    of: factories.People,
) -> None:
    many = {"customer_name": "Ann Bell", "message": "Ann " * (MOST_OPEN + 500)}
    case = factories.in_review(of, factories.fixture(input=many))
    looked = newest(case)
    assert len(looked.open) == MOST_OPEN + 1
    [rest] = [found["finding"] for found in looked.open if found["detector"] == TOO_MANY]
    until = timezone.now() + timedelta(days=1)
    with pytest.raises(ValidationError, match="more findings than are listed"):
        waivers.ask(of.privacy, redaction=looked, findings=[rest], reason="Made up.", until=until)
