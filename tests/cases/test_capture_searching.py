"""Captures are found by their id, their trace id and their name, within what somebody sees."""

from __future__ import annotations

import pytest

from replaycases.cases import capture_searching, captures
from replaycases.cases.models import Capture, Origin
from tests import factories
from tests.importers.transcripts import says, transcript, user

pytestmark = pytest.mark.django_db
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def named(of: factories.People) -> list[Capture]:
    return [
        captures.bring(
            of.responder, project=of.project, data=transcript(user(name), says("Done.")), origin=Origin.PASTE, **said
        )
        for name, said in {"a": {"name": "Refund-4711.json"}, "b": {"trace_id": TRACE}, "c": {}}.items()
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rc-t3", {"RC-T3"}),
        ("refund-47", {"RC-T1"}),
        (TRACE.upper(), {"RC-T2"}),
        (f" {TRACE[10:20]} ", {"RC-T2"}),
        ("RC-T9", set()),
        ("%", set()),
        ("", set()),
    ],
)
def test_a_capture_is_found_by_what_names_it(
    of: factories.People, named: list[Capture], text: str, found: set[str]
) -> None:
    newest = capture_searching.newest(text, [of.project], 5)
    assert {one.readable_id for one in newest} == found
    assert {one.readable_id for one in Capture.objects.filter(capture_searching.matching(text))} == found
    assert capture_searching.newest(text, [factories.project("XX")], 5) == []


def test_what_is_not_among_the_newest_is_found_too(
    of: factories.People, named: list[Capture], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_searching, "SAMPLE", 1)
    assert capture_searching.newest("refund", [of.project], 5) == named[:1]


def test_the_newest_stand_first_and_no_more_than_asked_for(of: factories.People) -> None:
    for number in range(4):
        data = transcript(user(str(number)), says("Done."))
        captures.bring(of.responder, project=of.project, data=data, origin=Origin.PASTE, name="again.json")
    assert [one.number for one in capture_searching.newest("again", [of.project], 2)] == [4, 3]
