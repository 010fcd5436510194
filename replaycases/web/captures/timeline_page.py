"""The steps of one run, to choose those that decided the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError

from replaycases.cases import choosing
from replaycases.importers.outline import Ending, StepLine
from replaycases.web.labels import Look

# Digits of a step's number: no recording that is read has more steps.
LONGEST_NUMBER = 6
ENDINGS: Mapping[Ending, Look] = {
    "answered": Look(word="answered", css="", icon=""),
    "failed": Look(word="failed", css="look", icon="warn"),
    "no answer": Look(word="no answer", css="dunno", icon="dash"),
}


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """`kept`: it goes into the draft. `ends`: the draft ends after it. `past`: it stands after where the draft ends.
    `joined`: it was asked for together with the step before it."""

    line: StepLine
    ending: Look
    took: str
    after: str
    kept: bool
    ends: bool
    past: bool
    joined: bool


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the draft holds of the run. `ends_after` is a step's number; `left` counts the steps that go in."""

    left_out: frozenset[int]
    ends_after: int | None
    left: int


def chosen_of(choices: Mapping[str, Any], steps: Sequence[StepLine]) -> Chosen:
    whole = sum(not line.lost for line in steps)
    out, end = frozenset(choices.get("leave_out", ())), choosing.ends_after(choices, whole)
    left = sum(number not in out for number in range(1, (end or whole) + 1))
    return Chosen(left_out=out, ends_after=end, left=left)


def rows_of(lines: Sequence[StepLine], chosen: Chosen, *, begun: datetime | None) -> list[StepRow]:
    """`begun` is when the first step with a time started."""
    groups = [None, *(line.group for line in lines[:-1])]
    return [
        StepRow(
            line=line,
            ending=ENDINGS[line.ending],
            took=seconds_in_words(line.seconds),
            after=_after(line, begun),
            kept=line.number not in chosen.left_out and not line.lost,
            ends=line.number == chosen.ends_after,
            past=chosen.ends_after is not None and line.number > chosen.ends_after,
            joined=line.group is not None and line.group == before,
        )
        for line, before in zip(lines, groups, strict=True)
    ]


def numbers_in(text: str) -> set[int]:
    """The numbers of steps in a text as "1-400, 512". Raises ValidationError."""
    found: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        begin, dash, end = (side.strip() for side in part.partition("-"))
        sides = (begin, end) if dash else (begin, begin)
        if not all(side.isascii() and side.isdecimal() and len(side) <= LONGEST_NUMBER for side in sides):
            raise ValidationError(f"“{part[:40]}” names no steps. Write numbers and ranges: 1-400, 512.")
        found |= set(range(int(sides[0]), int(sides[1]) + 1))
    return found


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
