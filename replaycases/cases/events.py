"""The audit chain: one append-only event for everything that is decided, in the transaction of the change itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases.audit_actions import ACTIONS
from replaycases.cases.models import AuditEvent, AuditHead, Case
from replaycases.fixture.canonical import digest


def record(
    *,
    actor: User | None,
    action: str,
    subject: models.Model,
    project: Project | None,
    case: Case | None = None,
    object_hash: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> AuditEvent:
    """Append one event. `actor` is None for what the system does by itself. `before` and `after` hold ids, hashes
    and states, never evidence. `case` is the case it belongs to, whose timeline shows it. Must run inside the
    transaction of the change, as its last step: the head row it locks is one for all, and is what puts concurrent
    appends in order. Raises ValueError for an action that `cases.audit_actions` does not name."""
    if action not in ACTIONS:
        raise ValueError(
            f"{action} is no audit action: name it in cases.audit_actions, with a sentence in web.timeline"
        )
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an audit event belongs to the transaction of what it records")
    head = AuditHead.objects.select_for_update().get()
    event = AuditEvent(
        sequence=head.sequence + 1,
        project=project,
        case=case,
        actor=actor,
        token=actor.token.prefix if actor is not None and actor.token is not None else "",
        action=action,
        object_type=subject._meta.label_lower,
        object_id=str(subject.pk),
        object_hash=object_hash,
        before=_text(before),
        after=_text(after),
        at=timezone.now(),
        prev_hash=head.hash,
    )
    event.hash = event_hash(event)
    event.save(force_insert=True)
    AuditHead.objects.update(sequence=event.sequence, hash=event.hash)
    return event


def event_hash(event: AuditEvent) -> str:
    """ "sha256:…" over every field of the event but the hash itself, the hash before it included. A case or a token
    that is not there is left out, as it is in events from before there were any."""
    named = {"case": str(event.case_id or ""), "token": event.token}
    return digest(
        {
            **{name: value for name, value in named.items() if value},
            "sequence": event.sequence,
            "project": str(event.project_id or ""),
            "actor": str(event.actor_id or ""),
            "action": event.action,
            "object_type": event.object_type,
            "object_id": event.object_id,
            "object_hash": event.object_hash,
            "before": event.before,
            "after": event.after,
            "at": event.at.isoformat(),
            "prev_hash": event.prev_hash,
        }
    )


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """The chain's head as it was once, noted outside of the database: whoever rewrites the events and the head alike
    cannot rewrite that note."""

    sequence: int
    hash: str


def head() -> Anchor:
    """The chain's end as it is now, for a note outside of the database."""
    row = AuditHead.objects.get()
    return Anchor(sequence=row.sequence, hash=row.hash)


def verify(anchor: Anchor | None = None) -> list[str]:
    """What is wrong with the chain, one sentence a fault; an empty list if it is whole and, with an anchor, still holds
    what it held then."""
    with transaction.atomic():  # the head and the events of one moment
        row = AuditHead.objects.select_for_update().first()
        if row is None:
            return ["the chain's head is missing"]
        return [*_faults(row), *_moved(anchor)]


def _moved(anchor: Anchor | None) -> list[str]:
    if anchor is None or anchor.sequence == 0:
        return []
    kept = AuditEvent.objects.filter(sequence=anchor.sequence).values_list("hash", flat=True).first()
    if kept is None:
        return [f"event {anchor.sequence} was there when it was noted, and is missing"]
    return [] if kept == anchor.hash else [f"event {anchor.sequence} is not the one that was noted"]


def _faults(head: AuditHead) -> list[str]:
    faults: list[str] = []
    expected, previous = 1, ""
    for event in AuditEvent.objects.order_by("sequence").iterator(chunk_size=1000):
        if event.sequence != expected:
            faults.append(f"events {expected} to {event.sequence - 1} are missing")
        elif event.prev_hash != previous:
            faults.append(f"event {event.sequence} does not follow the event before it")
        if event.hash != event_hash(event):
            faults.append(f"event {event.sequence} was edited")
        expected, previous = event.sequence + 1, event.hash
    if (head.sequence, head.hash) != (expected - 1, previous):
        faults.append(f"the chain ends at event {expected - 1}, its head says {head.sequence}")
    return faults


def _text(value: Mapping[str, Any] | None) -> str:
    return json.dumps(value or {}, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
