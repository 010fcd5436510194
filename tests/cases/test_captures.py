from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from replaycases.accounts.roles import Role
from replaycases.cases import captures, decisions, drafts, fixtures, previews
from replaycases.cases.models import AuditEvent, Capture, Case, Classification, Decision, Draft, Origin, Payload
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.importers.findings import ImportRefused
from tests import factories
from tests.importers.cassettes import cassette, interaction
from tests.importers.samples import SAMPLES
from tests.importers.transcripts import answers, asks, call, says, transcript, user

pytestmark = pytest.mark.django_db

TRACE = transcript(user("refund 4711"), asks(call("refund", {"id": 1})), answers("timed out"), says("It is refunded."))
CHOICES = {
    "case_id": "refund-claimed",
    "incident_id": "INC-7",
    "frozen_at": "2026-11-01T09:00:00+01:00",
    "expected": {"boundary": ["refunds"], "tool_sequence": {"id": "refunds", "tools": [], "mode": "exact"}},
}
STATEMENT = {
    "title": "A refund is claimed that timed out",
    "trigger": "The refund tool times out after it was asked once.",
    "prohibited_outcome": "The agent tells the customer that the money is refunded.",
    "deciding_evidence": "The tool's timeout and the final message to the customer.",
}


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def capture(of: factories.People) -> Capture:
    return captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD, name="trace.json")


def made_case(of: factories.People, draft: Draft, **more: str) -> Case:
    return drafts.make_case(of.responder, draft=draft, seen=draft.choices.digest, **STATEMENT, **more)


def test_a_capture_is_quarantined_evidence_that_ends(capture: Capture) -> None:
    assert (capture.readable_id, capture.format, capture.runs) == ("RC-T1", "chat-transcript", 1)
    assert capture.payload.classification == Classification.QUARANTINED
    assert capture.expires_at == capture.payload.expires_at
    assert capture.expires_at - capture.captured_at <= timedelta(days=capture.project.retention_days)


def test_the_same_bytes_are_one_capture(of: factories.People, capture: Capture) -> None:
    again = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.PASTE)
    assert again == capture
    assert AuditEvent.objects.filter(action="capture.brought").count() == 1


def test_who_brings_the_same_bytes_again_and_for_whom_approves_nothing_of_what_is_or_was_made_of_it(
    of: factories.People, capture: Capture
) -> None:
    brings, behalf = (factories.person(of.project, Role.RESPONDER, Role.PRIVACY_REVIEWER) for _ in range(2))
    case = made_case(of, drafts.save(of.responder, capture=capture, run=0, choices=CHOICES))
    assert not any(decisions.own_work(person, case) for person in (brings, behalf))
    for _ in range(2):
        captures.bring(brings, project=of.project, data=TRACE, origin=Origin.API, on_behalf_of=behalf)
    assert all(decisions.own_work(person, case) for person in (brings, behalf))
    noted = AuditEvent.objects.get(action="capture.senders_noted")
    assert set(json.loads(noted.after)["sent_by"]) == {str(brings.pk), str(behalf.pk)}


def test_who_brings_the_same_bytes_again_ends_them_earlier_and_never_later(
    of: factories.People, capture: Capture
) -> None:
    draft = drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    was = capture.expires_at
    captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.API)
    assert not AuditEvent.objects.filter(action="evidence.end_set").exists()
    again = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.API, evidence_days=1)
    captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.API, evidence_days=2)
    capture.refresh_from_db()
    assert again.expires_at == capture.expires_at < was - timedelta(days=1)
    kept = Payload.objects.filter(pk__in=[capture.payload_id, capture.outline_id, draft.choices_id])
    assert [(each.expires_at, each.key_hour) for each in kept] == [(capture.expires_at, kept[0].key_hour)] * 3
    assert captures.recording_of(of.responder, capture).runs
    event = AuditEvent.objects.get(action="evidence.end_set")
    assert json.loads(event.before) == {"expires_at": was.isoformat()}


def test_what_our_recorder_wrote_says_so_by_whichever_way_it_came(of: factories.People) -> None:
    capture = captures.bring(of.responder, project=of.project, data=SAMPLES["recorded:lines"], origin=Origin.API)
    assert (capture.origin, capture.format) == (Origin.RECORDER, "recorded")


def test_a_file_that_no_importer_reads_is_not_kept(of: factories.People) -> None:
    with pytest.raises(ImportRefused):
        captures.bring(of.responder, project=of.project, data=b"hello", origin=Origin.UPLOAD)
    assert not Payload.objects.exists()


def test_a_file_of_a_known_format_of_which_no_run_can_be_read_is_not_kept_either(of: factories.People) -> None:
    stream = interaction({"messages": []}, b"\x00\x00", url="https://bedrock-runtime/model/m/converse-stream")
    with pytest.raises(ImportRefused, match="AWS event stream"):
        captures.bring(of.responder, project=of.project, data=cassette(stream), origin=Origin.UPLOAD)
    assert not Payload.objects.exists()


