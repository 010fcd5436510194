"""What the home page draws: the strip of stages and lanes, and the lanes' health as bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from replaycases.cases import lane_health, recent
from replaycases.cases.lifecycle import STEPS
from replaycases.cases.models import FlagReason, LaneName, Stage
from replaycases.cases.needed_captures import CaptureRow
from replaycases.cases.needed_cases import MOST, CaseRow
from replaycases.cases.needs import Needs
from replaycases.cases.tallies import Tally
from replaycases.web.captures.list_page import TITLES
from replaycases.web.templatetags.ui import icon

SHOWN = 8
SOON = timedelta(days=3)
_URGENT = SafeString(' class="urgent"')
_REASONS = {key: str(word) for key, word in FlagReason.choices}

# The chart's measures, in its own units.
HEIGHT, FOOT, HEAD, PITCH, WIDTH, BAR = 34, 14, 26, 21.6, 304, 12
BAND = HEAD + HEIGHT + FOOT
_CROSSED = f'<rect class="violated" width="{BAR}" height="10"/><path class="cross" d="m3.5 2.500 5 5m0-5-5 5"/>'
_DAY_ROW = '<tr><th scope="row" class="nw">{}</th><td>{}</td>' + '<td class="r">{}</td>' * 4 + "</tr>"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One place of the strip. `query` are the filters of the case list that shows these cases."""

    name: str
    is_lane: bool
    cases: int
    note: str
    query: str


def strip(tallies: Sequence[Tally]) -> list[Cell]:
    stages = [_stage(stage, [t for t in tallies if t.stage == stage]) for stage in STEPS]
    lanes = [
        _lane(lane, inside)
        for lane in LaneName
        if (inside := [t for t in tallies if t.lane == lane]) or lane != LaneName.COMPATIBILITY
    ]
    closed = [
        _stage(stage, [t for t in tallies if t.stage == stage]) for stage in (Stage.RETIRED, Stage.NON_REPLAYABLE)
    ]
    return [*stages, *lanes, *closed]


def _stage(stage: Stage, tallies: Sequence[Tally]) -> Cell:
    notes = {
        Stage.QUARANTINED: _oldest(tallies),
        Stage.IN_REVIEW: _counted(sum(t.ending for t in tallies), "ends in 7 d", "end in 7 d"),
        Stage.REPRODUCED: _counted(sum(t.ready for t in tallies), "may be promoted", "may be promoted"),
        Stage.REDACTION_APPROVED: _oldest(tallies),
    }
    return Cell(
        name=stage.label,
        is_lane=False,
        cases=sum(t.cases for t in tallies),
        note=notes.get(stage, ""),
        query=f"stage={stage.value}",
    )


def _lane(lane: LaneName, tallies: Sequence[Tally]) -> Cell:
    flagged = sum(t.flagged for t in tallies)
    still = ("", ", still blocks", ", still block")[min(flagged, 2)] if lane == LaneName.BLOCKING else ""
    note = _counted(flagged, "needs re-review", "need re-review") + still
    return Cell(
        name=lane.value, is_lane=True, cases=sum(t.cases for t in tallies), note=note, query=f"lane={lane.value}"
    )


def _oldest(tallies: Sequence[Tally]) -> str:
    since = min((t.since for t in tallies), default=None)
    return f"oldest {span(timezone.now() - since)}" if since else ""


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""


# --- lists ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a case waits for, and what is done about it where; `label` is "" where the person can only wait."""

    told: str
    label: str
    route: str = "case"
    place: str = ""


WAITS_FOR: Mapping[str, Step] = {
    "fixture": Step(told="It has no fixture yet.", label="Add the fixture", route="new_revision"),
    "containment": Step(told="The security owner confirms containment first.", label=""),
    "confirmation": Step(told="Replay the affected version: is the failure seen?", label="Replay it", place="#request"),
    "running": Step(told="Its replays have not ended yet.", label=""),
    "red": Step(told="The affected version was not seen to fail.", label="Look why"),
    "submission": Step(told="The failure was seen.", label="Submit it", place="#next"),
    "reproduction": Step(told="The affected version was seen to fail.", label="Mark it", place="#next"),
}

