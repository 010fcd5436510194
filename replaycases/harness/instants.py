"""Instants as the protocol writes them."""

from __future__ import annotations

import re
from datetime import datetime


def parse_instant(text: str) -> datetime:
    """An ISO 8601 instant with an offset, in the forms that Python 3.9's own parser refuses too ("Z", any number of
    fractional digits; digits beyond microseconds are cut)."""
    match = re.fullmatch(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d+))?([Zz]|[+-]\d{2}:?\d{2})", text)
    if match is None:
        raise ValueError("not an ISO 8601 instant with an offset: %r" % text)
    day, clock, fraction, offset = match.groups()
    offset = "+00:00" if offset in "Zz" else offset if ":" in offset else offset[:3] + ":" + offset[3:]
    micros = "." + fraction[:6].ljust(6, "0") if fraction else ""
    seconds = clock if clock.count(":") == 2 else clock + ":00"
    return datetime.fromisoformat(day + "T" + seconds + micros + offset)
