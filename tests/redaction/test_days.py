"""A day that a field holds goes wherever it stands, however it is written, and is moved alike."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from replaycases.redaction.policy import BUILT_IN, read_policy
from replaycases.redaction.record import rescan
from replaycases.redaction.redact import Redaction, redact
from replaycases.redaction.surrogates.dates import parsed, spellings

KEY = bytes(range(32))
BORN = "1990-02-14"


def redacted(document: Any, **members: Any) -> Redaction:
    return redact(document, policy=read_policy({"name": "test", "version": "1", **members}), key=KEY)


@pytest.mark.parametrize(
    "spelled",
    [
        BORN,
        "14/02/1990",
        "14.2.1990",
        "02/14/1990",
        "14 Feb 1990",
        "14. February 1990",
        "FEB 14, 1990",
        "February 14th, 1990",
    ],
)
def test_a_day_of_birth_in_a_text_is_moved_like_that_of_its_field(spelled: str) -> None:
    redaction = redacted({"date_of_birth": BORN, "text": f"born {spelled}"})
    after = redaction.document
    assert parsed(after["text"].removeprefix("born ")) == parsed(after["date_of_birth"]) != date(1990, 2, 14)
    assert (redaction.open, redaction.lost) == ((), ())


def test_a_day_with_a_time_is_moved_and_one_within_other_digits_is_none() -> None:
    after = redacted({"dob": BORN, "text": f"{BORN}T08:00:00Z, 114 Feb 1990, 1990-02-141"}).document
    assert after["text"] == f"{after['dob']}T08:00:00Z, 114 Feb 1990, 1990-02-141"


def test_a_day_that_stands_there_again_is_open() -> None:
    redaction = redacted({"date_of_birth": BORN})
    edited = {**redaction.document, "text": "14 Feb 1990"}
    found = rescan(edited, policy=BUILT_IN, key=KEY, known=redaction.mapping).open
    assert ("residual:original", "/text") in {(one.detector, one.place.pointer) for one in found}


def test_days_that_could_be_mistaken_for_one_another_are_moved_apart() -> None:
    days = [(date(1990, 2, 14) + timedelta(weeks=week)).isoformat() for week in range(0, 400, 3)]
    redaction = redacted([{"dob": day, "text": f"since {day}"} for day in days])
    assert (redaction.open, redaction.lost) == ((), ())


def test_the_recording_has_days_of_its_own() -> None:
    document = {
        "schema_version": "2.0",
        "recorded_at": "2026-11-30T10:00:00Z",
        "case_id": "seen 2026-11-30",
        "input": {"stay_from": "2026-11-30", "text": "from 2026-11-30"},
    }
    redaction = redacted(document, fields=[{"key": "stay_from", "kind": "date"}], dates="shift")
    assert "2026-11-30" not in str(redaction.document["input"])
    assert [finding.place.pointer for finding in redaction.open] == ["/case_id"]
    again = rescan(redaction.document, policy=BUILT_IN, key=KEY, known=redaction.mapping).open
    assert [one.place.pointer for one in again] == ["/case_id"]


@pytest.mark.parametrize("day", [date(1990, 2, 3), date(1990, 12, 31), date(2001, 5, 1)])
def test_every_way_to_write_a_day_is_read_as_it(day: date) -> None:
    written = spellings(day.isoformat())
    assert len(written) >= 12
    assert {parsed(form) for form in written} == {day}


def test_two_days_beside_one_another_are_no_card() -> None:
    text = "1986-06-18 1986-06-18"
    assert redacted({"text": text}).document == {"text": text}
