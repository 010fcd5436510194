"""Runs as a strip and days as columns: where each shape stands. Shapes say the outcome before any colour does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Literal

from django.utils import timezone

from replaycases.cases import lane_health
from replaycases.cases.models import ENDED, Run, RunState
from replaycases.verdict.sides import UNREAD
from replaycases.web.labels import Look

Outcome = Literal["held", "violated", "undetermined", "environment", "waiting"]

LOOKS: Mapping[Outcome, Look] = {
    "held": Look(word="held", css="ok", icon="check"),
    "violated": Look(word="violated", css="bad", icon="cross"),
    "undetermined": Look(word="undetermined", css="look", icon="q"),
    "environment": Look(word="no environment, not counted", css="dunno", icon="dash"),
    "waiting": Look(word="waiting", css="dunno", icon="clock"),
}
WIDTH = 980
WIDEST_SLOT = 70
MOST_BARS = 40
GAP = 8
LABEL_WIDTH = 44
BASE = 26
FLOOR = 84
CEILING = 4


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One run. `x` and `width` are in the units of the strip's view box, `middle` is where its cross stands, `number`
    "" where there is no room to write it."""

    run: Run
    outcome: Outcome
    x: int
    width: int
    middle: int
    number: str

    @property
    def look(self) -> Look:
        return LOOKS[self.outcome]


@dataclass(frozen=True, kw_only=True)
class Span:
    """Neighbouring runs of one version, from `x` on."""

    x: int
    name: str


@dataclass(frozen=True, kw_only=True)
class Strip:
    """`bars` are the newest runs, oldest first; `left_out` is how many older ones only the table shows."""

    bars: tuple[Bar, ...]
    spans: tuple[Span, ...]
    left_out: int
    told: str


@dataclass(frozen=True, kw_only=True)
class Block:
    """A stretch of one day's column."""

    outcome: Outcome
    count: int
    y: int
    height: int
    middle: int


@dataclass(frozen=True, kw_only=True)
class Column:
    day: date
    x: int
    width: int
    middle: int
    blocks: tuple[Block, ...]
    counts: Mapping[Outcome, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def top(self) -> int:
        """Where the highest block begins, and the number of runs stands above it."""
        return min((block.y for block in self.blocks), default=FLOOR)


@dataclass(frozen=True, kw_only=True)
class Health:
    """A lane's ended runs by day, oldest day first. `most` is the highest column's number of runs."""

    columns: tuple[Column, ...]
    most: int
    told: str


def outcome_of(run: Run) -> Outcome:
    """What a run showed at the boundary. One without an environment, or cancelled, showed nothing."""
    return outcome(run.state, run.status, run.boundary_passed)


def outcome(state: str, status: str, boundary_passed: bool | None) -> Outcome:
    if state not in ENDED:
        return "waiting"
    if state != RunState.FINISHED or status in UNREAD:
        return "environment"
    if boundary_passed is None:
        return "undetermined"
    return "held" if boundary_passed else "violated"


def strip(runs: Sequence[Run], *, where: str) -> Strip:
    """`runs` oldest first, each with its set's implementation; `where` says for the text alternative of what they are
    ("RC-17 in lane nonblocking")."""
    shown = runs[-MOST_BARS:]
    slot = min(WIDEST_SLOT, WIDTH // max(1, len(shown)))
    every = -(-LABEL_WIDTH // slot)
    bars = tuple(
        Bar(
            run=run,
            outcome=outcome_of(run),
            x=index * slot + 1,
            width=slot - GAP,
            middle=index * slot + 1 + (slot - GAP) // 2,
            number=str(run.number) if index % every == 0 else "",
        )
        for index, run in enumerate(shown)
    )
    return Strip(bars=bars, spans=_spans(bars), left_out=len(runs) - len(shown), told=_told(shown, where))


def _spans(bars: Sequence[Bar]) -> tuple[Span, ...]:
    groups = groupby(bars, key=lambda bar: str(bar.run.run_set.implementation))
    return tuple(Span(x=next(group).x, name=name) for name, group in groups)


def _told(runs: Sequence[Run], where: str) -> str:
    """ "The last 14 runs of RC-17 in lane nonblocking: 8 held, 3 violated, 3 no environment. …" """
    counts = _counted([outcome_of(run) for run in runs])
    return f"The last {len(runs)} runs of {where}: {counts or 'none'}. The table has each run."


def _counted(outcomes: Sequence[Outcome]) -> str:
    return ", ".join(f"{outcomes.count(name)} {look.word}" for name, look in LOOKS.items() if name in outcomes)


def health(days: Iterable[lane_health.Day], *, where: str) -> Health:
    """The last days of one lane, those without a run too."""
    first = timezone.localdate() - timedelta(days=lane_health.DAYS - 1)
    ran = {day.day: _outcomes(day) for day in days if day.day >= first}
    every_day = [first + timedelta(days=index) for index in range(lane_health.DAYS)]
    most = max((sum(counts.values()) for counts in ran.values()), default=0)
    slot = WIDTH // lane_health.DAYS
    columns = tuple(_column(day, ran.get(day, {}), index, slot, most) for index, day in enumerate(every_day))
    every = [name for column in columns for name, count in column.counts.items() for _ in range(count)]
    told = f"Runs of {where} in the last {lane_health.DAYS} days: {_counted(every) or 'none'}. The table has each day."
    return Health(columns=columns, most=most, told=told)


def _outcomes(day: lane_health.Day) -> Mapping[Outcome, int]:
    return {
        "held": day.held,
        "violated": day.violated,
        "undetermined": day.undetermined,
        "environment": day.environment,
    }


def _column(day: date, counts: Mapping[Outcome, int], index: int, slot: int, most: int) -> Column:
    blocks: list[Block] = []
    floor = FLOOR
    for name in LOOKS:
        count = counts.get(name, 0)
        if count:
            height = max(4, count * (FLOOR - CEILING) // most)
            floor -= height
            blocks.append(
                Block(outcome=name, count=count, y=floor, height=max(2, height - 2), middle=floor + height // 2 - 1)
            )
    x = index * slot + 6
    width = min(40, slot - 12)
    return Column(day=day, x=x, width=width, middle=x + width // 2, blocks=tuple(blocks), counts=counts)
