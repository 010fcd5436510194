"""Instants as fixtures write them, read by the oldest interpreter that the harness runs in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.harness.instants import parse_instant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-03-30T00:59:59Z", datetime(2025, 3, 30, 0, 59, 59, tzinfo=UTC)),
        ("2025-03-30t00:59:59z", datetime(2025, 3, 30, 0, 59, 59, tzinfo=UTC)),
        ("2025-03-30T00:59Z", datetime(2025, 3, 30, 0, 59, tzinfo=UTC)),
        ("2025-03-30 00:59:59.5-03:30", datetime(2025, 3, 30, 4, 29, 59, 500_000, tzinfo=UTC)),
        ("2025-03-30T00:59:59.123456789+0000", datetime(2025, 3, 30, 0, 59, 59, 123_456, tzinfo=UTC)),
    ],
)
def test_every_form_is_read(text: str, expected: datetime) -> None:
    assert parse_instant(text) == expected


@given(st.datetimes(timezones=st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))))
def test_what_python_writes_is_read_back(instant: datetime) -> None:
    found = parse_instant(instant.isoformat())
    assert (found, found.utcoffset()) == (instant, instant.utcoffset())


@pytest.mark.parametrize("text", ["", "2025-03-30", "2025-03-30T00:59:59", "now", "2025-13-30T00:59:59Z"])
def test_what_is_no_instant_with_an_offset_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_instant(text)
