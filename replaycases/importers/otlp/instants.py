"""Nanoseconds since 1970 as the instants of a fixture."""

from __future__ import annotations

from datetime import UTC, datetime

from replaycases.importers.otlp.spans import Span

_LAST = 253_402_300_800  # seconds: the end of the year 9999


def instant(nanos: int) -> str | None:
    """ISO 8601 in UTC, with as many digits as there are; None for 0 and for what is beyond the calendar."""
    seconds, rest = divmod(nanos, 1_000_000_000)
    if nanos <= 0 or seconds >= _LAST:
        return None
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:-6]}{fraction}+00:00"


def started_at(span: Span) -> str | None:
    return instant(span.start_ns)


def ended_at(span: Span) -> str | None:
    return instant(span.end_ns)
