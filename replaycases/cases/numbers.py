"""Readable numbers of a project: of its cases, runs, comparisons and captures."""

from __future__ import annotations

from typing import Literal

from django.db.models import F

from replaycases.accounts.models import Project

Counter = Literal["next_number", "next_run_number", "next_comparison_number", "next_capture_number"]


def take(project: Project, counter: Counter, count: int = 1) -> int:
    """The first of `count` numbers; the UPDATE locks the project's row, so none is handed out twice."""
    Project.objects.filter(pk=project.pk).update(**{counter: F(counter) + count})
    following: int = Project.objects.values_list(counter, flat=True).get(pk=project.pk)
    return following - count
