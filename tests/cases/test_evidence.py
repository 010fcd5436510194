from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime

import pytest
from django.test import override_settings

from replaycases.cases import evidence, fixtures
from replaycases.cases.models import Case, Classification, Payload
from tests import factories

pytestmark = pytest.mark.django_db

CORPUS = [
    b"",
    b"\x00",
    b"a\x00b" * 1000,
    bytes(range(256)),
    "\ud800\udfff".encode("utf-8", "surrogatepass"),
    b'{"nul": "\\u0000", "lone": "\\ud800"}',
    "\ufeff\u202e\U0010ffff".encode(),
]


@pytest.mark.parametrize("data", CORPUS, ids=range(len(CORPUS)))
def test_bytes_come_back_as_they_were_stored(data: bytes) -> None:
    project = factories.project()
    payload = evidence.store(project, data, media_type="application/octet-stream")
    assert evidence.read(Payload.objects.get(pk=payload.pk)) == data


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
    first = evidence.store(one, b"x", media_type="text/plain")
    assert evidence.store(one, b"x", media_type="text/plain") == first
    assert evidence.store(other, b"x", media_type="text/plain") != first


LEVELS = list(itertools.permutations(Classification, 2))


@pytest.mark.parametrize(("first", "second"), LEVELS, ids=str)
def test_of_two_classifications_of_the_same_bytes_the_more_restricted_one_holds(
    first: Classification, second: Classification
) -> None:
    project = factories.project()
    for classification in (first, second):
        kept = evidence.store(project, b"x", media_type="text/plain", classification=classification)
    order = [Classification.QUARANTINED, Classification.REDACTED, Classification.PUBLIC]
    assert kept.classification == min(first, second, key=order.index)


EARLY, LATE = (datetime(2030, 1, day, tzinfo=UTC) for day in (1, 2))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(None, LATE, LATE), (LATE, None, LATE), (EARLY, LATE, EARLY), (LATE, EARLY, EARLY), (None, None, None)],
)
def test_of_two_expiries_of_the_same_bytes_the_earlier_one_holds(
    first: datetime | None, second: datetime | None, expected: datetime | None
) -> None:
    project = factories.project()
    for expires_at in (first, second):
        kept = evidence.store(project, b"x", media_type="text/plain", expires_at=expires_at)
    assert kept.expires_at == expected


def test_the_same_bytes_of_another_project_are_not_tightened() -> None:
    one, other = factories.project("ONE"), factories.project("OTHER")
    open_ = evidence.store(one, b"x", media_type="text/plain", classification=Classification.PUBLIC)
    evidence.store(other, b"x", media_type="text/plain", classification=Classification.QUARANTINED)
    assert Payload.objects.get(pk=open_.pk).classification == Classification.PUBLIC


def test_bytes_that_were_changed_in_the_database_are_not_read() -> None:
    payload = evidence.store(factories.project(), b"x", media_type="text/plain")
    Payload.objects.filter(pk=payload.pk).update(body=b"y")
    with pytest.raises(evidence.EvidenceDamaged):
        evidence.read(Payload.objects.get(pk=payload.pk))


@override_settings(MAX_UPLOAD_BYTES=10)
def test_more_bytes_than_allowed_are_refused() -> None:
    with pytest.raises(evidence.EvidenceTooLarge):
        evidence.store(factories.project(), b"x" * 11, media_type="text/plain")


def test_text_of_an_untrusted_process_is_made_printable_and_cut() -> None:
    shown = evidence.printable("a\x00\x1b[31m\ud800\n" + "z" * 100, cap=30)
    assert shown.startswith("a\\u0000\\u001b[31m\\ud800\n")
    assert shown.endswith("more characters]")
    assert json.dumps(shown).encode()
