"""Audit events as sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from django.utils import timezone

from replaycases.cases.models import AuditEvent

SHOWN = 200
SENTENCES = {
    "case.created": ("opened the case", "down"),
    "case.retired": ("retired the case", "dash"),
    "revision.created": ("saved a revision of the fixture", "pen"),
    "control.created": ("added a control", "pen"),
    "comparison.requested": ("asked for a comparison", "play"),
    "comparison.computed": ("verdict", "check"),
    "comparison.cancelled": ("cancelled a comparison", "cross"),
    "run_set.requested": ("asked for replays", "play"),
    "run_set.cancelled": ("cancelled replays", "cross"),
    "run_set.voided": ("voided a run set", "cross"),
    "run.finished": ("a run finished", "check"),
    "run.quarantined": ("a run was quarantined", "warn"),
    "run.cancelled": ("a run was cancelled", "cross"),
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
        details=_details(event.after),
    )


def _details(text: str) -> str:
    """The scalar facts of `after`, in words: `size 2, number 3`. Nested values and ids stay in the audit log."""
    facts: Any = json.loads(text or "{}")
    if not isinstance(facts, dict):
        return ""
    told = [
        f"{name.replace('_', ' ')} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in facts.items()
        if isinstance(value, str | int | bool) and not str(value).startswith("sha256:") and len(str(value)) < 80
    ]
    return ", ".join(told)
