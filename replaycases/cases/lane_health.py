"""How the lanes ran, day by day: what their own replays said. One query over an indexed range of run sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import Count, Max, OuterRef, Q, Subquery
from django.db.models.functions import TruncDate
from django.utils import timezone

from replaycases.cases import recent
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
    """The last `DAYS` days of every lane that ran in them, days without a replay left out; at most a minute old."""
    return recent.of("lane-health", projects, lambda: _count(projects))


def _count(projects: Iterable[UUID]) -> list[Day]:
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
    lane = LaneEntry.objects.filter(pk=OuterRef("run_set__lane_entry")).values("lane__name")
    days = ended.order_by().annotate(lane=Subquery(lane), day=TruncDate("finished_at")).values("lane", "day")
    counted = days.annotate(
        held=Count("pk", filter=kept & Q(boundary_passed=True)),
        violated=Count("pk", filter=kept & Q(boundary_passed=False)),
        undetermined=Count("pk", filter=kept & Q(boundary_passed=None)),
        environment=Count("pk", filter=~kept),
        last=Max("finished_at"),
    )
    return [
        Day(
            lane=row["lane"],
            day=row["day"],
            held=row["held"],
            violated=row["violated"],
            undetermined=row["undetermined"],
            environment=row["environment"],
            last=row["last"],
        )
        for row in counted.order_by("day")
    ]
