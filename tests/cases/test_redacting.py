"""A raw revision becomes a redacted one, people decide about single places, and a reviewer approves what they saw."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    decisions,
    evidence,
    flags,
    gates,
    intake,
    jobs,
    lifecycle,
    needs,
    raw_reads,
    redacting,
    redaction_policies,
    redaction_rows,
    redaction_rules,
    redaction_scans,
    returns,
    seen_spans,
    waivers,
)
from replaycases.cases.available import available_actions
from replaycases.cases.gates import GatesClosed
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FlagReason,
    Notification,
    NotificationKind,
    OutcomeType,
    Redaction,
    RedactionRule,
    RuleAction,
    Stage,
    Waiver,
)
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.cases.redaction_facts import RedactionFacts
from replaycases.redaction.places import Place
from tests import factories, in_process

MAIL = "jane.doe@corp.test"
TEXT = f"I am Jane of desk 4, write to {MAIL}"
SECRET = "ghp_" + "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"[:36]


@pytest.fixture
def of(db: None) -> factories.People:
    return factories.people(factories.project())


def raw(of: factories.People, message: str = TEXT) -> Case:
    """In review, red in quarantine, with what must go."""
    return factories.in_review(of, factories.fixture(input={"message": message}))


def redacted(of: factories.People, message: str = TEXT) -> Case:
    case = raw(of, message)
    redacting.redact(of.responder, case=case, seen_revision=1)
    return factories.fresh(case)


def replayed(of: factories.People, case: Case) -> Case:
    """The affected version on the redacted revision."""
    affected = case.provenance.affected
    jobs.request_run_set(of.engineer, revision=factories.revision(case), implementation=affected, size=2)
    in_process.replay_all()
    return factories.fresh(case)


def message_of(case: Case) -> str:
    document = json.loads(evidence.read(factories.revision(case).payload))
    return str(document["input"]["message"])


def newest(case: Case) -> Redaction:
    return redaction_rows.require_newest(factories.revision(factories.fresh(case)))


def blocking(case: Case, of: factories.People) -> list[str]:
    return [gate.name for gate in gates.gates_of(case, "redaction_approved", actor=of.privacy) if gate.blocks]


def place_of(text: str, message: str = TEXT) -> Place:
    start = message.index(text)
    return Place(pointer="/input/message", start=start, end=start + len(text))


def second_reviewer(of: factories.People) -> Any:
    return factories.person(of.project, Role.PRIVACY_REVIEWER)


def soon() -> Any:
    return timezone.now() + timedelta(days=3)


# --- redacting ------------------------------------------------------------------------------------------------------


def test_a_raw_revision_with_what_must_go_is_not_approved(of: factories.People) -> None:
    case = raw(of)
    factories.see_everything(of.privacy, case)
    assert "residual" in blocking(case, of)
    with pytest.raises(GatesClosed, match="Open findings: 1 e-mail"):
        factories.decide_redaction(of.privacy, case)


def test_redacting_makes_a_revision_without_it_and_keeps_the_rest(of: factories.People) -> None:
    case = redacted(of)
    said = message_of(case)
    assert MAIL not in said
    assert said.startswith("I am Jane of desk 4, write to ")
    looked = newest(case)
    assert (looked.source.number, looked.open, looked.counts) == (1, [], {"email": 1})


def test_a_redacted_revision_is_approved_once_its_replay_is_the_same(of: factories.People) -> None:
    case = redacted(of)
    assert blocking(case, of) == ["equivalent"]
    case = replayed(of, case)
    factories.see_everything(of.privacy, case)
    given = factories.decide_redaction(of.privacy, case)
    assert given.redaction == newest(case)
    said = json.loads(AuditEvent.objects.get(action="redaction.approved").after)
    assert (said["policy"], said["waivers"]) == (newest(case).policy_digest, [])
    assert factories.fresh(case).stage == Stage.REDACTION_APPROVED


def test_redacting_again_with_nothing_new_is_refused(of: factories.People) -> None:
    case = redacted(of)
    with pytest.raises(InvalidTransition, match="redacted so already"):
        redacting.redact(of.responder, case=case, seen_revision=2)


def test_redacting_another_revision_than_was_seen_is_a_conflict(of: factories.People) -> None:
    with pytest.raises(SeenAnother):
        redacting.redact(of.responder, case=raw(of), seen_revision=4)


def test_whoever_redacted_does_not_approve(of: factories.People) -> None:
    case = raw(of)
    redacting.redact(of.privacy, case=case, seen_revision=1)
    case = replayed(of, factories.fresh(case))
    factories.see_everything(of.privacy, case)
    with pytest.raises(PermissionDenied, match="You edited revision 2"):
        factories.decide_redaction(of.privacy, case)


def test_nothing_of_what_was_replaced_stands_in_the_database(of: factories.People) -> None:
    redacted(of)
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            rows = "".join(str(bytes(one) if isinstance(one, memoryview) else one) for row in cursor for one in row)
            assert MAIL not in rows, table


def test_an_edited_redaction_is_looked_at_again_for_what_was_replaced(of: factories.People) -> None:
    case = redacted(of, TEXT + " today")
    document = json.loads(evidence.read(factories.revision(case).payload))
    document["input"]["message"] += f" or {MAIL}"
    intake.add_revision(of.responder, case=case, fixture=json.dumps(document).encode())
    assert [one["detector"] for one in newest(case).open] == ["residual:original"]


OWNED = {"owner_email": MAIL, "requester_email": MAIL}


def edited(of: factories.People, change: dict[str, str]) -> Case:
    """A redacted revision in which somebody writes other values by hand."""
    case = factories.in_review(of, factories.fixture(input=OWNED))
    redacting.redact(of.responder, case=case, seen_revision=1)
    document = json.loads(evidence.read(factories.revision(factories.fresh(case)).payload))
    document["input"] |= change
    intake.add_revision(of.responder, case=factories.fresh(case), fixture=json.dumps(document).encode())
    return factories.fresh(case)


def test_an_edit_by_hand_that_loses_a_relation_is_in_the_way_and_stays_so_when_it_is_redacted_or_looked_at_again(
    of: factories.People,
) -> None:
    case = edited(of, {"requester_email": "somebody.else@shop.example"})
    [lost] = redaction_scans.record_of(newest(case)).lost
    assert lost.sentence == "the same e-mail stands at /input/owner_email and /input/requester_email"
    closed = next(gate for gate in gates.gates_of(case, "redaction_approved", actor=of.privacy) if gate.blocks)
    assert (closed.name, closed.remedy.startswith("Undo what was edited by hand")) == ("residual", True)
    redacting.look_again(of.responder, case=case, seen_revision=3)
    assert newest(case).lost == 1
    redacting.redact(of.responder, case=case, seen_revision=3)
    assert newest(case).lost == 1


def test_an_edit_by_hand_that_keeps_the_relations_says_so(of: factories.People) -> None:
    looked = newest(edited(of, {"note": "new"}))
    assert (looked.source, looked.lost, looked.facts) == (None, 0, 1)


def test_an_edit_by_hand_after_the_raw_evidence_is_destroyed_needs_people_to_say_that_relations_hold(
    of: factories.People,
) -> None:
    case = edited(of, {"note": "new"})
    source = factories.revision(case).case.revisions.get(number=1)
    evidence.destroy(source.payload)
    redacting.look_again(of.responder, case=case, seen_revision=3)
    assert [one["detector"] for one in newest(case).open] == ["blind:relations not compared"]
    assert "residual" in blocking(factories.fresh(case), of)
    document = json.loads(evidence.read(source.case.revisions.get(number=2).payload))
    document["expected"]["prohibited_claims"][0]["statement"] = "Only what is expected is another."
    intake.add_revision(of.responder, case=factories.fresh(case), fixture=json.dumps(document).encode())
    assert newest(case).open == []


def test_raw_evidence_that_comes_after_a_redaction_is_held_against_nothing_before_it(of: factories.People) -> None:
    case = redacted(of)
    data = factories.fixture(input={"message": TEXT, "more": "new"})
    intake.add_revision(of.responder, case=case, fixture=data)
    redacting.redact(of.responder, case=factories.fresh(case), seen_revision=3)
    case = factories.fresh(case)
    descent = RedactionFacts([case]).descent(factories.revision(case))
    assert descent is not None
    assert (descent.raw.number, descent.redacted.number) == (3, 4)


def test_where_nothing_had_to_go_the_revision_stays_and_is_noted_as_read(of: factories.People) -> None:
    case = raw(of, "Where is my money?")
    assert redacting.redact(of.responder, case=case, seen_revision=1).number == 1
    assert newest(case).source_id == factories.revision(case).pk


# --- what was seen --------------------------------------------------------------------------------------------------


def test_nobody_approves_what_they_did_not_look_at(of: factories.People) -> None:
    case = replayed(of, redacted(of))
    raw_reads.begin(of.privacy, case=case, reason="To review it.")
    looked = newest(case)
    seen_spans.mark(of.privacy, redaction=looked, spans=range(looked.spans - 1))
    with pytest.raises(InvalidTransition, match=f"not looked at 1 of {looked.spans} places"):
        factories.decide_redaction(of.privacy, case)
    assert not Decision.objects.exists()


def test_what_one_reviewer_saw_another_one_did_not(of: factories.People) -> None:
    case = replayed(of, redacted(of))
    factories.see_everything(of.privacy, case)
    with pytest.raises(InvalidTransition, match="not looked at"):
        factories.decide_redaction(second_reviewer(of), case)


def test_a_span_that_is_not_open_to_the_reviewer_is_not_seen(of: factories.People) -> None:
    with pytest.raises(PermissionDenied):
        seen_spans.mark(of.privacy, redaction=newest(redacted(of)), spans=[0])


def test_a_span_that_is_not_there_is_not_seen(of: factories.People) -> None:
    case = redacted(of)
    raw_reads.begin(of.privacy, case=case, reason="To review it.")
    with pytest.raises(ValidationError, match="spans"):
        seen_spans.mark(of.privacy, redaction=newest(case), spans=[newest(case).spans])


# --- returns ----------------------------------------------------------------------------------------------------------


def returned(of: factories.People) -> Case:
    case = redacted(of)
    seen = factories.revision(case)
    note = "A name is left."
    lifecycle.return_redaction(of.privacy, case=case, revision=seen.number, content_hash=seen.content_hash, note=note)
    return factories.fresh(case)


def test_a_return_that_was_not_meant_is_taken_back_and_stays_in_the_history(of: factories.People) -> None:
    case = returned(of)
    assert returns.last_of(of.privacy) == case
    returns.take_back(of.privacy, case=case)
    assert not factories.fresh(case).redaction_returned
    assert returns.last_of(of.privacy) is None
    assert Decision.objects.get().void_reason == decisions.TAKEN_BACK
    with pytest.raises(InvalidTransition, match="could be taken back"):
        returns.take_back(of.privacy, case=case)


def test_nobody_takes_back_what_another_one_returned_or_was_answered(of: factories.People) -> None:
    case = returned(of)
    with pytest.raises(InvalidTransition, match="could be taken back"):
        returns.take_back(second_reviewer(of), case=case)
    intake.add_revision(of.responder, case=case, fixture=factories.fixture(input={"message": "Where is it?"}))
    assert returns.last_of(of.privacy) is None
    with pytest.raises(InvalidTransition, match="could be taken back"):
        returns.take_back(of.privacy, case=factories.fresh(case))


# --- rules ----------------------------------------------------------------------------------------------------------


def mark(of: factories.People, case: Case, text: str = "Jane", by: Any = None) -> RedactionRule:
    source = redacting.source_of(factories.revision(case))
    return redaction_rules.add(
        by or of.responder,
        source=source,
        action=RuleAction.MARK,
        kind="person",
        place=place_of(text),
        reason="Her first name.",
    )


def test_what_a_person_marked_is_replaced_in_this_redaction_and_the_next(of: factories.People) -> None:
    case = redacted(of)
    mark(of, case)
    redacting.redact(of.responder, case=case, seen_revision=2)
    case = factories.fresh(case)
    first = message_of(case)
    mark(of, case, "desk 4")
    redacting.redact(of.responder, case=case, seen_revision=3)
    second = message_of(factories.fresh(case))
    assert "Jane" not in first
    assert first.split()[2] == second.split()[2]
    assert "desk 4" not in second


def test_a_rule_that_was_taken_back_holds_no_more(of: factories.People) -> None:
    case = redacted(of)
    rule = mark(of, case)
    redacting.redact(of.responder, case=case, seen_revision=2)
    redaction_rules.withdraw(of.responder, rule=rule)
    redacting.redact(of.responder, case=factories.fresh(case), seen_revision=3)
    assert "Jane" in message_of(factories.fresh(case))


def test_whoever_added_a_rule_does_not_approve(of: factories.People) -> None:
    case = redacted(of)
    mark(of, case, by=of.privacy)
    redacting.redact(of.responder, case=case, seen_revision=2)
    case = replayed(of, factories.fresh(case))
    factories.see_everything(of.privacy, case)
    with pytest.raises(PermissionDenied, match="what the case was made of"):
        factories.decide_redaction(of.privacy, case)


def test_a_rule_for_a_place_that_is_not_there_is_refused(of: factories.People) -> None:
    case = redacted(of)
    with pytest.raises(ValidationError, match="nothing at this place"):
        redaction_rules.add(
            of.responder,
            source=redacting.source_of(factories.revision(case)),
            action=RuleAction.KEEP,
            place=Place(pointer="/input/nowhere", start=0, end=0),
            reason="A test.",
        )


def test_what_is_kept_by_a_rule_stays_in_the_way_until_it_is_waived(of: factories.People) -> None:
    case = redacted(of)
    redaction_rules.add(
        of.responder,
        source=redacting.source_of(factories.revision(case)),
        action=RuleAction.KEEP,
        place=place_of(MAIL),
        reason="It is made up.",
    )
    redacting.redact(of.responder, case=case, seen_revision=2)
    case = factories.fresh(case)
    assert MAIL in message_of(case)
    assert "residual" in blocking(case, of)


# --- waivers --------------------------------------------------------------------------------------------------------


def ask(of: factories.People, case: Case, by: Any = None) -> Waiver:
    looked = newest(case)
    [waiver] = waivers.ask(
        by or of.privacy,
        redaction=looked,
        findings=[looked.open[0]["finding"]],
        reason="Our own shop's address.",
        until=soon(),
    )
    return waiver


def test_a_waiver_counts_once_a_second_person_agreed(of: factories.People) -> None:
    case = raw(of)
    waiver = ask(of, case)
    assert "residual" in blocking(case, of)
    waivers.confirm(second_reviewer(of), waiver=waiver)
    assert blocking(case, of) == []


def test_nobody_agrees_to_their_own_waiver(of: factories.People) -> None:
    waiver = ask(of, raw(of))
    with pytest.raises(PermissionDenied, match="A second person"):
        waivers.confirm(of.privacy, waiver=waiver)
    with pytest.raises(IntegrityError), transaction.atomic():
        Waiver.objects.filter(pk=waiver.pk).update(confirmed_by=of.privacy, confirmed_at=timezone.now())


def test_a_waiver_that_ended_is_in_the_way_again(of: factories.People) -> None:
    case = raw(of)
    waiver = waivers.confirm(second_reviewer(of), waiver=ask(of, case))
    waivers.end(of.privacy, waiver=waiver)
    assert "residual" in blocking(case, of)


def test_a_waiver_past_its_time_is_in_the_way_again(of: factories.People) -> None:
    case = raw(of)
    waivers.confirm(second_reviewer(of), waiver=ask(of, case))
    with time_machine.travel(timezone.now() + timedelta(days=4), tick=False):
        assert "residual" in blocking(case, of)


def test_secrets_are_not_waived_together_with_others(of: factories.People) -> None:
    looked = newest(raw(of, f"{TEXT} with {SECRET}"))
    assert {one["kind"] for one in looked.open} >= {"secret", "email"}
    with pytest.raises(ValidationError, match="by itself"):
        waivers.ask(
            of.privacy,
            redaction=looked,
            findings=[one["finding"] for one in looked.open],
            reason="All made up.",
            until=soon(),
        )


def test_a_waiver_says_where_without_a_value(of: factories.People) -> None:
    waiver = ask(of, raw(of))
    assert waiver.place.startswith("/input/message")
    assert MAIL not in waiver.place


def test_an_outrun_finding_is_not_waived(of: factories.People) -> None:
    case = raw(of)
    looked = newest(case)
    redacting.redact(of.responder, case=case, seen_revision=1)
    with pytest.raises(InvalidTransition, match="outrun"):
        waivers.ask(of.privacy, redaction=looked, findings=[looked.open[0]["finding"]], reason="Made up.", until=soon())


def let_stand(of: factories.People) -> Waiver:
    """Of an approved case, for three days."""
    case = raw(of)
    waiver = waivers.confirm(of.security, waiver=ask(of, case))
    factories.approve_redaction(of, case)
    return waiver


def test_who_asked_who_agreed_and_privacy_reviewers_are_told_once_before_a_waiver_ends(of: factories.People) -> None:
    waiver, another = let_stand(of), second_reviewer(of)
    assert [waivers.look(), waivers.look()] == [1, 0]
    told = Notification.objects.filter(kind=NotificationKind.WAIVER_ENDS)
    assert {one.user for one in told} == {of.privacy, of.security, another}
    assert "RC-1: the waiver of a finding (e-mail) ends on" in told[0].text
    assert waiver.case.flags.count() == 0


def test_a_case_whose_waiver_has_ended_is_flagged_once_and_privacy_reviewers_see_it(of: factories.People) -> None:
    case = let_stand(of).case
    with time_machine.travel(timezone.now() + timedelta(days=4), tick=False):
        assert [waivers.look(), waivers.look()] == [1, 0]
        assert [flag.reason for flag in case.flags.all()] == [FlagReason.WAIVER_ENDED]
        assert "Open findings in revision 1: 1 e-mail" in refused_re_review(of.privacy, case)
        assert [(row.readable_id, row.why) for row in needs.of(of.privacy).lists["looks"]] == [("RC-1", "waiver_ended")]


def test_a_case_whose_waiver_somebody_ended_is_flagged(of: factories.People) -> None:
    waiver = let_stand(of)
    waivers.end(of.privacy, waiver=waiver)
    assert [flag.reason for flag in waiver.case.flags.all()] == [FlagReason.WAIVER_ENDED]


def test_a_waiver_that_ends_in_review_flags_nothing(of: factories.People) -> None:
    case = raw(of)
    waivers.end(of.privacy, waiver=waivers.confirm(second_reviewer(of), waiver=ask(of, case)))
    assert case.flags.count() == 0


# --- policies -------------------------------------------------------------------------------------------------------


def test_a_new_policy_asks_for_another_look_before_the_approval(of: factories.People) -> None:
    case = replayed(of, redacted(of))
    assert blocking(case, of) == []
    redaction_policies.save(of.privacy, project=of.project, data={"dates": "shift"}, note="Dates too.", seen=0)
    assert blocking(case, of) == ["residual"]
    redacting.look_again(of.responder, case=case, seen_revision=2)
    assert blocking(case, of) == []


def test_a_new_policy_flags_what_was_approved_and_takes_nothing_away(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    redaction_policies.save(of.privacy, project=of.project, data={"dates": "shift"}, note="Dates too.", seen=0)
    case = factories.fresh(case)
    assert case.stage == Stage.REDACTION_APPROVED
    assert [flag.reason for flag in case.flags.filter(cleared_at=None)] == [FlagReason.POLICY_CHANGED]


def test_a_re_review_after_a_new_policy_needs_a_look_under_it_that_leaves_nothing_open(of: factories.People) -> None:
    case = approved(of)
    redaction_policies.save(of.privacy, project=of.project, data={"dates": "shift"}, note="Dates too.", seen=0)
    assert "Look again" in refused_re_review(of.qa, case)
    redacting.look_again(of.responder, case=factories.fresh(case), seen_revision=2)
    stricter = {"fields": [{"key": "message", "kind": "text"}]}
    redaction_policies.save(of.privacy, project=of.project, data=stricter, note="Nothing of it stays.", seen=1)
    assert "Look again" in refused_re_review(of.qa, case)
    redacting.look_again(of.responder, case=factories.fresh(case), seen_revision=2)
    assert "Open findings in revision 2: 1 free text. Send the case back" in refused_re_review(of.qa, case)


def test_a_privacy_reviewer_notes_the_re_review_of_a_policy_and_leaves_other_flags(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    redaction_policies.save(of.privacy, project=of.project, data={"dates": "shift"}, note="Dates too.", seen=0)
    flags.raise_flag(of.qa, case=case, reason=FlagReason.DRIFTED, detail="The probe says so.")
    redacting.look_again(of.responder, case=factories.fresh(case), seen_revision=1)
    case = flags.review_again(of.privacy, case=case, note="Nothing new is found.")
    assert [flag.reason for flag in case.flags.filter(cleared_at=None)] == [FlagReason.DRIFTED]
    assert case.flagged
    with pytest.raises(PermissionDenied, match="needs the role"):
        flags.review_again(of.privacy, case=case, note="Fine.")


def refused_re_review(actor: User, case: Case) -> str:
    """Why it is refused, and not offered."""
    case = factories.fresh(case)
    with pytest.raises(InvalidTransition) as refused:
        flags.review_again(actor, case=case, note="Fine.")
    [action] = available_actions(case, actor, only={"review_again"})
    assert action.why_not == str(refused.value)
    return str(refused.value)


def test_of_two_people_who_edit_one_version_the_second_sees_a_conflict(of: factories.People) -> None:
    redaction_policies.save(of.privacy, project=of.project, data={"dates": "shift"}, note="Dates too.", seen=0)
    with pytest.raises(SeenAnother, match="Version 1"):
        redaction_policies.save(of.privacy, project=of.project, data={"aliases": "replace"}, note="Names.", seen=0)


def test_a_policy_that_is_none_says_every_problem(of: factories.People) -> None:
    with pytest.raises(ValidationError) as refused:
        redaction_policies.save(
            of.privacy, project=of.project, data={"dates": "no", "kinds_off": ["secret"]}, note="Bad.", seen=0
        )
    assert len(refused.value.messages) == 2


def test_a_preview_says_what_a_policy_would_do_and_keeps_nothing(of: factories.People) -> None:
    case = raw(of)
    before = AuditEvent.objects.count()
    found = redacting.preview(of.privacy, case=case, data={"kinds_off": ["email"]})
    assert (found.now, found.then) == ({"email": 1}, {})
    assert AuditEvent.objects.count() == before


# --- after the approval ---------------------------------------------------------------------------------------------


def approved(of: factories.People) -> Case:
    case = replayed(of, redacted(of))
    factories.approve_redaction(of, case)
    return factories.fresh(case)


def test_the_approval_destroys_what_stood_for_what(of: factories.People) -> None:
    case = approved(of)
    mappings = {row.mapping for row in Redaction.objects.filter(revision__case=case)}
    assert all(payload.purged_at is not None and not payload.body for payload in mappings)
    assert redaction_scans.key_of(case).kept is None


def test_new_expectations_are_looked_through_before_they_are_shown(of: factories.People) -> None:
    case = approved(of)
    document = json.loads(evidence.read(factories.revision(case).payload))
    document["expected"]["prohibited_claims"][0]["statement"] = f"The refund was said to be paid to {MAIL}."
    intake.add_revision(of.engineer, case=case, fixture=json.dumps(document).encode())
    case = factories.fresh(case)
    assert case.stage == Stage.REDACTION_APPROVED
    with pytest.raises(InvalidTransition, match="must go \\(e-mail\\)"):
        factories.approve_expectation(of, case)


def test_new_expectations_with_which_a_relation_was_lost_are_not_shown(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    factories.look(case, lost=1)
    with pytest.raises(InvalidTransition, match="Relations between values were lost: 1"):
        redaction_rows.require_nothing_open(factories.revision(case))


def test_a_control_that_holds_what_must_go_is_not_approved(of: factories.People) -> None:
    case = approved(of)
    control = intake.add_control(
        of.engineer,
        revision=factories.revision(case),
        name="another customer",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="control", input={"message": "Write to joe.roe@corp.test"}),
    )
    with pytest.raises(InvalidTransition, match="holds what must go \\(e-mail\\)"):
        lifecycle.approve_control(of.privacy, control=control, fixture_hash=control.fixture_hash)
    assert not Decision.objects.filter(control=control).exists()


def test_the_database_keeps_an_approval_without_a_look_out(of: factories.People) -> None:
    case = raw(of, "Where is my money?")
    seen = factories.revision(case)
    with pytest.raises(IntegrityError), transaction.atomic():
        Decision.objects.create(
            case=case,
            revision=seen,
            kind=DecisionKind.REDACTION,
            outcome=DecisionOutcome.APPROVED,
            content_hash=seen.content_hash,
            fixture_hash=seen.fixture_hash,
            checks_hash=seen.checks_hash,
            decided_by=of.privacy,
            decided_at=timezone.now(),
        )


def test_a_case_that_is_sent_back_can_be_redacted_again(of: factories.People) -> None:
    case = approved(of)
    lifecycle.send_back(of.privacy, case=case, reason="A name is left.")
    case = factories.fresh(case)
    redacting.redact(of.responder, case=case, seen_revision=2)
    assert factories.fresh(case).current_revision.number == 3
    assert MAIL not in message_of(factories.fresh(case))
