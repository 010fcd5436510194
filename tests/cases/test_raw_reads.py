from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import override_settings
from django.utils import timezone

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import READS_NEW_EXPECTATION, READS_QUARANTINED_EVIDENCE, Role
from replaycases.cases import captures, intake, people, raw_reads, reading, users
from replaycases.cases.evidence import EvidenceDestroyed
from replaycases.cases.models import AuditEvent, Capture, Case, Classification, Comparison, Origin, RawRead
from tests import factories
from tests.importers.transcripts import answers, asks, call, says, transcript, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def case(of: factories.People) -> Case:
    return factories.quarantined(of)


@pytest.fixture
def capture(of: factories.People) -> Capture:
    data = transcript(user("refund 7"), asks(call("refund", {"id": 7})), answers("timed out"), says("Done."))
    return captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD)


def subjects(case: Case) -> list[reading.Readable]:
    """One of everything that is raw in the case."""
    revision = factories.revision(case)
    comparison = Comparison.objects.get(revision=revision)
    control = revision.controls.get()
    factories.restrict(control.payload)
    return [revision, control, comparison, *comparison.runs()]


def test_what_is_raw_is_open_to_who_may_read_it_and_said_why(of: factories.People, case: Case) -> None:
    raw = subjects(case)
    assert [reading.access_to(one, of.privacy).asks for one in raw] == [True] * len(raw)
    raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    assert [reading.access_to(one, of.privacy).open for one in raw] == [True] * len(raw)
    assert not any(reading.access_to(one, of.responder).open for one in raw)
    assert not any(reading.access_to(one, of.viewer).may for one in raw)


def test_what_is_not_open_is_refused_with_what_to_do(of: factories.People, case: Case) -> None:
    revision = factories.revision(case)
    with pytest.raises(reading.ReasonNeeded, match=r"raw evidence of RC-1\. Say first why"):
        reading.require_open(revision, of.privacy)
    with pytest.raises(PermissionDenied, match="shown only to"):
        reading.require_open(revision, of.viewer)
    read = raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    assert reading.require_open(revision, of.privacy).read == read


def test_what_is_redacted_asks_for_nothing(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    made: list[reading.Readable] = [factories.revision(case), Comparison.objects.get()]
    for subject in [*made, *Comparison.objects.get().runs()]:
        assert reading.require_open(subject, of.viewer).read is None


def test_one_raw_read_opens_one_case_or_one_capture(of: factories.People, case: Case, capture: Capture) -> None:
    other = factories.case(
        of.project, of.responder, factories.fixture(case_id="other"), classification=Classification.QUARANTINED
    )
    raw_reads.begin(of.responder, case=case, reason="Why?")
    assert not reading.access_to(factories.revision(other), of.responder).open
    assert not reading.access_to(capture, of.responder).open
    raw_reads.begin(of.responder, capture=capture, reason="Which run?")
    assert reading.access_to(capture, of.responder).open
    assert not reading.access_to(factories.revision(other), of.responder).open


def test_a_raw_read_ends_by_itself(of: factories.People, case: Case) -> None:
    read = raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    assert read.until - read.made_at == timedelta(minutes=30)
    later = RawRead.objects.live(of.privacy, read.until - timedelta(seconds=1))
    assert later.exists()
    assert not RawRead.objects.live(of.privacy, read.until).exists()


@override_settings(REPLAYCASES_RAW_READ_MINUTES=5)
def test_how_long_is_a_setting(of: factories.People, case: Case) -> None:
    read = raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    assert read.until - read.made_at == timedelta(minutes=5)


def test_a_lost_role_ends_it_at_once(of: factories.People, case: Case) -> None:
    raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    Membership.objects.filter(user=of.privacy).delete()
    assert not reading.access_to(factories.revision(case), of.privacy).open


def test_a_lost_account_ends_it_at_once(of: factories.People, case: Case) -> None:
    raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    root = User.objects.create_superuser("root", "root@example.invalid")
    users.edit_user(root, user=of.privacy, changes={"is_active": False})
    assert not reading.access_to(factories.revision(case), of.privacy).open


def test_a_token_reads_nothing_that_is_raw(of: factories.People, case: Case) -> None:
    raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    token, _ = people.create_token(of.privacy, project=of.project, name="CI", scopes=["read"], days=1)
    program = User.objects.get(pk=of.privacy.pk)
    program.token = token
    with pytest.raises(PermissionDenied, match="A token reads no raw evidence"):
        reading.require_open(factories.revision(case), program)
    with pytest.raises(PermissionDenied, match="A token reads no raw evidence"):
        raw_reads.begin(program, case=case, reason="I look for names.")
    assert not reading.live_cases(program).exists()


def test_who_may_begin_is_who_may_read(of: factories.People, case: Case, capture: Capture) -> None:
    readers = {role for role in Role if begins(factories.person(of.project, role), case)}
    assert readers == READS_QUARANTINED_EVIDENCE
    assert {role for role in Role if begins(factories.person(of.project, role), capture)} == readers
    assert not begins(factories.everyone(factories.project("XX")), case)


def test_where_only_the_expectation_is_new_who_decides_it_may_begin_too(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    raised = factories.fixture(expected=factories.EXPECTED_MORE)
    intake.add_revision(of.engineer, case=case, fixture=raised)
    case = factories.fresh(case)
    readers = {role for role in Role if begins(factories.person(of.project, role), case)}
    assert readers == READS_QUARANTINED_EVIDENCE | READS_NEW_EXPECTATION
    raw_reads.begin(of.owner, case=case, reason="I decide about it.")
    assert reading.access_to(factories.revision(case), of.owner).open


def begins(person: User, of: Case | Capture) -> bool:
    begin = partial(raw_reads.begin, person, reason="I look.")
    try:
        begin(capture=of) if isinstance(of, Capture) else begin(case=of)
    except PermissionDenied:
        assert not RawRead.objects.filter(user=person).exists()
        return False
    return True


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 501])
def test_a_reason_says_something(of: factories.People, case: Case, reason: str) -> None:
    with pytest.raises(ValidationError) as refused:
        raw_reads.begin(of.privacy, case=case, reason=reason)
    assert set(refused.value.message_dict) == {"reason"}
    assert not RawRead.objects.exists()


