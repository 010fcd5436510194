"""A new key in the place of the old one: nothing is lost on the way, whenever it dies."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.cases import evidence, key_ring, key_rotation, purging, sealing
from replaycases.cases.key_ring import RingFile
from replaycases.cases.models import AuditEvent, Classification, Payload
from tests import factories
from tests.cases.deployment import REPOSITORY, Deployment

SECRET = b"the canary 4711 sings"


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[RingFile]:
    with override_settings(EVIDENCE_KEYS_FILE=tmp_path / "ring.json"):
        yield sealing.file()


def stored(project: Project, data: bytes = SECRET, *, days: int = 30) -> Payload:
    ends = timezone.now() + timedelta(days=days)
    return evidence.store(project, data, media_type="text/plain", expires_at=ends)


def rotated() -> str:
    said = StringIO()
    call_command("rotate_evidence_key", stdout=said, stderr=said)
    return said.getvalue()


def opened(payload: Payload) -> bytes:
    return evidence.read(Payload.objects.get(pk=payload.pk))


@pytest.mark.django_db
def test_everything_is_wrapped_under_a_new_key_and_the_old_one_leaves_the_ring(ring: RingFile) -> None:
    payload, before = stored(factories.project()), ring.ring().keys[0].id
    said = rotated()
    [key] = ring.ring().keys
    assert key.id != before
    assert Payload.objects.get(pk=payload.pk).key_id == key.id
    assert opened(payload) == SECRET
    assert "Payloads wrapped anew: 1." in said
    assert before in said
    event = AuditEvent.objects.get(action="evidence_key.rotated")
    assert (key.id in event.after, before in event.after) == (True, True)


@pytest.mark.django_db
def test_what_an_earlier_backup_holds_opens_no_more(ring: RingFile) -> None:
    kept = stored(factories.project())
    backup = Payload.objects.get(pk=kept.pk)
    rotated()
    with pytest.raises(evidence.EvidenceDamaged, match="key is not in the key ring"):
        evidence.read(backup)


@pytest.mark.django_db
def test_a_ring_that_is_missing_is_made(tmp_path: Path) -> None:
    with override_settings(EVIDENCE_KEYS_FILE=tmp_path / "named.json", EVIDENCE_KEYS_MADE=False):
        assert "There was no key ring" in rotated()
        assert len(sealing.ring().keys) == 1
        stored(factories.project())


@pytest.mark.django_db
def test_what_opens_no_more_is_left_to_be_destroyed_and_holds_up_no_key(ring: RingFile) -> None:
    project = factories.project()
    stored(project, days=1)
    stored(project, b"another", days=30)
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=False):
        ring.forget(timezone.now())
        assert "left to be destroyed by the next look at the calendar: 1" in rotated()
        assert len(ring.ring().keys) == 1
        assert purging.look() == 1


@pytest.mark.django_db
def test_a_payload_that_was_changed_is_reported_and_its_key_stays_and_holds_up_no_new_one(ring: RingFile) -> None:
    project = factories.project()
    broken, whole = stored(project), stored(project, b"another")
    Payload.objects.filter(pk=broken.pk).update(data_key=b"x" * 60)
    assert "lost or changed: 1" in rotated()
    assert opened(whole) == b"another"
    first, second = ring.ring().keys
    assert "was added" in rotated()
    kept, current = ring.ring().keys
    assert kept == first
    assert current.id != second.id
    assert opened(whole) == b"another"


@pytest.mark.django_db
def test_a_ring_that_is_lost_is_made_anew_by_a_rotation_and_by_nothing_else(ring: RingFile) -> None:
    project = factories.project()
    lost, text = stored(project), ring.path.read_text()
    ring.path.unlink()
    for use in (lambda: stored(project, b"another"), lambda: opened(lost), sealing.forget):
        with pytest.raises(key_ring.RingInvalid):
            use()
    ring.path.write_text(text)
    assert opened(lost) == SECRET
    ring.path.unlink()
    assert "There was no key ring" in rotated()
    assert opened(stored(project, b"another")) == b"another"
    with pytest.raises(evidence.EvidenceDamaged, match="key is not in the key ring"):
        opened(lost)


@pytest.mark.django_db
def test_there_is_one_rotation_at_a_time(ring: RingFile) -> None:
    with ring.alone(), pytest.raises(CommandError, match="another rotation"):
        rotated()


@pytest.mark.django_db
def test_a_ring_in_the_environment_is_not_rotated(ring: RingFile) -> None:
    text = key_ring.dump(ring.ring())
    with override_settings(EVIDENCE_KEYS=text), pytest.raises(CommandError, match="cannot be changed"):
        rotated()


@pytest.mark.django_db
def test_what_was_sealed_under_a_key_that_left_the_ring_meanwhile_is_not_kept(
    ring: RingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that had wrapped its data key when the rotation began, and writes it when that is over."""
    seal, project = sealing.seal, factories.project()

    def seals_and_waits(payload: Payload, plain: bytes) -> None:
        seal(payload, plain)
        ring.add(timezone.now())
        ring.drop(payload.key_id)

    monkeypatch.setattr(sealing, "seal", seals_and_waits)
    with pytest.raises(key_ring.RingInvalid, match="try again"):
        stored(project)
    assert not Payload.objects.filter(data_key__isnull=False).exists()


def test_a_rotation_that_is_killed_in_the_middle_goes_on_and_loses_nothing(deployment: Deployment) -> None:
    path = deployment.folder / "evidence-keys.json"
    with override_settings(EVIDENCE_KEYS_FILE=path):
        _many(factories.project("MANY"), 3000)
        [first] = sealing.ring().keys
        process = subprocess.Popen(
            [sys.executable, "manage.py", "rotate_evidence_key"],
            cwd=REPOSITORY,
            env=deployment.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deployment.wait_until(lambda: process.poll() is not None or _elsewhere(first.id) >= key_rotation.BATCH)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert 0 < _elsewhere(first.id) < 3000, "it was not killed in the middle"
        assert first.id in {key.id for key in sealing.ring().keys}
        assert all(evidence.read(payload) for payload in Payload.objects.order_by("?")[:200])

        again = subprocess.run(
            [sys.executable, "manage.py", "rotate_evidence_key"],
            cwd=REPOSITORY,
            env=deployment.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "goes on" in again.stdout
        [key] = sealing.ring().keys
        assert key.id != first.id
        assert set(Payload.objects.values_list("key_id", flat=True)) == {key.id}
        assert all(evidence.read(payload) for payload in Payload.objects.order_by("?")[:200])
        assert AuditEvent.objects.filter(action="evidence_key.rotated").count() == 1


def _elsewhere(key_id: str) -> int:
    return Payload.objects.exclude(key_id=key_id).count()


def _many(project: Project, number: int) -> None:
    ends = timezone.now() + timedelta(days=1)
    rows = []
    for place in range(number):
        data = b"payload %d" % place
        row = Payload(
            project=project,
            digest=evidence.digest_of(data),
            size=len(data),
            media_type="text/plain",
            classification=Classification.QUARANTINED,
            expires_at=ends,
        )
        sealing.seal(row, data)
        rows.append(row)
    Payload.objects.bulk_create(rows)
