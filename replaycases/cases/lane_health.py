"""How the lanes ran, day by day: what their own replays said. Two queries: an indexed range of run sets, and names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, OuterRef, Q, Subquery, UUIDField
from django.db.models.functions import TruncDate
from django.utils import timezone

from replaycases.cases import recent
from replaycases.cases.models import ENDED, Lane, LaneEntry, Run, RunState
from replaycases.verdict.sides import UNREAD

DAYS = 14
COUNTS = ("held", "violated", "undetermined", "environment")


@dataclass(frozen=True, kw_only=True)
class Day:
    """Replays of one lane that ended on one local day, the last one at `last`. `environment` are those that say nothing
    of the workflow: no environment, cancelled, or lost."""

    lane: str
    day: date
    held: int
    violated: int
    undetermined: int
    environment: int
    last: datetime

    @property
    def ran(self) -> int:
        return self.held + self.violated + self.undetermined


def of(projects: frozenset[UUID]) -> list[Day]:
    """The last `DAYS` days of every lane that ran in them, days without a replay left out; at most a minute old."""
    return recent.of("lane-health", projects, lambda: count(projects))


def count(projects: Iterable[UUID]) -> list[Day]:
    """The same as of now."""
    since = timezone.now() - timedelta(days=DAYS)
    ended = Run.objects.filter(
        run_set__project__in=projects,
        run_set__lane_entry__isnull=False,
        run_set__voided_at=None,
        run_set__created_at__gte=since,
        state__in=ENDED,
        finished_at__isnull=False,
    )
    kept = Q(state=RunState.FINISHED) & ~Q(status__in=UNREAD)
    # A subquery, of the lane's key alone: joined, the stays of all times would be read. SQLite keeps a UUID as text.
    stay = LaneEntry.objects.filter(pk=OuterRef("run_set__lane_entry")).values("lane")
    lane = Subquery(stay, output_field=UUIDField())
    days = ended.order_by().annotate(lane=lane, day=TruncDate("finished_at")).values("lane", "day")
    counted = days.annotate(
        held=Count("pk", filter=kept & Q(boundary_passed=True)),
        violated=Count("pk", filter=kept & Q(boundary_passed=False)),
        undetermined=Count("pk", filter=kept & Q(boundary_passed=None)),
        environment=Count("pk", filter=~kept),
        last=Max("finished_at"),
    )
    return _by_name(counted)


def _by_name(counted: Iterable[Mapping[str, Any]]) -> list[Day]:
    """Lanes of the same name in several projects are one. One query, for the names."""
    rows = list(counted)
    names = dict(Lane.objects.filter(pk__in={row["lane"] for row in rows}).order_by().values_list("pk", "name"))
    found: dict[tuple[date, str], Day] = {}
    for row in rows:
        name, day = names[row["lane"]], row["day"]
        more = Day(lane=name, **{part: row[part] for part in ("day", *COUNTS, "last")})
        before = found.get((day, name))
        found[day, name] = _together(before, more) if before else more
    return [found[key] for key in sorted(found)]


def _together(one: Day, other: Day) -> Day:
    counts = {name: getattr(one, name) + getattr(other, name) for name in COUNTS}
    return replace(one, last=max(one.last, other.last), **counts)
