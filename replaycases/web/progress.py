"""How far a comparison's runs have come: done of total, place in the queue, elapsed time, and when to ask again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Subquery
from django.utils import timezone

from replaycases.cases.models import ENDED, Comparison, Run, RunState

FIRST_WAIT = 2
LONGEST_WAIT = 10


@dataclass(frozen=True, kw_only=True)
class Job:
    """`own` is how many outstanding runs this comparison asked for itself: what cancelling it ends. `others` is how
    many of all its runs it did not ask for: every run of the same versions on the same fixture is read. `place` is the
    number of queued runs of all projects that stand before ours, plus one; None when none waits. `wait` is the number
    of seconds until the page asks again: 2, growing to 10."""

    done: int
    total: int
    running: int
    own: int
    others: int
    place: int | None
    elapsed: str
    wait: int

    @property
    def next_wait(self) -> int:
        return min(LONGEST_WAIT, self.wait + 1)


def of(comparison: Comparison, *, waited: str = "") -> Job | None:
    """None once nothing is outstanding. `waited` is the interval that the page used last."""
    runs = list(comparison.runs().order_by("not_before", "number").values_list("state", "pk", "run_set__comparison"))
    outstanding = [row for row in runs if row[0] not in ENDED]
    if not outstanding and comparison.computed_at:
        return None
    queued = [pk for state, pk, _ in outstanding if state == RunState.QUEUED]
    return Job(
        done=len(runs) - len(outstanding),
        total=len(runs),
        running=sum(state == RunState.LEASED for state, *_ in outstanding),
        own=sum(asked_by == comparison.pk for *_, asked_by in outstanding),
        others=sum(asked_by != comparison.pk for *_, asked_by in runs),
        place=_place(queued[0]) if queued else None,
        elapsed=in_words(timezone.now() - comparison.created_at),
        wait=_wait(waited),
    )


def _place(first: UUID) -> int:
    due = Run.objects.filter(pk=first).values("not_before")
    return Run.objects.filter(state=RunState.QUEUED, not_before__lt=Subquery(due)).count() + 1


def _wait(waited: str) -> int:
    return min(LONGEST_WAIT, max(FIRST_WAIT, int(waited))) if waited.isdecimal() and len(waited) < 4 else FIRST_WAIT


def in_words(elapsed: timedelta) -> str:
    """ "42 s", "3 min 05 s", "2 h 10 min"."""
    seconds = max(0, int(elapsed.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"
