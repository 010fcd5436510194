"""How the lanes ran, day by day: what their own replays said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import CharField, Count, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import TruncDate
from django.utils import timezone

from replaycases.cases import figures, recent
from replaycases.cases.models import ENDED, LaneEntry, Run, RunState
from replaycases.verdict.sides import UNREAD

DAYS = 14


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
    """The last `DAYS` days of every lane that ran in them, days without a replay left out, lanes of the same name in
    several projects as one; at most two minutes old."""
    return recent.of("lane-health", projects, lambda: lately(projects))


def lately(projects: frozenset[UUID]) -> list[Day]:
    """The same, at most a minute old."""
    found: dict[tuple[date, str], Day] = {}
    for day in figures.of("health", projects, read=_read, count=count):
        place = (day.day, day.lane)
        found[place] = _sum(found[place], day) if place in found else day
    return [found[place] for place in sorted(found)]


def count(projects: Iterable[UUID]) -> dict[UUID, list[Day]]:
    """As of now, by project. One query, of an indexed range of run sets."""
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
    # A subquery: joined, the stays of all times would be read.
    stay = LaneEntry.objects.filter(pk=OuterRef("run_set__lane_entry")).values("lane__name")
    lane = Subquery(stay, output_field=CharField())
    days = ended.order_by().annotate(lane=lane, day=TruncDate("finished_at"))
    counted: QuerySet[Run, Any] = days.values("run_set__project", "lane", "day").annotate(
        held=Count("pk", filter=kept & Q(boundary_passed=True)),
        violated=Count("pk", filter=kept & Q(boundary_passed=False)),
        undetermined=Count("pk", filter=kept & Q(boundary_passed=None)),
        environment=Count("pk", filter=~kept),
        last=Max("finished_at"),
    )
    found: dict[UUID, list[Day]] = {}
    for row in counted:
        found.setdefault(row.pop("run_set__project"), []).append(Day(**row))
    return found


def _read(kept: Mapping[str, Any]) -> Day:
    times = {"day": date.fromisoformat(kept["day"]), "last": datetime.fromisoformat(kept["last"])}
    return Day(**{**kept, **times})


def _sum(one: Day, other: Day) -> Day:
    return Day(
        lane=one.lane,
        day=one.day,
        held=one.held + other.held,
        violated=one.violated + other.violated,
        undetermined=one.undetermined + other.undetermined,
        environment=one.environment + other.environment,
        last=max(one.last, other.last),
    )
