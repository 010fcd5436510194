"""Local time of day."""

from __future__ import annotations

from datetime import datetime, time
from zoneinfo import ZoneInfo


def local_time(now: datetime, zone: ZoneInfo) -> time:
    """How much of the local day has gone by."""
    midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight + (now - midnight)).time()
