"""How many cases stand at each stage and lane. Each part is read from a small index, never from every case's row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, IntegerField, Min, Q, QuerySet, Value
from django.utils import timezone

from replaycases.cases import recent
from replaycases.cases.expiry import WARNINGS
from replaycases.cases.models import Case, LaneName, Stage
from replaycases.verdict.labels import Label

READY = Q(stage=Stage.REPRODUCED, verdict=Label.VERIFIED_RED_TO_GREEN, lane__in=("", LaneName.NONBLOCKING))
"""By what stands on the case itself. The gates are computed on the promotion page and again when it is promoted."""

Place = tuple[str, str]
"""(stage, lane)"""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Cases of one stage and strongest lane, in the person's projects."""

    stage: str
    lane: str
    cases: int
    since: datetime
    ending: int
    flagged: int
    ready: int


def of(projects: frozenset[UUID]) -> list[Tally]:
    """Counted anew once a minute: they say how much there is, not what to do."""
    return recent.of("tallies", projects, lambda: _count(projects))


def _count(projects: Iterable[UUID]) -> list[Tally]:
    """Two queries: how many from an index of few different entries, then what the others tell of each place."""
    cases = Case.objects.filter(project__in=projects).order_by()
    # By all that is counted, so that the database reads nothing but the index and tests nothing for each row.
    counted: dict[Place, dict[str, int]] = {}
    rows = cases.values_list("stage", "lane", "verdict", "flagged").annotate(number=Count("*"))
    for stage, lane, verdict, flagged, number in rows:
        place = counted.setdefault((stage, lane), {"cases": 0, "flagged": 0, "ready": 0})
        place["cases"] += number
        place["flagged"] += number * flagged
        place["ready"] += number * _is_ready(stage, lane, verdict)
    since, ending = _times(cases, list(counted))
    return [
        Tally(stage=place[0], lane=place[1], since=since[place], ending=ending.get(place, 0), **numbers)
        for place, numbers in sorted(counted.items())
        if place in since
    ]


def _is_ready(stage: str, lane: str, verdict: str) -> bool:
    return (stage, verdict) == (Stage.REPRODUCED, Label.VERIFIED_RED_TO_GREEN) and lane in ("", LaneName.NONBLOCKING)


def _times(cases: QuerySet[Case], places: list[Place]) -> tuple[dict[Place, datetime], dict[Place, int]]:
    """Since when the oldest case stands at each place, and how many cases of it lose their evidence soon."""
    soon = cases.filter(evidence_expires_at__lte=timezone.now() + WARNINGS[0])
    ending = soon.values_list("stage", "lane").annotate(at=Min("stage_since"), number=Count("*"))
    rows = ending.union(*(_oldest(cases, place) for place in places), all=True)
    since: dict[Place, datetime] = {}
    counts: dict[Place, int] = {}
    for stage, lane, at, number in rows:
        place = (stage, lane)
        since[place] = min(at, since.get(place, at))
        counts[place] = counts.get(place, 0) + number
    return since, counts


def _oldest(cases: QuerySet[Case], place: Place) -> QuerySet[Case, Any]:
    first = cases.filter(stage=place[0], lane=place[1]).order_by("stage_since").values("pk")[:1]
    oldest = Case.objects.filter(pk__in=first).order_by()
    return oldest.values_list("stage", "lane", "stage_since", Value(0, output_field=IntegerField()))
