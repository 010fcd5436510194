"""Figures of projects that may be two minutes old: the beat counts them and keeps a row a project; whoever asks counts
only where nobody did lately. They say how much there is; nothing is decided by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.utils import timezone

from replaycases.cases.models import ProjectFigures

KEPT = timedelta(seconds=60)
T = TypeVar("T")


def of(
    name: str,
    projects: Iterable[UUID],
    *,
    read: Callable[[Mapping[str, Any]], T],
    count: Callable[[Iterable[UUID]], Mapping[UUID, list[T]]],
) -> list[T]:
    """The figures of these projects, one project after the other. `name` is the column that keeps them, `read` makes
    one of what was kept there, `count` counts them by project. One query, and those of `count`."""
    lately = ProjectFigures.objects.filter(project__in=projects, counted_at__gte=timezone.now() - KEPT)
    kept = dict(lately.values_list("project", name))
    missing = [project for project in projects if project not in kept]
    counted = count(missing) if missing else {}
    return [read(said) for rows in kept.values() for said in rows] + [one for rows in counted.values() for one in rows]
