"""Raw evidence whose time is over is destroyed: its bytes and its data key, and then the hour of the key ring.

A destroyed payload's row stays as the receipt: digest, size, media type, when, and the hour under which it was sealed.
What was made of it stays too: the case, redacted revisions, verdicts. Whatever moves an end later takes the project's
lock as this does, so an extension that was confirmed in time wins. A batch is one transaction: a purge that dies leaves
whole batches behind, and the next one goes on.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.cases import beats, events, evidence, sealing
from replaycases.cases.key_ring import RingInvalid
from replaycases.cases.locks import lock_project
from replaycases.cases.models import (
    Capture,
    Case,
    Comparison,
    Control,
    Draft,
    FixtureRevision,
    Payload,
    Redaction,
    RedactionRule,
    Run,
)

logger = logging.getLogger(__name__)
BATCH = 100

Holder = Case | Capture | Project


@dataclass(frozen=True, kw_only=True)
class Held:
    """`key` is the case's or the capture's that holds the payload, `role` what it is there."""

    model: type[Holder]
    key: UUID
    role: str


def look() -> int:
    """Destroy what is past its time, then forget the hours of the key ring that have passed. Returns how many payloads
    there were."""
    destroyed = beats.each(Project.objects.filter(pk__in=_due().values("project")), _destroy_all)
    destroyed += beats.each(_first(_due()).select_related("project").defer("body"), _destroy_one)
    beats.each(Project.objects.filter(pk__in=_ended().values("project")), _settle)
    _forget()
    return destroyed


def _destroy_all(project: Project) -> int:
    """Batch by batch; bodies are not read."""
    destroyed, due = 0, _first(_due().filter(project=project)).values_list("pk", flat=True)
    while keys := list(due[:BATCH]):
        destroyed += _destroy(project, keys)
    return destroyed


def _destroy_one(payload: Payload) -> int:
    """What is left because a batch failed: a row that cannot be destroyed holds up no other."""
    return _destroy(payload.project, [payload.pk])


def _forget() -> None:
    """A ring that cannot be changed holds up nothing else that the calendar says."""
    try:
        sealing.forget()
    except RingInvalid as fault:
        logger.error("what ended is destroyed here and can still be opened in backups: %s", fault)


def _due() -> QuerySet[Payload]:
    return Payload.objects.filter(data_key__isnull=False, purged_at=None, expires_at__lte=timezone.now())


def _first(due: QuerySet[Payload]) -> QuerySet[Payload]:
    return due.order_by("expires_at", "pk")


def _ended() -> QuerySet[Case]:
    return Case.objects.filter(evidence_expires_at__lte=timezone.now())


@transaction.atomic
def _settle(project: Project) -> int:
    """A case without raw evidence has no end: also where all of it was released before its time was over."""
    lock_project(project)
    if _due().filter(project=project).exists():
        return 0
    return _ended().filter(project=project).update(evidence_expires_at=None)


@transaction.atomic
def _destroy(project: Project, keys: list[UUID]) -> int:
    """Those among the project's payloads that are past their time, with what can only be read beside them."""
    lock_project(project)
    due = Q(pk__in=_due().filter(pk__in=keys).values("pk"))
    ended = Payload.objects.filter(due)
    chosen = Draft.objects.filter(capture__payload__in=ended).values("choices")
    outlined = Capture.objects.filter(payload__in=ended, outline__isnull=False).values("outline")
    beside = Q(pk__in=chosen) | Q(pk__in=outlined)
    rows = Payload.objects.select_for_update().filter(due | beside, purged_at=None).defer("body")
    payloads = {payload.pk: payload for payload in rows}
    held = _held(payloads)
    for payload in payloads.values():
        evidence.destroy(payload)
    _note(held)
    _tell(project, payloads, held)
    return len(payloads)


# --- where it was held ----------------------------------------------------------------------------------------------


def _held(payloads: Iterable[UUID]) -> Mapping[UUID, list[Held]]:
    """Every place that holds each of the payloads."""
    keys, found = list(payloads), defaultdict(list)
    for model, role, rows, link, owner in _PLACES:
        for key, holder in rows.filter(**{f"{link}__in": keys}).order_by().values_list(link, owner).distinct():
            found[key].append(Held(model=model, key=holder, role=role))
    return found


_PLACES: tuple[tuple[type[Holder], str, QuerySet[Any], str, str], ...] = (
    (Case, "fixture", FixtureRevision.objects.all(), "payload", "case"),
    (Case, "detect rules", FixtureRevision.objects.all(), "detect", "case"),
    (Case, "control", Control.objects.all(), "payload", "revision__case"),
    (Case, "detect rules", Control.objects.all(), "detect", "revision__case"),
    (Case, "mutation", Control.objects.all(), "mutation", "revision__case"),
    (Case, "manifest", Run.objects.all(), "manifest", "run_set__revision__case"),
    (Case, "redaction", Redaction.objects.all(), "record", "revision__case"),
    (Case, "mapping", Redaction.objects.all(), "mapping", "revision__case"),
    (Case, "redaction rule", RedactionRule.objects.all(), "body", "source__case"),
    (Case, "verdict", Comparison.objects.all(), "document", "revision__case"),
    (Capture, "capture", Capture.objects.all(), "payload", "pk"),
    (Capture, "outlines", Capture.objects.all(), "outline", "pk"),
    (Capture, "draft", Draft.objects.all(), "choices", "capture"),
)


def _note(held: Mapping[UUID, list[Held]]) -> None:
    """On cases and captures, where it is shown."""
    now = timezone.now()
    places = [place for each in held.values() for place in each]
    Capture.objects.filter(pk__in=[place.key for place in places if place.role == "capture"]).update(purged_at=now)
    cases = Case.objects.filter(pk__in={place.key for place in places if place.model is Case})
    cases.update(evidence_destroyed_at=now)


def _tell(project: Project, payloads: Mapping[UUID, Payload], held: Mapping[UUID, list[Held]]) -> None:
    """One event for each case and each capture, and one for what neither held any more."""
    by_holder: dict[tuple[type[Holder], UUID], list[tuple[Payload, str]]] = defaultdict(list)
    for key, payload in payloads.items():
        for place in held.get(key) or [Held(model=Project, key=project.pk, role="unattached")]:
            by_holder[place.model, place.key].append((payload, place.role))
    for (model, key), gone in by_holder.items():
        holder = model.objects.get(pk=key)
        events.record(
            actor=None,
            action="evidence.destroyed",
            subject=holder,
            project=project,
            case=holder if isinstance(holder, Case) else None,
            after={
                "payloads": len(gone),
                "bytes": sum(payload.size for payload, _ in gone),
                "store": "database",
                "receipts": [_receipt(payload, role) for payload, role in gone],
            },
        )


def _receipt(payload: Payload, role: str) -> dict[str, object]:
    return {"digest": payload.digest, "size": payload.size, "was": role, "key_hour": payload.key_hour}
