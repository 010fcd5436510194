"""How many cases stand at each stage and lane."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from replaycases.cases import figures, recent
from replaycases.cases.expiry import WARNINGS
from replaycases.cases.models import Case, LaneName, Stage
from replaycases.verdict.labels import Label

READY = Q(stage=Stage.REPRODUCED, verdict=Label.VERIFIED_RED_TO_GREEN, lane__in=("", LaneName.NONBLOCKING))
"""By what stands on the case itself. The gates are computed on the promotion page and again when it is promoted."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Cases of one stage and strongest lane: how many, the oldest there `since`, and how many of them lose their
    evidence soon, are flagged, and may be looked at for promotion."""

    stage: str
    lane: str
    cases: int
    since: datetime
    ending: int
    flagged: int
    ready: int


def of(projects: frozenset[UUID]) -> list[Tally]:
    """All of the projects together, at most two minutes old."""
    return recent.of("tallies", projects, lambda: _together(projects))


def count(projects: Iterable[UUID]) -> dict[UUID, list[Tally]]:
    """As of now, by project. One query."""
    soon = timezone.now() + WARNINGS[0]
    places = Case.objects.filter(project__in=projects).order_by().values("project", "stage", "lane")
    rows: QuerySet[Case, Any] = places.annotate(
        cases=Count("*"),
        since=Min("stage_since"),
        ending=Count("pk", filter=Q(evidence_expires_at__lte=soon)),
        flagged=Count("pk", filter=Q(flagged=True)),
        ready=Count("pk", filter=READY),
    )
    found: dict[UUID, list[Tally]] = {}
    for row in rows:
        found.setdefault(row.pop("project"), []).append(Tally(**row))
    return found


def _together(projects: frozenset[UUID]) -> list[Tally]:
    found: dict[tuple[str, str], Tally] = {}
    for tally in figures.of("tallies", projects, read=_read, count=count):
        place = (tally.stage, tally.lane)
        found[place] = _sum(found[place], tally) if place in found else tally
    return [found[place] for place in sorted(found)]


def _read(kept: Mapping[str, Any]) -> Tally:
    return Tally(**{**kept, "since": datetime.fromisoformat(kept["since"])})


def _sum(one: Tally, other: Tally) -> Tally:
    return Tally(
        stage=one.stage,
        lane=one.lane,
        cases=one.cases + other.cases,
        since=min(one.since, other.since),
        ending=one.ending + other.ending,
        flagged=one.flagged + other.flagged,
        ready=one.ready + other.ready,
    )
