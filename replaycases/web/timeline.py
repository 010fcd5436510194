"""Audit events as sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from replaycases.cases.models import AuditEvent, Case
from replaycases.web.labels import verdict_look
from replaycases.web.sentences import SENTENCES

SHOWN = 200
DETAILS_CAP = 600
_IDENTIFIER = re.compile(r"sha256:|([a-z]+:)?[0-9a-f]{8}-[0-9a-f]{4}-")
_STATE = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`actor` is "" for what the system did by itself; `token` the prefix of the token of the actor's program."""

    event: AuditEvent
    icon: str
    actor: str
    token: str
    sentence: str
    details: str


@dataclass(frozen=True, kw_only=True)
class Day:
    day: date
    entries: list[Entry]


def of_case(case: Case, limit: int = SHOWN) -> list[Day]:
    """The newest events of the case, by day. One query."""
    return days(events_of(case)[:limit])


def events_of(case: Case) -> QuerySet[AuditEvent]:
    """Every event of the case, newest first, with its actor."""
    return AuditEvent.objects.filter(case=case).select_related("actor").order_by("-sequence")


def days(events: Iterable[AuditEvent]) -> list[Day]:
    """Entries by local day, in the order given."""
    grouped = groupby(events, key=lambda event: timezone.localtime(event.at).date())
    return [Day(day=day, entries=[entry_of(event) for event in group]) for day, group in grouped]


def entry_of(event: AuditEvent) -> Entry:
    # An event that a later release recorded is still told, by its own name.
    sentence, icon = SENTENCES.get(event.action, (event.action.replace("_", " ").replace(".", ": "), "dash"))
    return Entry(
        event=event,
        icon=icon,
        actor=str(event.actor) if event.actor else "",
        token=event.token,
        sentence=sentence,
        details=_TOLD.get(event.action, _facts)(event),
    )


def _verdict(event: AuditEvent) -> str:
    """ "still failing, over 4 runs, was verified red to green"."""
    before, after = json.loads(event.before), json.loads(event.after)
    if "label" not in after:
        return _facts(event)
    was = f", was {_word(before['label'])}" if before.get("label") else ""
    over = f", over {after['runs']} runs" if "runs" in after else ""
    return f"{_word(after['label'])}{over}{was}"


def _word(label: str) -> str:
    return verdict_look(label).word.lower()


def _owners(event: AuditEvent) -> str:
    """Of what an owner was set, or taken away."""
    owners: dict[str, str] = json.loads(event.after)
    named = [_said(boundary) if owner else f"none for {_said(boundary)}" for boundary, owner in owners.items()]
    return ", ".join(named)


def _facts(event: AuditEvent) -> str:
    """The scalar facts of `after`, in words: `size 2, number 3`. Digests and ids stay in the audit log; long texts are
    cut."""
    facts: Any = json.loads(event.after or "{}")
    told = [
        f"{_said(name)} {_said(value)}"
        for name, value in facts.items()
        if isinstance(value, str | int) and value != "" and not _IDENTIFIER.match(str(value))
    ]
    whole = ", ".join(told)
    return whole if len(whole) <= DETAILS_CAP else f"{whole[:DETAILS_CAP]}…"


def _said(value: str | int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    # A state's name is words; anything else is somebody's own text, and stays as it is.
    words = str(value)
    return words.replace("_", " ") if _STATE.fullmatch(words) else words


_TOLD: Mapping[str, Callable[[AuditEvent], str]] = {"comparison.computed": _verdict, "owners.set": _owners}
