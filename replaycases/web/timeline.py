"""Audit events as sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from django.utils import timezone

from replaycases.cases.models import AuditEvent
from replaycases.web.labels import verdict_look

SHOWN = 200
_IDENTIFIER = re.compile(r"sha256:|[0-9a-f]{8}-[0-9a-f]{4}-")
SENTENCES = {
    "case.created": ("opened the case", "down"),
    "revision.added": ("saved a revision of the fixture", "pen"),
    "control.added": ("added a control", "pen"),
    "comparison.requested": ("asked for a comparison", "play"),
    "comparison.computed": ("verdict", "eq"),
    "comparison.cancelled": ("cancelled a comparison", "cross"),
    "run_set.requested": ("asked for replays", "play"),
    "run_set.cancelled": ("cancelled replays", "cross"),
    "run_set.voided": ("voided a run set", "cross"),
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    event: AuditEvent
    icon: str
    actor: str
    sentence: str
    details: str


@dataclass(frozen=True, kw_only=True)
class Day:
    day: date
    entries: list[Entry]


def days(events: Iterable[AuditEvent]) -> list[Day]:
    """Entries by local day, in the order given."""
    grouped = groupby(events, key=lambda event: timezone.localtime(event.at).date())
    return [Day(day=day, entries=[entry_of(event) for event in group]) for day, group in grouped]


def entry_of(event: AuditEvent) -> Entry:
    sentence, icon = SENTENCES.get(event.action, (event.action.replace("_", " ").replace(".", ": "), "dash"))
    return Entry(
        event=event,
        icon=icon,
        actor=str(event.actor) if event.actor else "",
        sentence=sentence,
        details=_verdict(event) if event.action == "comparison.computed" else _details(event.after),
    )


def _verdict(event: AuditEvent) -> str:
    """ "still failing, over 4 runs, was verified red to green"."""
    before, after = json.loads(event.before), json.loads(event.after)
    was = f", was {_word(before['label'])}" if before.get("label") else ""
    return f"{_word(after['label'])}, over {after['runs']} runs{was}"


def _word(label: str) -> str:
    return verdict_look(label).word.lower()


def _details(text: str) -> str:
    """The scalar facts of `after`, in words: `size 2, number 3`. Digests and ids stay in the audit log."""
    facts: Any = json.loads(text or "{}")
    told = [
        f"{name.replace('_', ' ')} {str(value).lower() if isinstance(value, bool) else str(value).replace('_', ' ')}"
        for name, value in facts.items()
        if isinstance(value, str | int) and not _IDENTIFIER.match(str(value))
    ]
    return ", ".join(told)
