"""Counting what pages show of every project, by the beat."""

from __future__ import annotations

from dataclasses import asdict

from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.cases import lane_health, tallies
from replaycases.cases.models import ProjectFigures


def look() -> None:
    """Count every project anew. As many queries as for one."""
    now = timezone.now()
    projects = list(Project.objects.order_by().values_list("pk", flat=True))
    counted, health = tallies.count(projects), lane_health.count(projects)
    rows = [
        ProjectFigures(
            project_id=project,
            counted_at=now,
            tallies=[asdict(tally) for tally in counted.get(project, ())],
            health=[asdict(day) for day in health.get(project, ())],
        )
        for project in projects
    ]
    columns = ["counted_at", "tallies", "health"]
    ProjectFigures.objects.bulk_create(rows, update_conflicts=True, unique_fields=["project"], update_fields=columns)
