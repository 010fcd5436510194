"""Times as foreign files write them: ISO 8601 with an offset, without one, or a number since 1970."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from replaycases.fixture.instants import parse_instant

JSON = Any
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PER_SECOND = (("seconds", 1e8, 1e11), ("milliseconds", 1e11, 1e14), ("microseconds", 1e14, 1e17))


@dataclass(frozen=True, kw_only=True)
class Moment:
    """`at` puts it in order; `text` is ISO 8601 with an offset, None where the file says no offset: it is then in order
    among its like, and no instant."""

    at: datetime
    text: str | None


def moment(value: JSON) -> Moment | None:
    """What the file says of a time; None where it says nothing that can be read."""
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_number(value)
    return None


def instant_of(value: JSON) -> str | None:
    """ISO 8601 with an offset; None where the file says no offset, or nothing that can be read."""
    found = moment(value)
    return found.text if found else None


def _from_text(text: str) -> Moment | None:
    at = parse_instant(text)
    if at is not None:
        return Moment(at=at, text=text)
    if len(text) > 40:
        return None
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is None:
            return Moment(at=read.replace(tzinfo=UTC), text=None)
        return Moment(at=read, text=read.isoformat())
    except (ValueError, OverflowError):
        return None


def _from_number(number: float) -> Moment | None:
    for unit, least, most in _PER_SECOND:
        if least <= number < most:
            at = _EPOCH + timedelta(**{unit: number})
            return Moment(at=at, text=at.isoformat())
    return None
