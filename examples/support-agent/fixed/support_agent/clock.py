"""Local time of day."""

from __future__ import annotations

from datetime import datetime, time
from zoneinfo import ZoneInfo


def local_time(now: datetime, zone: ZoneInfo) -> time:
    """What a clock on the wall shows, which on the day of a clock change is not the time since midnight."""
    return now.astimezone(zone).time()
