"""The steps of one run, to choose those that decided the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from replaycases.cases import choosing
from replaycases.importers.outline import Ending, StepLine, reach
from replaycases.web.labels import Look

ENDINGS: Mapping[Ending, Look] = {
    "answered": Look(word="answered", css="", icon=""),
    "failed": Look(word="failed", css="look", icon="warn"),
    "error text": Look(word="answered with an error", css="look", icon="warn"),
    "no answer": Look(word="no answer", css="dunno", icon="dash"),
}


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """`kept`: it is not left out. `ends`: the draft ends after it. `past`: it stands after where the draft ends.
    `stops`: it is kept and lacks its answer, so that the draft ends before it. `joined`: it was asked for together with
    the step before it. `excerpt` are its first words, for who may read them."""

    line: StepLine
    ending: Look
    took: str
    after: str
    kept: bool
    ends: bool
    past: bool
    stops: bool
    joined: bool
    excerpt: str


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the draft holds of the run. `ends_after` is a step's number; `whole` is how far the draft can go, `left`
    counts the steps that go in."""

    left_out: frozenset[int]
    ends_after: int | None
    whole: int
    left: int


def chosen_of(choices: Mapping[str, Any], steps: Sequence[StepLine]) -> Chosen:
    out = frozenset(choices.get("leave_out", ()))
    whole = reach(steps, out)
    end = choosing.ends_after(choices, steps[:whole])
    left = sum(number not in out for number in range(1, (end or whole) + 1))
    return Chosen(left_out=out, ends_after=end, whole=whole, left=left)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns say something of at least one step."""

    started: bool
    took: bool
    joined: bool

    @property
    def count(self) -> int:
        return 7 + self.started + self.took + self.joined


def columns_of(rows: Sequence[StepRow]) -> Columns:
    return Columns(
        started=any(row.after for row in rows),
        took=any(row.took for row in rows),
        joined=any(row.joined for row in rows),
    )


def rows_of(
    lines: Sequence[StepLine], chosen: Chosen, *, begun: datetime | None, excerpts: Mapping[int, str]
) -> list[StepRow]:
    """`begun` is when the first step with a time started; `excerpts` are by the step's number."""
    groups = [None, *(line.group for line in lines[:-1])]
    return [
        StepRow(
            line=line,
            ending=ENDINGS[line.ending],
            took=seconds_in_words(line.seconds),
            after=_after(line, begun),
            kept=line.number not in chosen.left_out,
            ends=line.number == chosen.ends_after,
            past=line.number > (chosen.ends_after or chosen.whole),
            stops=not line.whole and line.number == chosen.whole + 1,
            joined=line.group is not None and line.group == before,
            excerpt=excerpts.get(line.number, ""),
        )
        for line, before in zip(lines, groups, strict=True)
    ]


def seconds_in_words(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 0:
        return "ends before it starts"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def _after(line: StepLine, begun: datetime | None) -> str:
    if line.started_at is None or begun is None:
        return ""
    passed = (line.started_at - begun).total_seconds()
    return f"+{seconds_in_words(passed)}" if passed >= 0 else f"−{seconds_in_words(-passed)}"
