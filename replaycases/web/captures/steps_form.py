"""What of a run's steps is looked at, and what a sent page says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from replaycases.importers.neutral import Boundary
from replaycases.importers.outline import StepLine
from replaycases.web.captures.timeline_page import ENDINGS

# Digits of a step's number: no recording that is read has more steps.
LONGEST_NUMBER = 6
MOST_RANGES = 1000
KEPT, LEFT_OUT = "kept", "out"


class StepFilter(forms.Form):
    """In the address of the page. What is no choice is not asked for."""

    boundary = forms.ChoiceField(required=False, label="Boundary")
    tool = forms.ChoiceField(required=False, label="Tool")
    outcome = forms.ChoiceField(
        required=False,
        label="Outcome",
        choices=[("", "any"), *((ending, look.word) for ending, look in ENDINGS.items())],
    )
    choice = forms.ChoiceField(
        required=False, label="Choice", choices=[("", "any"), (KEPT, "kept"), (LEFT_OUT, "left out")]
    )

    def __init__(self, data: QueryDict, *, steps: Sequence[StepLine], tools: Sequence[str]) -> None:
        super().__init__(data, label_suffix="", auto_id="id_%s")
        there = {line.boundary for line in steps}
        self._offer("boundary", (name for name in get_args(Boundary) if name in there))
        self._offer("tool", tools)
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"
        self.is_valid()

    def _offer(self, name: str, values: Iterable[str]) -> None:
        field: Any = self.fields[name]
        field.choices = [("", "any"), *((value, value[:80]) for value in values)]

    @property
    def asked(self) -> dict[str, str]:
        return {name: value for name, value in self.cleaned_data.items() if value}

    def of(self, steps: Sequence[StepLine], left_out: frozenset[int]) -> list[StepLine]:
        return [line for line in steps if self._fits(line, left_out)]

    def _fits(self, line: StepLine, left_out: frozenset[int]) -> bool:
        asked = self.asked
        facts = {
            "boundary": line.boundary,
            "tool": line.name if line.boundary == "tool" else "",
            "outcome": line.ending,
            "choice": LEFT_OUT if line.number in left_out else KEPT,
        }
        return all(facts[name] == value for name, value in asked.items())


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The steps that were decided about, and those of them that stay."""

    shown: frozenset[int]
    kept: frozenset[int]


def sent(data: QueryDict, steps: int, matching: Iterable[int]) -> Sent:
    """What a page says: its ticks, then all steps that match its filter where one button says so, then those named by
    their numbers; what is to be kept by its number wins. Raises ValidationError for what names no steps."""
    page, ticked = numbers_in(data.get("shown", ""), steps), {n for n in map(number, data.getlist("keep")) if n}
    out, back = numbers_in(data.get("out_also", ""), steps), numbers_in(data.get("keep_also", ""), steps)
    before, after = _bound(data, "before"), _bound(data, "after")
    out |= set(range(1, before)) | (set(range(after + 1, steps + 1)) if after else set())
    if data.get("all") in (KEPT, LEFT_OUT):
        every = set(matching)
        ticked = ticked | every if data["all"] == KEPT else ticked - every
        page |= every
    return Sent(shown=frozenset(page | out | back), kept=frozenset((ticked - out) | back))


def _bound(data: QueryDict, name: str) -> int:
    said = data.get(name, "").strip()
    if said and not number(said):
        raise ValidationError(f"“{said[:40]}” is no step. Write its number.")
    return number(said)


def number(text: str) -> int:
    """0 for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else 0


def numbers_in(text: str, most: int) -> set[int]:
    """The numbers of steps, 1 to `most`, in a text as "1-400, 512". Raises ValidationError."""
    found: set[int] = set()
    parts = [part.strip() for part in text.split(",", MOST_RANGES)]
    if len(parts) > MOST_RANGES:
        raise ValidationError(f"At most {MOST_RANGES} numbers and ranges at once.")
    for part in filter(None, parts):
        begin, dash, end = (side.strip() for side in part.partition("-"))
        sides = (begin, end) if dash else (begin, begin)
        if not all(side.isascii() and side.isdecimal() and len(side) <= LONGEST_NUMBER for side in sides):
            raise ValidationError(f"“{part[:40]}” names no steps. Write numbers and ranges: 1-400, 512.")
        first, last = map(int, sides)
        if not 1 <= first <= last <= most:
            raise ValidationError(f"“{part[:40]}” names no steps: the run has steps 1 to {most}.")
        found.update(range(first, last + 1))
    return found


def ranges_of(numbers: Sequence[int]) -> str:
    """Rising numbers as `numbers_in` reads them."""
    return ",".join(_ranges(numbers))


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    begin = 0
    for at, each in enumerate(numbers):
        if at + 1 == len(numbers) or numbers[at + 1] != each + 1:
            first = numbers[begin]
            yield str(first) if first == each else f"{first}-{each}"
            begin = at + 1
