from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.db import IntegrityError, connection
from django.db.models import Q
from django.test import override_settings
from django.utils import timezone

from replaycases.cases import evidence, fixtures, sealing
from replaycases.cases.models import Case, Classification, Payload
from tests import factories

EARLY, LATE = (timezone.now() + timedelta(days=day) for day in (1, 2))
pytestmark = pytest.mark.django_db

CORPUS = [
    b"",
    b"\x00",
    b"a\x00b" * 1000,
    bytes(range(256)),
    "\ud800\udfff".encode("utf-8", "surrogatepass"),
    b'{"nul": "\\u0000", "lone": "\\ud800"}',
    "\ufeff\u202e\U0010ffff".encode(),
    bytes(range(256)) * 4097,
]


@pytest.mark.parametrize("data", CORPUS, ids=range(len(CORPUS)))
def test_bytes_come_back_as_they_were_stored(data: bytes) -> None:
    project = factories.project()
    payload = evidence.store(project, data, media_type="application/octet-stream", expires_at=LATE)
    assert evidence.read(Payload.objects.get(pk=payload.pk)) == data
    assert evidence.read(Payload.objects.defer("body").get(pk=payload.pk)) == data


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a database in a file takes bytes as they are")
def test_large_bytes_are_no_part_of_a_statement() -> None:
    """Written into it they are text of twice their length, and copied several times over."""
    assert connection.features.uses_server_side_binding


def test_a_fixture_with_nul_in_its_strings_is_kept_and_loads_again() -> None:
    project = factories.project()
    data = factories.fixture(input={"text": "a\x00b", "\x00key": "\x7f\x1b[31m"})
    case = factories.case(project, factories.everyone(project), data)
    revision = Case.objects.get(pk=case.pk).current_revision
    assert revision is not None
    assert evidence.read(revision.payload) == data
    assert fixtures.of_revision(revision).input["text"] == "a\x00b"


def test_the_same_bytes_are_stored_once_in_a_project_and_apart_between_projects() -> None:
    one, other = factories.project("ONE"), factories.project("OTHER")
    first = evidence.store(one, b"x", media_type="text/plain", expires_at=LATE)
    assert evidence.store(one, b"x", media_type="text/plain", expires_at=LATE) == first
    assert evidence.store(other, b"x", media_type="text/plain", expires_at=LATE) != first


LEVELS = list(itertools.permutations(Classification, 2))


@pytest.mark.parametrize(("first", "second"), LEVELS, ids=str)
def test_of_two_classifications_of_the_same_bytes_the_more_restricted_one_holds(
    first: Classification, second: Classification
) -> None:
    project = factories.project()
    for classification in (first, second):
        kept = evidence.store(project, b"x", media_type="text/plain", classification=classification, expires_at=LATE)
    order = [Classification.QUARANTINED, Classification.REDACTED, Classification.PUBLIC]
    assert kept.classification == min(first, second, key=order.index)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(EARLY, LATE, EARLY), (LATE, EARLY, EARLY), (LATE, LATE, LATE)],
)
def test_of_two_expiries_of_the_same_bytes_the_earlier_one_holds(
    first: datetime, second: datetime, expected: datetime
) -> None:
    project = factories.project()
    for expires_at in (first, second):
        kept = evidence.store(project, b"x", media_type="text/plain", expires_at=expires_at)
    assert kept.expires_at == expected


def test_the_same_bytes_of_another_project_are_not_tightened() -> None:
    one, other = factories.project("ONE"), factories.project("OTHER")
    open_ = evidence.store(one, b"x", media_type="text/plain", classification=Classification.PUBLIC)
    evidence.store(other, b"x", media_type="text/plain", classification=Classification.QUARANTINED, expires_at=LATE)
    assert Payload.objects.get(pk=open_.pk).classification == Classification.PUBLIC


def test_bytes_that_were_changed_in_the_database_are_not_read() -> None:
    payload = evidence.store(factories.project(), b"x", media_type="text/plain", expires_at=LATE)
    Payload.objects.filter(pk=payload.pk).update(body=b"y")
    with pytest.raises(evidence.EvidenceDamaged):
        evidence.read(Payload.objects.get(pk=payload.pk))


@override_settings(MAX_UPLOAD_BYTES=10)
def test_more_bytes_than_allowed_are_refused() -> None:
    with pytest.raises(evidence.EvidenceTooLarge):
        evidence.store(factories.project(), b"x" * 11, media_type="text/plain", expires_at=LATE)


def test_text_of_an_untrusted_process_is_made_printable_and_cut() -> None:
    shown = evidence.printable("a\x00\x1b[31m\ud800\n" + "z" * 100, cap=30)
    assert shown.startswith("a\\u0000\\u001b[31m\\ud800\n")
    assert shown.endswith("more characters]")
    assert json.dumps(shown).encode()


