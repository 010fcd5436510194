"""The kind of a recorded error is the class of the exception that its message names."""

from __future__ import annotations

import pytest

from replaycases.fixture.timeouts import TimeoutKind, classify
from replaycases.importers.turns import error_of


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("ReadTimeout: timed out", "ReadTimeout"),
        ("httpx.ReadTimeout('timed out')", "ReadTimeout"),
        ("TimeoutError()", "TimeoutError"),
        ("asyncio.exceptions.TimeoutError", "TimeoutError"),
        (
            'Traceback (most recent call last):\n  File "a.py"\nrequests.exceptions.ConnectTimeout: no answer',
            "ConnectTimeout",
        ),
        ("ValueError: Traceback: ReadTimeout: late", "ValueError"),
        ("the answer was a ReadTimeout: try again", "other"),
        ("Error", "other"),
        ("", "other"),
        ("Not found", "other"),
    ],
)
def test_the_class_stands_at_the_beginning_or_at_the_end_of_a_traceback(message: str, kind: str) -> None:
    assert error_of(message, otherwise="other") == {"kind": kind, "message": message}


def test_a_timeout_without_times_is_undetermined_and_not_overlooked() -> None:
    assert (
        classify({}, error=error_of("ReadTimeout: timed out", otherwise="other")["kind"]).kind
        == TimeoutKind.UNDETERMINED
    )
