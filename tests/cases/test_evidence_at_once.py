"""Evidence in many hands at once, on PostgreSQL: it comes in once, opens or is destroyed, and nothing in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

import pytest
from django.db.models import Sum
from django.test import override_settings
from django.utils import timezone

from replaycases.accounts import tokens
from replaycases.accounts.models import User
from replaycases.cases import (
    captures,
    drafts,
    events,
    evidence,
    key_rotation,
    people,
    purging,
    sealing,
    trace_buffer,
    trace_captures,
)
from replaycases.cases.evidence import EvidenceDestroyed
from replaycases.cases.key_ring import RingInvalid
from replaycases.cases.models import BufferedTrace, Capture, CaptureRule, Case, Draft, Origin, Payload, TraceInbox
from tests import factories
from tests.api.otlp_requests import OTHER, TRACE, as_json, chat
from tests.cases.deployment import Deployment
from tests.cases.test_captures import CHOICES, STATEMENT
from tests.cases.test_captures import TRACE as FILE
from tests.cases.test_people_at_once import race

pytestmark = pytest.mark.parametrize("deployment", ["services"], indirect=True)


@pytest.fixture
def of(deployment: Deployment) -> Iterator[factories.People]:
    path = deployment.folder / "evidence-keys.json"
    with override_settings(EVIDENCE_KEYS_FILE=path, REPLAYCASES_OTLP_QUIET_SECONDS=0):
        yield factories.people(factories.project())


def program(of: factories.People) -> User:
    _, secret = people.create_token(of.responder, project=of.project, name="collector", scopes=["captures"], days=1)
    user = tokens.authenticate(secret)
    assert user is not None
    return user


def send(sender: User, *spans: object) -> Callable[[], object]:
    assert sender.token is not None
    return partial(
        trace_buffer.receive,
        sender,
        project=sender.token.project,
        signal="traces",
        body=as_json(*spans),
        protobuf=False,
    )


def bring(of: factories.People, data: bytes = FILE, days: int = 30) -> Callable[[], object]:
    return partial(
        captures.bring, of.responder, project=of.project, data=data, origin=Origin.UPLOAD, evidence_days=days
    )


def opens_or_is_destroyed() -> None:
    for payload in Payload.objects.filter(data_key__isnull=False):
        assert evidence.read(payload)
    for payload in Payload.objects.exclude(purged_at=None):
        assert (bytes(payload.body), payload.data_key) == (b"", None)


def test_what_comes_in_and_is_captured_many_times_at_once_is_there_once(of: factories.People) -> None:
    administrator = factories.everyone(of.project)
    CaptureRule.objects.create(project=of.project, kind="trace", value=TRACE, created_by=administrator)
    sender = program(of)
    for found in race([send(sender, chat(1), chat(1, trace=OTHER)) for _ in range(3)]):
        assert found == trace_buffer.Received()
    ask = partial(trace_captures.capture_trace, of.responder, project=of.project, trace_id=TRACE)
    found = race([ask, ask, trace_captures.look, trace_captures.look, bring(of), bring(of), key_rotation.rotate])
    assert [one for one in found if isinstance(one, Exception)] == []
    assert Capture.objects.count() == 2
    assert BufferedTrace.objects.get(trace_id=TRACE).capture == Capture.objects.get(trace_id=TRACE)
    inbox = TraceInbox.objects.get()
    batches = Payload.objects.filter(media_type=trace_buffer.BATCH_TYPE)
    assert (inbox.traces, inbox.bytes) == (2, batches.aggregate(bytes=Sum("size"))["bytes"])
    opens_or_is_destroyed()
    assert events.verify() == []


def test_what_ends_while_it_is_used_is_used_or_destroyed_and_told_once(of: factories.People) -> None:
    capture = captures.bring(of.responder, project=of.project, data=FILE, origin=Origin.UPLOAD)
    draft = drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    other = captures.bring(of.responder, project=of.project, data=FILE + b"\n", origin=Origin.UPLOAD)
    assert isinstance(other, Capture)
    ends = timezone.now() - timedelta(seconds=1)
    gone = Payload.objects.filter(pk__in=[capture.payload_id, draft.choices_id])
    loaded = [Payload.objects.get(pk=row.pk) for row in gone] + [Payload.objects.defer("body").get(pk=gone[0].pk)]
    choose = partial(drafts.save, of.responder, capture=capture, run=0, choices={**CHOICES, "incident_id": "INC-8"})

    def make() -> Case:
        found = drafts.of_run(Capture.objects.get(pk=capture.pk), 0)
        assert found is not None
        return drafts.make_case(of.responder, draft=found, **STATEMENT, seen=draft.choices.digest)

    gone.update(expires_at=ends)
    Capture.objects.filter(pk=capture.pk).update(expires_at=ends)
    reads = [partial(evidence.read, payload) for payload in loaded]
    found = race([purging.look, purging.look, key_rotation.rotate, make, choose, bring(of), *reads])
    allowed = (EvidenceDestroyed, RingInvalid)
    assert [one for one in found if isinstance(one, Exception) and not isinstance(one, allowed)] == []
    # The file, what is shown of it without its content, and the choices.
    assert sum(one for one in found[:2] if isinstance(one, int)) == 3
    opens_or_is_destroyed()
    assert not Case.objects.exists()
    assert Draft.objects.get().choices_id == draft.choices_id
    assert evidence.read(Payload.objects.get(pk=other.payload_id)) == FILE + b"\n"
    assert sealing.ring().keys
    assert events.verify() == []


def test_keys_are_changed_while_evidence_comes_in_and_nothing_is_lost(of: factories.People) -> None:
    kept = [bring(of, FILE + b"\n" * number) for number in range(1, 9)]
    found = race([*kept, key_rotation.rotate, key_rotation.rotate, sealing.forget])
    refused = [one for one in found if isinstance(one, Exception)]
    assert {type(one) for one in refused} <= {RingInvalid}, refused
    assert Capture.objects.count() >= 8 - len(refused)
    assert Payload.objects.count() == 2 * Capture.objects.count()
    opens_or_is_destroyed()
    key_rotation.rotate()
    assert {payload.key_id for payload in Payload.objects.all()} == {key.id for key in sealing.ring().keys}
