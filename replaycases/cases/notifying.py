"""Notifications: made from the audit chain by the beat, so that nobody has to remember to send one.

The chain is the outbox. A cursor says up to which event it was read; events after it are read in their order, and what
must be known of them is told to who may act on it now.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from replaycases.cases import notices, recipients
from replaycases.cases.models import AuditEvent, NotificationCursor

logger = logging.getLogger(__name__)

BATCH = 200
MOST_BATCHES = 50


def look() -> int:
    """Read the events that came since the last look and tell who must act or know. Returns how many were read."""
    read = 0
    for _ in range(MOST_BATCHES):
        batch = _read_batch()
        read += batch
        if batch < BATCH:
            break
    return read


@transaction.atomic
def _read_batch() -> int:
    """One batch: the cursor moves in the notifications' own transaction, and its lock lets one reader in at a time."""
    NotificationCursor.objects.get_or_create(pk=1)
    cursor = NotificationCursor.objects.select_for_update().get(pk=1)
    events = list(
        AuditEvent.objects.filter(sequence__gt=cursor.sequence)
        .select_related("case__project", "case__current_revision")
        .order_by("sequence")[:BATCH]
    )
    if not events:
        return 0
    for event, rule in _occasions(events):
        _tell(event, rule)
    cursor.sequence = events[-1].sequence
    cursor.save(update_fields=["sequence"])
    return len(events)


def _occasions(events: Iterable[AuditEvent]) -> list[tuple[AuditEvent, notices.Rule]]:
    """What may have to be told: of several events of a case that mean the same, the last one."""
    last: dict[tuple[UUID | None, notices.Rule, str], tuple[AuditEvent, notices.Rule]] = {}
    for event in events:
        if event.case is not None or event.action in notices.WITHOUT_CASE:
            for rule in notices.rules_for(event):
                last[event.case_id, rule, notices.subject_of(event, rule)] = (event, rule)
    return list(last.values())


def _tell(event: AuditEvent, rule: notices.Rule) -> None:
    """An event that cannot be told of is logged, and holds up nothing that came after it."""
    try:
        with transaction.atomic():
            notice = rule(event)
            if notice is not None:
                recipients.notify(
                    notice.people if notice.tells_actor else notice.people - {event.actor_id},
                    case=event.case,
                    finding=notice.finding,
                    kind=notice.kind,
                    occasion=notice.occasion or f"event:{event.sequence}:{notice.kind}",
                    text=f"{_name(event, notice)}: {notice.text}",
                )
    except Exception:
        logger.exception("audit event %s cannot be notified about", event.sequence)


def _name(event: AuditEvent, notice: notices.Notice) -> str:
    if event.case is not None:
        return event.case.readable_id
    return notice.finding.project.key if notice.finding is not None else ""