_ANSWERS, _EFFECTS = "whether the dependency answers so", "whether its tools have no effect"
_ASKED = {"answers": _ANSWERS, "effects": _EFFECTS, "answers and effects": f"{_ANSWERS}, and {_EFFECTS}"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A case of a list with what only the page says: what is `left` until its raw evidence ends, drawn; how long it
    `waited`; the lane that may come `next`."""

    case: CaseRow
    left: SafeString
    waited: str
    next: str
    why: str
    step: Step | None


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The first rows of a list, and how many there are in words: "100 or more" where it was cut."""

    rows: list[Row]
    count: str
    hidden: int

    def __bool__(self) -> bool:
        return bool(self.rows)


def lists(needs: Needs) -> dict[str, Listed]:
    return {name: listed(rows) for name, rows in needs.lists.items()}


def listed(rows: Sequence[CaseRow]) -> Listed:
    return Listed(rows=[_row(row) for row in rows[:SHOWN]], count=counted(len(rows)), hidden=max(0, len(rows) - SHOWN))


def counted(count: int) -> str:
    return f"{MOST} or more" if count >= MOST else str(count)


def span(left: timedelta) -> str:
    """In its two largest units: "6 d 3 h", "19 h 5 min", "4 min"."""
    minutes = max(0, int(left.total_seconds())) // 60
    days, hours, minutes = minutes // 1440, minutes % 1440 // 60, minutes % 60
    if days:
        return f"{days} d {hours} h" if hours and days < 7 else f"{days} d"
    if hours:
        return f"{hours} h {minutes} min" if minutes and hours < 6 else f"{hours} h"
    return f"{minutes} min"


def _row(case: CaseRow) -> Row:
    now = timezone.now()
    return Row(
        case=case,
        left=_left(case.expires_at, now),
        waited=span(now - case.stage_since),
        next=LaneName.BLOCKING.value if case.lane else LaneName.NONBLOCKING.value,
        why=_REASONS.get(case.why) or _ASKED.get(case.why) or case.why.replace("_", " "),
        step=WAITS_FOR.get(case.why),
    )


@dataclass(frozen=True, kw_only=True)
class CaptureShown:
    """A capture that waits for a case, with the title of its format and what is `left` until it ends, drawn."""

    capture: CaptureRow
    format: str
    left: SafeString


def captures_of(needs: Needs) -> list[CaptureShown]:
    now = timezone.now()
    return [
        CaptureShown(capture=row, format=TITLES.get(row.format, row.format), left=_left(row.expires_at, now))
        for row in (needs.captures or ())[:SHOWN]
    ]


def _left(ends: datetime | None, now: datetime) -> SafeString:
    if ends is None:
        return format_html('<span class="mute">{}</span>', "nothing ends")
    left = ends - now
    return format_html(
        '<span{} title="{}">{}{}</span>',
        _URGENT if left <= SOON else "",
        f"{timezone.localtime(ends):%Y-%m-%d %H:%M %Z}",
        icon("warn") if left <= SOON else "",
        span(left) if left > timedelta(0) else "past its time",
    )


# --- lane health ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One day of one lane, in the chart's own units; a height of 0 is not drawn."""

    x: float
    held_y: float
    held: float
    undetermined_y: float
    undetermined: float
    environment_y: float
    environment: float
    violated: bool


@dataclass(frozen=True, kw_only=True)
class Band:
    lane: str
    bars: list[Bar]
    name_y: float
    axis_y: float
    violated_y: float

    @property
    def drawn(self) -> SafeString:
        """Its bars as SVG, put together here and not by a template: there are dozens of them."""
        return SafeString("".join(shape for bar in self.bars for shape in self._shapes(bar)))

    def _shapes(self, bar: Bar) -> Iterator[str]:
        boxes = (
            ("held", bar.held_y, bar.held),
            ("undetermined", bar.undetermined_y, bar.undetermined),
            ("environment", bar.environment_y, bar.environment),
        )
        for outcome, y, height in boxes:
            if height:
                yield f'<rect class="{outcome}" x="{bar.x}" y="{y}" width="{BAR}" height="{height}"/>'
        if bar.violated:
            yield f'<g transform="translate({bar.x} {self.violated_y})">{_CROSSED}</g>'


@dataclass(frozen=True, kw_only=True)
class Health:
    """The chart, one band a lane, with the totals and the days ("30 Nov") that stand in its tables."""

    bands: list[Band]
    totals: list[lane_health.Day]
    days: list[tuple[str, lane_health.Day]]
    first: date
    last: date
    height: float
    told: str

    @property
    def day_rows(self) -> SafeString:
        return SafeString("".join(_day_row(name, day) for name, day in self.days))


def _day_row(name: str, day: lane_health.Day) -> str:
    counts = (day.held, day.violated, day.undetermined, day.environment)
    return _DAY_ROW.format(name, LaneName(day.lane).value, *counts)  # nothing that needs escaping


def health_panel(projects: frozenset[UUID]) -> SafeString:
    """Drawn once a minute for everybody who sees the same projects."""
    return recent.of("health-panel", projects, lambda: _drawn(lane_health.lately(projects)))


def _drawn(days: Sequence[lane_health.Day]) -> SafeString:
    return render_to_string("home/_health.html", {"health": health(days)})


def health(days: Sequence[lane_health.Day]) -> Health:
    last = timezone.localdate()
    first = last - timedelta(days=lane_health.DAYS - 1)
    within = [day for day in days if day.day >= first]
    lanes = [lane.value for lane in LaneName if any(day.lane == lane for day in within)]
    bands = [_band(lane, [d for d in within if d.lane == lane], first, at * BAND) for at, lane in enumerate(lanes)]
    totals = [_total(lane, [day for day in within if day.lane == lane]) for lane in lanes]
    return Health(
        bands=bands,
        totals=totals,
        days=[(f"{day.day.day} {day.day:%b}", day) for day in within],
        first=first,
        last=last,
        height=len(bands) * BAND + 16,
        told="; ".join(f"{t.lane}: {t.held} held, {t.violated} violated" for t in totals),
    )


def _band(lane: str, days: Sequence[lane_health.Day], first: date, top: float) -> Band:
    most = max(day.ran for day in days) or 1
    return Band(
        lane=lane,
        bars=[_bar(day, (day.day - first).days, top + HEAD + HEIGHT, most) for day in days],
        name_y=top + 12,
        axis_y=top + HEAD + HEIGHT + 0.5,
        violated_y=top + HEAD + HEIGHT + 2,
    )


def _bar(day: lane_health.Day, index: int, foot: float, most: int) -> Bar:
    """Held from the foot up; what was not decided, and on top of it what could not run, as low boxes of one height."""
    held = round(HEIGHT * day.held / most, 1)
    undetermined = 3.0 if day.undetermined else 0.0
    environment = 5.0 if day.environment else 0.0
    undetermined_y = foot - held - undetermined - 1
    return Bar(
        x=round(2 + index * PITCH, 1),
        held_y=round(foot - held, 1),
        held=held,
        undetermined_y=round(undetermined_y, 1),
        undetermined=undetermined,
        environment_y=round((undetermined_y if undetermined else foot - held) - environment - 0.5, 1),
        environment=environment,
        violated=day.violated > 0,
    )


def _total(lane: str, days: Iterable[lane_health.Day]) -> lane_health.Day:
    every = list(days)
    return lane_health.Day(
        lane=lane,
        day=every[-1].day,
        held=sum(day.held for day in every),
        violated=sum(day.violated for day in every),
        undetermined=sum(day.undetermined for day in every),
        environment=sum(day.environment for day in every),
        last=max(day.last for day in every),
    )