def test_a_raw_read_is_of_one_thing(of: factories.People, case: Case, capture: Capture) -> None:
    wrong: list[dict[str, Any]] = [{}, {"case": case, "capture": capture}]
    for said in wrong:
        with pytest.raises(ValueError, match="a case or of a capture"):
            raw_reads.begin(of.privacy, **said, reason="Why?")


def test_nobody_says_that_they_read_a_capture_that_is_destroyed(of: factories.People, capture: Capture) -> None:
    Capture.objects.update(purged_at=timezone.now())
    with pytest.raises(EvidenceDestroyed):
        raw_reads.begin(of.responder, capture=Capture.objects.get(), reason="Ticket 9.")
    assert not RawRead.objects.exists()


def test_each_is_one_event_of_the_case_with_the_reason(of: factories.People, case: Case, capture: Capture) -> None:
    read = raw_reads.begin(of.privacy, case=case, reason=" I look for names. ")
    event = AuditEvent.objects.get(action="evidence.raw_read")
    assert (event.actor, event.case, event.object_id) == (of.privacy, case, str(read.pk))
    assert event.object_hash == factories.revision(case).content_hash
    assert json.loads(event.after) == {"of": "RC-1", "reason": "I look for names.", "minutes": 30}
    raw_reads.begin(of.privacy, capture=capture, reason="Which run?")
    event = AuditEvent.objects.filter(action="evidence.raw_read").latest("sequence")
    assert (event.case, event.project, event.object_hash) == (None, of.project, capture.payload.digest)
    assert json.loads(event.after)["of"] == "RC-T1"


def test_it_is_kept_for_ever_and_never_longer_open(of: factories.People, case: Case) -> None:
    raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    for statement in (
        "UPDATE cases_rawread SET until = '2099-01-01'",
        "UPDATE cases_rawread SET reason = 'another'",
        "DELETE FROM cases_rawread",
    ):
        with pytest.raises(IntegrityError, match="immutable"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert RawRead.objects.get().reason == "I look for names."


def test_the_database_takes_no_raw_read_in_another_project(of: factories.People, case: Case) -> None:
    read = raw_reads.begin(of.privacy, case=case, reason="I look for names.")
    with pytest.raises(IntegrityError, match="belongs to the project"), transaction.atomic():
        RawRead.objects.create(
            user=of.privacy,
            project=factories.project("XX"),
            case=case,
            reason="Why?",
            made_at=read.made_at,
            until=read.until,
        )


def test_who_read_it_lately_stands_newest_first(of: factories.People, case: Case) -> None:
    for person in (of.privacy, of.responder):
        raw_reads.begin(person, case=case, reason="I look for names.")
    assert [read.user for read in raw_reads.lately(case)] == [of.responder, of.privacy]
