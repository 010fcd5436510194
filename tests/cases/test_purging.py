"""Raw evidence whose time is over is destroyed, whole and once, and what was made of it stays."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.exceptions import PermissionDenied
from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone

from replaycases.cases import (
    captures,
    comparing,
    drafts,
    events,
    evidence,
    executing,
    expiry,
    gates,
    intake,
    jobs,
    lanes,
    lifecycle,
    proposals,
    purging,
    sealing,
)
from replaycases.cases.available import available_actions
from replaycases.cases.evidence import EvidenceDestroyed
from replaycases.cases.key_ring import KeyMissing
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Classification,
    Comparison,
    Draft,
    Origin,
    OutcomeType,
    Payload,
    Proposal,
    ProposalKind,
    ProposalState,
    Run,
    RunState,
)
from replaycases.cases.policies import InvalidTransition
from tests import factories, in_process
from tests.cases.deployment import Deployment
from tests.cases.test_captures import CHOICES, STATEMENT, TRACE

pytestmark = pytest.mark.django_db

OVER = timedelta(days=31)


@pytest.fixture(autouse=True)
def ring(tmp_path: Path) -> Iterator[Path]:
    """A key ring for each test alone: these forget."""
    path = tmp_path / "ring.json"
    with override_settings(EVIDENCE_KEYS_FILE=path):
        yield path


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def replayed(of: factories.People) -> Case:
    """A quarantined case with a quarantined control, a verdict, and manifests of both sides."""
    made = factories.case(of.project, of.responder, classification=Classification.QUARANTINED)
    factories.describe(of, made)
    factories.replayed(of, made)
    return factories.fresh(made)


def later(by: timedelta = OVER) -> Any:
    return time_machine.travel(timezone.now() + by, tick=False)


def told(action: str = "evidence.destroyed") -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(action=action).order_by("sequence"))


# --- what is destroyed ----------------------------------------------------------------------------------------------


def test_before_its_time_nothing_is_destroyed(of: factories.People) -> None:
    replayed(of)
    with later(timedelta(days=29, hours=23)):
        assert purging.look() == 0
    assert not Payload.objects.exclude(purged_at=None).exists()


def test_past_its_time_bytes_and_keys_of_all_raw_evidence_of_a_case_are_gone_and_the_receipts_stay(
    of: factories.People,
) -> None:
    case = replayed(of)
    before = {payload.pk: payload for payload in Payload.objects.filter(data_key__isnull=False)}
    # The fixture, the manifests of four runs, the verdict, what the detectors found and the case's key.
    assert len(before) == 1 + 4 + 1 + 2
    with later():
        assert purging.look() == len(before)
    for payload in Payload.objects.filter(pk__in=before):
        assert (bytes(payload.body), payload.data_key) == (b"", None)
        assert payload.purged_at is not None
        assert (payload.digest, payload.size) == (before[payload.pk].digest, before[payload.pk].size)
    case.refresh_from_db()
    assert (case.evidence_expires_at, case.evidence_destroyed_at is not None) == (None, True)


def test_one_event_of_the_case_says_what_was_destroyed_and_where_it_was_held(of: factories.People) -> None:
    case = replayed(of)
    payload = factories.revision(case).payload
    with later():
        purging.look()
    [event] = told()
    said = json.loads(event.after)
    assert (event.case, event.actor, said["payloads"], said["store"]) == (case, None, 8, "database")
    fixture = {"digest": payload.digest, "size": payload.size, "was": "fixture", "key_hour": payload.key_hour}
    assert fixture in said["receipts"]
    was = sorted(receipt["was"] for receipt in said["receipts"])
    assert was == ["fixture", *["manifest"] * 4, "mapping", "redaction", "verdict"]
    assert said["bytes"] == sum(receipt["size"] for receipt in said["receipts"])


def test_a_second_look_destroys_nothing_and_says_nothing(of: factories.People) -> None:
    replayed(of)
    with later():
        purging.look()
        assert purging.look() == 0
    assert len(told()) == 1


def test_redacted_evidence_is_not_destroyed(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    with later(timedelta(days=400)):
        purging.look()
    assert evidence.read(factories.revision(factories.fresh(case)).payload)
    assert factories.fresh(case).evidence_expires_at is None


def test_a_capture_and_what_was_chosen_of_it_end_together(of: factories.People) -> None:
    capture = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD)
    draft = drafts.save(of.responder, capture=capture, run=0, choices={})
    drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    with later():
        purging.look()
        capture.refresh_from_db()
        assert capture.purged_at is not None
        with pytest.raises(EvidenceDestroyed):
            drafts.choices_of(Draft.objects.get(pk=draft.pk))
        with pytest.raises(EvidenceDestroyed, match=f"T1 was destroyed on .* {capture.payload.size} bytes, sha256:"):
            captures.recording_of(of.responder, capture)
    by_subject = {event.object_type: json.loads(event.after) for event in told()}
    assert sorted(one["was"] for one in by_subject["cases.capture"]["receipts"]) == ["capture", "draft", "outlines"]
    assert by_subject.keys() == {"cases.capture"}


def test_what_was_loaded_before_it_was_destroyed_is_destroyed_and_not_damaged(of: factories.People) -> None:
    """Somebody else brought its end nearer after it was loaded."""
    payload = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD).payload
    loaded = Payload.objects.defer("body", "data_key").get(pk=payload.pk)
    Payload.objects.filter(pk=payload.pk).update(expires_at=timezone.now())
    purging.look()
    with pytest.raises(EvidenceDestroyed, match="was destroyed on"):
        evidence.read(loaded)


def test_equal_choices_of_another_capture_do_not_end_with_it(of: factories.People) -> None:
    first = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD, evidence_days=1)
    other = captures.bring(of.responder, project=of.project, data=TRACE + b"\n", origin=Origin.UPLOAD)
    drafts.save(of.responder, capture=first, run=0, choices=CHOICES)
    draft = drafts.save(of.responder, capture=other, run=0, choices=CHOICES)
    with later(timedelta(days=2)):
        assert purging.look() == 3
        assert drafts.choices_of(Draft.objects.get(pk=draft.pk)) == CHOICES


def test_the_same_file_is_captured_anew_and_the_destroyed_one_stays_destroyed(of: factories.People) -> None:
    first = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD)
    with later():
        with pytest.raises(EvidenceDestroyed, match="The time of RC-T1 is over"):
            captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD)
        purging.look()
        anew = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD)
        assert anew.pk != first.pk
        assert captures.recording_of(of.responder, anew).runs
        with pytest.raises(EvidenceDestroyed):
            evidence.read(Payload.objects.get(pk=first.payload_id))


def test_a_case_that_was_made_of_a_capture_ends_with_it(of: factories.People) -> None:
    capture = captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.UPLOAD, evidence_days=2)
    with later(timedelta(days=1)):
        draft = drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
        case = drafts.make_case(of.responder, draft=draft, seen=draft.choices.digest, **STATEMENT)
    assert case.evidence_expires_at == capture.expires_at
    with later(timedelta(days=2)):
        purging.look()
    assert not Payload.objects.filter(data_key__isnull=False).exists()


# --- when it is destroyed -------------------------------------------------------------------------------------------


def extended(case: Case, of: factories.People, days: int) -> None:
    proposal = Proposal.objects.create(
        case=case,
        kind=ProposalKind.EXTENSION,
        reason="The review needs more time.",
        until=timezone.now() + timedelta(days=days),
        proposed_by=of.responder,
        proposed_at=timezone.now(),
    )
    Proposal.objects.filter(pk=proposal.pk).update(
        state=ProposalState.CONFIRMED, decided_by=of.privacy, decided_at=timezone.now()
    )
    proposal.refresh_from_db()
    with transaction.atomic():
        expiry.extend(of.privacy, proposal=proposal)


def test_an_extension_that_was_confirmed_in_time_wins_for_what_was_made_of_it_too(of: factories.People) -> None:
    case = replayed(of)
    extended(case, of, 40)
    with later():
        assert purging.look() == 0
        for payload in Payload.objects.filter(data_key__isnull=False):
            assert evidence.read(payload)
    with later(timedelta(days=41)):
        assert purging.look() == 8


def test_an_extension_that_nobody_confirmed_in_time_is_confirmed_by_nobody(of: factories.People) -> None:
    case = replayed(of)
    until = timezone.now() + timedelta(days=50)
    proposal = proposals.propose_extension(of.responder, case=case, reason="The review needs more time.", until=until)
    with later():
        purging.look()
        with pytest.raises(InvalidTransition, match="Decline it"):
            proposals.confirm(of.privacy, proposal=Proposal.objects.get(pk=proposal.pk))


def test_a_purge_that_dies_in_the_middle_leaves_whole_batches_and_the_next_one_goes_on(
    of: factories.People, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed(of)
    monkeypatch.setattr(purging, "BATCH", 2)
    record, calls = events.record, []

    def dies(**said: Any) -> Any:
        calls.append(said)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return record(**said)

    with later():
        monkeypatch.setattr(events, "record", dies)
        with pytest.raises(KeyboardInterrupt):
            purging.look()
        assert Payload.objects.exclude(purged_at=None).count() == 2
        assert sum(json.loads(event.after)["payloads"] for event in told()) == 2
        assert Payload.objects.filter(data_key=None, purged_at=None, classification="quarantined").count() == 0
        monkeypatch.setattr(events, "record", record)
        assert purging.look() == 6
    assert sum(json.loads(event.after)["payloads"] for event in told()) == 8


def test_the_hour_is_forgotten_once_everything_of_it_is_destroyed(of: factories.People, ring: Path) -> None:
    replayed(of)
    backup = {payload.pk: payload for payload in Payload.objects.filter(data_key__isnull=False)}
    with later():
        purging.look()
        for payload in backup.values():
            with pytest.raises(EvidenceDestroyed):
                evidence.read(payload)
            with pytest.raises(KeyMissing):
                sealing.opened(payload)


def test_a_ring_that_cannot_be_changed_holds_up_no_purge_and_it_is_said(
    of: factories.People, ring: Path, caplog: pytest.LogCaptureFixture
) -> None:
    replayed(of)
    ring.with_name("ring.json.lock").unlink()
    ring.with_name("ring.json.lock").mkdir()
    with later():
        assert purging.look() == 8
    assert "can still be opened in backups" in caplog.text


# --- what reads what is destroyed -----------------------------------------------------------------------------------


def test_the_verdict_stays_and_is_not_reached_anew(of: factories.People) -> None:
    case = replayed(of)
    comparison = Comparison.objects.get()
    said = (comparison.label, comparison.reason, comparison.computed_at)
    assert comparison.label
    with later():
        purging.look()
        twin = factories.case(of.project, of.responder)  # the same bytes, brought anew
        jobs.request_run_set(
            of.engineer, revision=factories.revision(twin), implementation=case.provenance.affected, size=1
        )
        in_process.replay_all()
    comparison.refresh_from_db()
    assert (comparison.label, comparison.reason, comparison.computed_at) == said


def test_a_verdict_that_rests_on_a_voided_set_does_not_stand_although_it_cannot_be_reached_anew(
    of: factories.People,
) -> None:
    replayed(of)
    with later():
        purging.look()
        jobs.void(of.qa, run_set=Run.objects.all()[0].run_set, reason="the wrong build")
        comparing.refresh_waiting()
    assert Comparison.objects.get().label == ""


def test_a_replay_of_what_is_destroyed_is_refused(of: factories.People) -> None:
    case = replayed(of)
    old, new = case.provenance.affected, case.provenance.fixed
    with later():
        purging.look()
        case = factories.fresh(case)
        with pytest.raises(InvalidTransition, match="was destroyed on"):
            jobs.request_run_set(of.engineer, revision=factories.revision(case), implementation=old, size=1)
        with pytest.raises(InvalidTransition, match="was destroyed on"):
            jobs.request_comparison(of.engineer, revision=factories.revision(case), old=old, new=new)
        refused = {action.name: action.why_not for action in available_actions(case, of.engineer)}
    assert "was destroyed on" in refused["request_comparison"]


def test_a_replay_of_an_earlier_revision_that_is_destroyed_is_refused(of: factories.People) -> None:
    case = replayed(of)
    first = factories.revision(case)
    factories.redacted_revision(of.responder, case, factories.fixture(input={"order": "o-2"}))
    with later():
        purging.look()
        with pytest.raises(InvalidTransition, match="cannot be replayed"):
            jobs.request_run_set(of.engineer, revision=first, implementation=case.provenance.affected, size=1)
        assert gates.gates_of(factories.fresh(case), "in_review", actor=of.responder)[1].state == "not_applicable"


def test_a_queued_run_whose_evidence_is_destroyed_ends_at_once_and_says_why(of: factories.People) -> None:
    case = replayed(of)
    run_set = jobs.request_run_set(
        of.engineer, revision=factories.revision(case), implementation=case.provenance.affected, size=1
    )
    run = Run.objects.get(run_set=run_set)
    Run.objects.filter(pk=run.pk).update(not_before=timezone.now() - timedelta(days=1))
    with later():
        purging.look()
        executing.look_at(run.pk, worker="here")
    run.refresh_from_db()
    assert (run.state, run.attempts, run.status) == (RunState.QUARANTINED, 1, "")
    assert "was destroyed on" in run.reason


def test_a_run_that_ends_after_the_time_of_its_evidence_keeps_nothing_of_it(of: factories.People) -> None:
    case = replayed(of)
    run_set = jobs.request_run_set(
        of.engineer, revision=factories.revision(case), implementation=case.provenance.affected, size=1
    )
    run = Run.objects.select_related("run_set__implementation", "run_set__revision").get(run_set=run_set)
    held = jobs.lease(run.pk, worker="here")
    assert held is not None
    result = executing._result(in_process._manifest(run))
    with later():
        with pytest.raises(EvidenceDestroyed):
            jobs.finish(held, result)
        purging.look()
        with pytest.raises(EvidenceDestroyed):
            jobs.finish(held, result)
    assert Run.objects.get(pk=run.pk).manifest is None


@pytest.mark.parametrize("purged", [False, True])
def test_raw_evidence_does_not_come_back_by_a_revision(of: factories.People, purged: bool) -> None:
    case = replayed(of)
    changed = factories.fixture(input={"order": "o-2"})
    with later():
        if purged:
            purging.look()
        with pytest.raises(InvalidTransition, match="as a new case"):
            intake.add_revision(of.responder, case=factories.fresh(case), fixture=changed)


def test_what_was_approved_in_time_goes_on_and_what_is_added_to_it_is_raw_with_an_end_of_its_own(
    of: factories.People,
) -> None:
    case = replayed(of)
    factories.redacted_revision(of.responder, case, factories.fixture(input={"order": "o-2"}))
    with later():
        purging.look()
        changed = factories.fixture(input={"order": "o-3"})
        revision = intake.add_revision(of.responder, case=factories.fresh(case), fixture=changed)
        assert revision.payload.classification == Classification.QUARANTINED
        assert revision.payload.expires_at == factories.fresh(case).evidence_expires_at > timezone.now()


def test_a_case_whose_evidence_is_destroyed_is_not_submitted_and_nothing_of_it_is_approved(
    of: factories.People,
) -> None:
    case = replayed(of)
    with later():
        purging.look()
        asked = available_actions(factories.fresh(case), of.responder, only=("submit",))
        [gate] = [gate for gate in gates.gates_of(case, "redaction_approved", actor=of.privacy) if gate.blocks]
    assert "was destroyed on" in asked[0].why_not
    assert (gate.name, gate.state) == ("fixture_valid", "unsatisfied")
    assert "was destroyed on" in gate.detail


def test_an_approval_after_its_time_and_before_the_purge_opens_nothing_for_ever(of: factories.People) -> None:
    case = factories.in_review(of)
    control = intake.add_control(
        of.engineer,
        revision=factories.revision(case),
        name="raw",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.control_fixture("raw"),
    )
    raw = set(Payload.objects.filter(data_key__isnull=False).values_list("pk", flat=True))
    refused = (EvidenceDestroyed, PermissionDenied, InvalidTransition)
    with later():
        with pytest.raises(refused):
            factories.approve_redaction(of, case)
        with pytest.raises(refused):
            lifecycle.approve_control(of.privacy, control=control, fixture_hash=control.fixture_hash)
        assert set(Payload.objects.filter(data_key__isnull=False).values_list("pk", flat=True)) == raw
        assert purging.look() == len(raw)


def test_a_case_of_which_one_part_ended_first_still_takes_raw_evidence(of: factories.People) -> None:
    """The same bytes end with the first case that holds them."""
    short = intake.create_case(
        of.responder, project=of.project, **factories.STATEMENT, fixture=factories.fixture(), evidence_days=1
    )
    long = factories.case(of.project, of.responder, classification=Classification.QUARANTINED)
    with later(timedelta(days=2)):
        purging.look()
        added = intake.add_revision(
            of.responder, case=factories.fresh(long), fixture=factories.fixture(input={"order": "o-2"})
        )
        assert evidence.read(added.payload)
    assert {event.case_id for event in told()} == {short.pk, long.pk}


def test_the_lanes_daily_run_goes_on_for_others(of: factories.People) -> None:
    factories.nonblocking(of)
    with later(timedelta(days=40)):
        purging.look()
        assert lanes.run_due() == 1


def test_two_beats_at_once_destroy_everything_once(deployment: Deployment) -> None:
    of = factories.people(factories.project())
    for place in range(12):
        data = factories.fixture(input={"order": f"o-{place}"})
        factories.case(of.project, of.responder, data, classification=Classification.QUARANTINED)
    with later():
        found = []

        def beat() -> None:
            found.append(purging.look())
            connection.close()

        beats = [threading.Thread(target=beat) for _ in range(3)]
        for one in beats:
            one.start()
        for one in beats:
            one.join()
    assert len(found) == len(beats)
    assert sum(found) == 36
    assert Payload.objects.exclude(purged_at=None).count() == 36
    assert sum(json.loads(event.after)["payloads"] for event in told()) == 36
    assert not events.verify(None)