def test_what_is_left_without_a_step_to_replay_makes_a_case_to_read_and_steps_that_come_back_make_more_of_it(
    of: factories.People, capture: Capture
) -> None:
    ends = {"boundary": ["ends"], "run_status": {"id": "ends", "forbid": ["crashed"]}}
    chosen = {**CHOICES, "expected": ends, "none": ["clock", "random", "retrieval"]}
    at = {"capture": capture, "run": 0}
    case = made_case(of, drafts.save(of.responder, **at, choices={**chosen, "leave_out": [1, 2, 3]}))
    made = fixtures.of_revision(factories.revision(case))
    assert (made.replayability or {})["class"] == "non_replayable"
    assert (made.events, made.horizon, factories.revision(case).non_replayable) == ((), False, True)
    draft = drafts.save(of.responder, **at, choices=chosen)
    drafts.revise(of.responder, draft=draft, changed="The steps.", seen=draft.choices.digest)
    assert factories.revision(factories.fresh(case)).non_replayable is False


def test_a_case_that_is_kept_longer_than_its_capture_takes_no_more_of_it(
    of: factories.People, capture: Capture
) -> None:
    case = made_case(of, drafts.save(of.responder, capture=capture, run=0, choices=CHOICES))
    Case.objects.filter(pk=case.pk).update(evidence_expires_at=capture.expires_at + timedelta(days=30))
    draft = drafts.save(of.responder, capture=capture, run=0, choices={**CHOICES, "locale": "de"})
    with pytest.raises(InvalidTransition, match="nothing lengthens a capture"):
        drafts.revise(of.responder, draft=draft, changed="Where.", seen=draft.choices.digest)
    assert factories.fresh(case).revisions.count() == 1


@pytest.mark.parametrize("part", ["serving", "effects", "expected", "leave_out", "optional", "alternatives", "ignore"])
def test_a_part_that_is_null_is_no_choice(of: factories.People, capture: Capture, part: str) -> None:
    draft = drafts.save(of.responder, capture=capture, run=0, choices={"case_id": "first", part: None})
    assert drafts.choices_of(draft) == {"case_id": "first"}


@pytest.mark.parametrize("role", ["privacy", "owner", "qa", "engineer"])
def test_only_responders_capture(of: factories.People, role: str) -> None:
    with pytest.raises(PermissionDenied):
        captures.bring(getattr(of, role), project=of.project, data=TRACE, origin=Origin.UPLOAD)


@pytest.mark.parametrize("role", ["owner", "qa", "engineer"])
def test_who_may_not_read_raw_evidence_does_not_read_a_capture(
    of: factories.People, capture: Capture, role: str
) -> None:
    with pytest.raises(PermissionDenied):
        captures.recording_of(getattr(of, role), capture)


def test_a_draft_keeps_the_last_choices_as_quarantined_evidence(of: factories.People, capture: Capture) -> None:
    for choices in ({"case_id": "first"}, CHOICES, CHOICES):
        draft = drafts.save(of.responder, capture=capture, run=0, choices=choices)
    assert drafts.choices_of(draft) == CHOICES
    kept = {capture.payload_id, capture.outline_id, draft.choices_id}
    assert set(Payload.objects.values_list("pk", flat=True)) == kept
    assert draft.choices.classification == Classification.QUARANTINED
    assert draft.choices.expires_at == capture.expires_at
    assert Draft.objects.count() == 1


def test_a_choice_that_cannot_be_made_is_refused(of: factories.People, capture: Capture) -> None:
    with pytest.raises(ImportRefused):
        drafts.save(of.responder, capture=capture, run=0, choices={"colour": "red"})
    with pytest.raises(ValidationError):
        drafts.save(of.responder, capture=capture, run=1, choices={})
    assert not Draft.objects.exists()


def test_a_case_is_made_of_a_draft_once(of: factories.People, capture: Capture) -> None:
    draft = drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    case = made_case(of, draft)
    assert (case.case_id, case.incident_id) == ("refund-claimed", "INC-7")
    draft.refresh_from_db()
    assert draft.case == case
    with pytest.raises(InvalidTransition, match="RC-1"):
        made_case(of, draft)


def test_of_two_who_make_a_case_of_one_run_at_once_one_does(of: factories.People, capture: Capture) -> None:
    drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    first, second = drafts.of_run(capture, 0), drafts.of_run(capture, 0)
    assert first is not None
    assert second is not None
    case = drafts.make_case(of.responder, draft=first, **STATEMENT, seen=first.choices.digest)
    with pytest.raises(InvalidTransition, match="in the meantime"), transaction.atomic():
        drafts.make_case(of.responder, draft=second, **STATEMENT, seen=second.choices.digest)
    assert (Case.objects.get(), Draft.objects.get().case) == (case, case)


