"""Audit events as sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from types import MappingProxyType
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import gates
from replaycases.cases.models import AuditEvent, Case, FlagReason, Implementation, ProposalKind
from replaycases.web.labels import verdict_look
from replaycases.web.sentences import SENTENCES

SHOWN = 200
DETAILS_CAP = 600
_IDENTIFIER = re.compile(r"sha256:|([a-z]+:)?[0-9a-f]{8}-[0-9a-f]{4}-")
_STATE = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
# What the sentence has said already, in these words or better ones.
_SAID_ALREADY = frozenset({"stage", "state", "kind", "flagged"})
_OWN_WORDS = frozenset({"reason", "note", "missing", "changed", "detail", "resolution", "text"})
_PROVENANCE = "provenance.edited"
_SIDES = ("affected", "fixed")


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


def of_case(case: Case, limit: int = SHOWN, versions: Iterable[Implementation] = ()) -> list[Day]:
    """The newest events of the case, by day; those of `versions` by name, and any other as another one. One query."""
    return _by_day(events_of(case)[:limit], {str(version.pk): str(version) for version in versions})


def events_of(case: Case) -> QuerySet[AuditEvent]:
    """Every event of the case, newest first, with its actor."""
    return AuditEvent.objects.filter(case=case).select_related("actor").order_by("-sequence")


def days(events: Iterable[AuditEvent]) -> list[Day]:
    """Entries by local day, in the order given. One query where they name people, one where they name versions."""
    told = list(events)
    return _by_day(told, {**_names(told), **_versions(told)})


def _by_day(events: Iterable[AuditEvent], names: Mapping[str, str]) -> list[Day]:
    grouped = groupby(events, key=lambda event: timezone.localtime(event.at).date())
    return [Day(day=day, entries=[entry_of(event, names) for event in group]) for day, group in grouped]


def _names(events: Iterable[AuditEvent]) -> Mapping[str, str]:
    """What pages call the people whom the events are about, by id."""
    people = {found for event in events if event.action in _ABOUT for found in [_ABOUT[event.action](event)] if found}
    return {str(user.pk): str(user) for user in User.objects.filter(pk__in=people)} if people else {}


def _versions(events: Iterable[AuditEvent]) -> Mapping[str, str]:
    """The same of the versions that were set."""
    said = [json.loads(event.after) for event in events if event.action == _PROVENANCE]
    found = {after[side] for after in said for side in _SIDES if after.get(side)}
    rows = Implementation.objects.filter(pk__in=found).only("name", "version") if found else ()
    return {str(version.pk): str(version) for version in rows}


def entry_of(event: AuditEvent, names: Mapping[str, str] = MappingProxyType({})) -> Entry:
    """`names` are those of the people and versions that it may be about, by id."""
    # An event that a later release recorded is still told, by its own name.
    sentence, icon = SENTENCES.get(event.action, (event.action.replace("_", " ").replace(".", ": "), "dash"))
    return Entry(
        event=event,
        icon=icon,
        actor=str(event.actor) if event.actor else "",
        token=event.token,
        sentence=sentence,
        details=_details(event, names),
    )


def _details(event: AuditEvent, names: Mapping[str, str]) -> str:
    if event.action in _ABOUT:
        return _about(event, names)
    return _provenance(event, names) if event.action == _PROVENANCE else _TOLD.get(event.action, _facts)(event)


def _provenance(event: AuditEvent, names: Mapping[str, str]) -> str:
    """ "affected version: support-agent 3.4.0, fixed version: none, covering test tests/…"."""
    after = json.loads(event.after)
    set_to = {side: after.pop(side) for side in _SIDES if side in after}
    named = [f"{side} version: {names.get(key, 'another one') if key else 'none'}" for side, key in set_to.items()]
    return _cut(", ".join([*named, *_each(after)]))


def _about(event: AuditEvent, names: Mapping[str, str]) -> str:
    """ "QA, QA lead to Nina", "QA from Nina", "invited by Nina"."""
    name = names.get(_ABOUT[event.action](event), "")
    if event.action == "invitation.accepted":
        return f"invited by {name}" if name else ""
    before, after = (set(json.loads(said).get("roles", ())) for said in (event.before, event.after))
    granted = event.action == "role.granted"
    changed = after - before if granted else before - after
    labels = ", ".join(str(role.label) for role in Role if role in changed)
    return " ".join(filter(None, [labels, f"{'to' if granted else 'from'} {name}" if name else ""]))


def _verdict(event: AuditEvent) -> str:
    """ "comparison 3, still failing, over 4 runs, was varied": two verdicts of a case are told apart."""
    before, after = json.loads(event.before), json.loads(event.after)
    if "label" not in after:
        return _facts(event)
    was = f", was {_word(before['label'])}" if before.get("label") else ""
    over = f", over {after['runs']} runs" if "runs" in after else ""
    which = f"comparison {after['comparison']}, " if "comparison" in after else ""
    return f"{which}{_word(after['label'])}{over}{was}"


def _word(label: str) -> str:
    return verdict_look(label).word.lower()


def _owners(event: AuditEvent) -> str:
    """Of what an owner was set, or taken away."""
    owners: dict[str, str] = json.loads(event.after)
    named = [_said(boundary) if owner else f"none for {_said(boundary)}" for boundary, owner in owners.items()]
    return ", ".join(named)


def _proposal(event: AuditEvent) -> str:
    """ "demotion, until 29 Dec 2026, reason “…”"; of an override also its gate."""
    after = json.loads(event.after)
    kinds, titles = {kind.value: kind.label for kind in ProposalKind}, {str(n): t for n, t in gates.TITLES.items()}
    kind = after.get("kind", "")
    gate = after.pop("gate", "")
    named = f"{kind} of “{titles.get(gate, gate)}”" if gate else str(kinds.get(kind, kind))
    return _cut(", ".join(filter(None, [named[:1].lower() + named[1:], *_each(after)])))


def _replays(event: AuditEvent) -> str:
    """ "10 runs, mutated, lane nonblocking"."""
    after = json.loads(event.after)
    size, mutated = after.pop("size", 0), after.pop("mutated", False)
    runs = f"{size} run{'' if size == 1 else 's'}"
    return _cut(", ".join([runs, *(["mutated"] if mutated else []), *_each(after)]))


def _raw_read(event: AuditEvent) -> str:
    """ "RC-17, “ticket 4711”"."""
    after = json.loads(event.after)
    return _cut(f"{after['of']}, “{after['reason']}”")


def _facts(event: AuditEvent) -> str:
    """The scalar facts of `after`, in words: `size 2, number 3`. Digests and ids stay in the audit log; long texts are
    cut."""
    return _cut(", ".join(_each(json.loads(event.after or "{}"))))


def _each(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"{_said(name)} {_own(value) if name in _OWN_WORDS else _said(value)}"
        for name, value in facts.items()
        if name not in _SAID_ALREADY
        and isinstance(value, str | int)
        and value != ""
        and not _IDENTIFIER.match(str(value))
    ]


def _cut(whole: str) -> str:
    return whole if len(whole) <= DETAILS_CAP else f"{whole[:DETAILS_CAP]}…"


def _own(value: str | int) -> str:
    """Somebody's own text as they wrote it, or one of a few names that stand for it."""
    if value in FlagReason.values:
        label = str(FlagReason(value).label)
        return f"{label[:1].lower()}{label[1:]}"
    return _said(value) if _STATE.fullmatch(str(value)) else f"“{value}”"


def _said(value: str | int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    words = str(value)
    if _INSTANT.match(words):
        return date_format(timezone.localtime(datetime.fromisoformat(words)), "j M Y")
    # A state's name is words; anything else is somebody's own text, and stays as it is.
    return words.replace("_", " ") if _STATE.fullmatch(words) else words


def _invited_by(event: AuditEvent) -> str:
    return str(json.loads(event.after).get("invited_by", ""))


def _subject(event: AuditEvent) -> str:
    return event.object_id


# The id of the person whom an event names beside its actor.
_ABOUT: Mapping[str, Callable[[AuditEvent], str]] = {
    "role.granted": _subject,
    "role.revoked": _subject,
    "invitation.accepted": _invited_by,
}
_TOLD: Mapping[str, Callable[[AuditEvent], str]] = {
    "comparison.computed": _verdict,
    "owners.set": _owners,
    "evidence.raw_read": _raw_read,
    "run_set.requested": _replays,
    **{f"proposal.{step}": _proposal for step in ("made", "confirmed", "declined", "withdrawn")},
}