def test_raw_evidence_without_an_end_is_not_kept() -> None:
    with pytest.raises(ValueError, match="end"):
        evidence.store(factories.project(), b"x", media_type="text/plain")


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[None]:
    """A key ring for this test alone: what it forgets is missed by nobody."""
    with override_settings(EVIDENCE_KEYS_FILE=tmp_path / "ring.json"):
        yield


SECRET = b"the canary 4711 sings"


def stored() -> Payload:
    kept = evidence.store(factories.project(), SECRET, media_type="text/plain", expires_at=LATE)
    return Payload.objects.get(pk=kept.pk)


def test_raw_evidence_is_sealed_and_opened_again() -> None:
    payload = stored()
    assert SECRET not in bytes(payload.body)
    assert evidence.read(payload) == SECRET


def test_released_evidence_is_not_sealed_any_more() -> None:
    payload = stored()
    evidence.release(Q(pk=payload.pk))
    payload.refresh_from_db()
    assert (bytes(payload.body), payload.data_key, payload.expires_at) == (SECRET, None, None)


def test_what_is_past_its_time_is_neither_released_nor_the_same_as_what_comes_anew() -> None:
    payload = stored()
    with time_machine.travel(LATE, tick=False):
        later = LATE + timedelta(days=1)
        with pytest.raises(evidence.EvidenceDestroyed):
            evidence.release(Q(pk=payload.pk))
        with pytest.raises(evidence.EvidenceDestroyed):
            evidence.store(payload.project, SECRET, media_type="text/plain", expires_at=later)
    payload.refresh_from_db()
    assert payload.data_key is not None
    assert payload.expires_at == LATE


def test_bytes_that_become_raw_evidence_are_sealed_then() -> None:
    project = factories.project()
    evidence.store(project, SECRET, media_type="text/plain", classification=Classification.REDACTED)
    evidence.store(project, SECRET, media_type="text/plain", expires_at=LATE)
    payload = Payload.objects.get()
    assert SECRET not in bytes(payload.body)
    assert evidence.read(payload) == SECRET


@pytest.mark.parametrize("column", ["body", "data_key"])
def test_what_is_swapped_between_rows_does_not_open(column: str) -> None:
    one = stored()
    other = evidence.store(one.project, b"something else", media_type="text/plain", expires_at=LATE)
    whole = Payload.objects.get(pk=other.pk)
    Payload.objects.filter(pk=one.pk).update(**{column: getattr(whole, column)})
    with pytest.raises(evidence.EvidenceDamaged):
        evidence.read(Payload.objects.get(pk=one.pk))


def test_a_whole_row_does_not_open_under_another_name() -> None:
    one = stored()
    other = evidence.store(one.project, b"something else", media_type="text/plain", expires_at=LATE)
    whole = Payload.objects.get(pk=other.pk)
    sealed = {name: getattr(whole, name) for name in ("body", "data_key", "key_id", "key_hour")}
    Payload.objects.filter(pk=one.pk).update(**sealed)
    with pytest.raises(evidence.EvidenceDamaged):
        evidence.read(Payload.objects.get(pk=one.pk))


@pytest.mark.usefixtures("ring")
def test_past_its_time_evidence_is_opened_by_nobody_even_before_it_is_destroyed() -> None:
    payload = stored()
    with time_machine.travel(LATE + timedelta(hours=1), tick=False):
        sealing.forget()
        with pytest.raises(evidence.EvidenceDestroyed):
            evidence.read(payload)


@pytest.mark.usefixtures("ring")
def test_evidence_whose_end_moved_is_opened_until_then() -> None:
    payload = stored()
    assert evidence.lengthen(payload, LATE + timedelta(days=5))
    with time_machine.travel(LATE + timedelta(days=4), tick=False):
        sealing.forget()
        assert evidence.read(Payload.objects.get(pk=payload.pk)) == SECRET


@pytest.mark.usefixtures("ring")
def test_evidence_that_ends_earlier_than_it_did_is_opened_no_longer_than_that() -> None:
    payload = stored()
    evidence.store(payload.project, SECRET, media_type="text/plain", expires_at=EARLY)
    with time_machine.travel(EARLY + timedelta(hours=1), tick=False):
        sealing.forget()
        with pytest.raises(evidence.EvidenceDestroyed):
            evidence.read(Payload.objects.get(pk=payload.pk))


def test_the_database_refuses_raw_evidence_that_is_not_sealed() -> None:
    payload = stored()
    with pytest.raises(IntegrityError, match="payload_sealed_while_quarantined"):
        Payload.objects.filter(pk=payload.pk).update(data_key=None)