def test_no_case_is_made_of_other_choices_than_those_that_were_looked_at(
    of: factories.People, capture: Capture
) -> None:
    draft = drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    seen = draft.choices.digest
    other = factories.person(of.project, Role.RESPONDER)
    changed = drafts.save(other, capture=capture, run=0, choices={**CHOICES, "incident_id": "INC-8"})
    for stands, said in ((draft, ""), (draft, seen), (changed, seen)):
        with pytest.raises(SeenAnother):
            drafts.make_case(of.responder, draft=stands, **STATEMENT, seen=said)
    assert not Case.objects.exists()
    case = drafts.make_case(of.responder, draft=changed, **STATEMENT, seen=changed.choices.digest)
    assert case.incident_id == "INC-8"
    loaded = drafts.save(of.responder, capture=capture, run=0, choices={**CHOICES, "workflow_version": "8"})
    drafts.save(other, capture=capture, run=0, choices={**CHOICES, "workflow_version": "9"})
    with pytest.raises(SeenAnother):
        drafts.revise(of.responder, draft=loaded, changed="x", seen=loaded.choices.digest)
    with pytest.raises(SeenAnother):
        previews.preview(of.responder, loaded)
    assert case.revisions.count() == 1


@pytest.mark.parametrize(
    "effects",
    [
        {"tools": 1},
        {"tools": None},
        {"tools": {"refund": 1}},
        {"tools": {"refund": {}}},
        {"tools": {"refund": {"action": "refund", "guard": 1}}},
        {"tools": {"refund": {"action": "refund", "guard": {}}}},
        {"tools": {"refund": {"action": "refund", "guard": {"action": []}}}},
    ],
)
def test_effects_that_are_malformed_are_not_kept(of: factories.People, capture: Capture, effects: Any) -> None:
    """The pages of the draft read them."""
    with pytest.raises(ImportRefused):
        drafts.save(of.responder, capture=capture, run=0, choices={**CHOICES, "effects": effects})
    assert not Draft.objects.exists()


def test_a_recording_that_keeps_the_incident_makes_a_case_only_with_a_reason(
    of: factories.People, capture: Capture
) -> None:
    kept = {"boundary": ["refunds"], "tool_sequence": {"id": "refunds", "tools": ["refund"], "mode": "exact"}}
    draft = drafts.save(of.responder, capture=capture, run=0, choices={**CHOICES, "expected": kept})
    with pytest.raises(ValidationError, match="The recorded run does not break refunds"):
        made_case(of, draft)
    assert not Case.objects.exists()
    made_case(of, draft, despite="The trace is of the run after it.")
    event = AuditEvent.objects.get(action="draft.incident_not_seen")
    assert json.loads(event.after) == {"held": ["refunds"], "reason": "The trace is of the run after it."}


def test_a_draft_without_an_expectation_makes_no_case(of: factories.People, capture: Capture) -> None:
    chosen = {name: value for name, value in CHOICES.items() if name != "expected"}
    draft = drafts.save(of.responder, capture=capture, run=0, choices=chosen)
    with pytest.raises(ValidationError, match="expectation"):
        made_case(of, draft)


def test_a_changed_draft_is_the_next_revision(of: factories.People, capture: Capture) -> None:
    draft = drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    made_case(of, draft)
    draft = drafts.save(of.responder, capture=capture, run=0, choices={**CHOICES, "identity": {"role": "customer"}})
    draft = Draft.objects.select_related("capture__project", "choices", "case__project").get(pk=draft.pk)
    case = drafts.revise(of.responder, draft=draft, changed="who asked", seen=draft.choices.digest)
    assert factories.fresh(case).current_revision is not None
    assert factories.fresh(case).current_revision.number == 2


def test_no_event_and_no_row_quotes_what_was_captured(of: factories.People, capture: Capture) -> None:
    drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    said = json.dumps(list(AuditEvent.objects.values("action", "before", "after", "object_id")), default=str)
    assert "4711" not in said
    assert "4711" not in json.dumps(list(Capture.objects.values()), default=str)


def test_who_captured_and_who_drafted_approve_nothing_of_the_case_that_somebody_else_makes(
    of: factories.People,
) -> None:
    capturer, first, last = (factories.person(of.project, Role.RESPONDER, Role.PRIVACY_REVIEWER) for _ in range(3))
    behalf, later = (factories.person(of.project, Role.RESPONDER, Role.PRIVACY_REVIEWER) for _ in range(2))
    capture = captures.bring(
        capturer, project=of.project, data=TRACE, origin=Origin.UPLOAD, name="x", on_behalf_of=behalf
    )
    for editor in (first, last):
        draft = drafts.save(editor, capture=capture, run=0, choices=CHOICES)
    case = made_case(of, draft)
    drafts.save(later, capture=capture, run=0, choices={**CHOICES, "identity": {"role": "customer"}})
    for own in (of.responder, capturer, behalf, first, last, later):
        assert decisions.own_work(own, case)
    assert not decisions.own_work(of.privacy, case)
    seen = factories.revision(case)
    bound = {name: getattr(seen, name) for name in ("content_hash", "fixture_hash", "checks_hash")}
    with pytest.raises(IntegrityError, match="own work"), transaction.atomic():
        Decision.objects.create(
            case=case,
            revision=seen,
            kind="redaction",
            outcome="approved",
            decided_by=capturer,
            decided_at=timezone.now(),
            **bound,
        )
