"""What of the calls of a draft is not compared: each declared rule, and how much of the recording it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.model import SUBJECT
from replaycases.fixture.pointer import ABSENT, resolve

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """One rule: a tool, or "@" and a boundary, and a pointer. `calls` are the calls that it is for, `hits` those of
    them in which the recording has something there."""

    of: str
    pointer: str
    calls: int
    hits: int


def ignored_in(events: Sequence[Mapping[str, JSON]], rules: Sequence[Mapping[str, str]]) -> tuple[Ignored, ...]:
    return tuple(_counted(events, rule) for rule in rules)


def _counted(events: Sequence[Mapping[str, JSON]], rule: Mapping[str, str]) -> Ignored:
    key = "tool" if "tool" in rule else "boundary"
    calls = [event for event in events if event.get(key) == rule[key] and event["boundary"] in SUBJECT]
    hits = sum(resolve(event[SUBJECT[event["boundary"]]], rule["pointer"]) is not ABSENT for event in calls)
    of = rule[key] if key == "tool" else f"@{rule[key]}"
    return Ignored(of=of, pointer=rule["pointer"], calls=len(calls), hits=hits)
