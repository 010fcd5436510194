"""A new key in the ring, every data key wrapped under it, and the old keys gone.

It can die at any moment and be started again: the new key is in the ring before anything is wrapped under it, data keys
are wrapped anew batch by batch, and an old key leaves the ring only once nothing that still opens is wrapped under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.cases import events, evidence, key_ring, sealing
from replaycases.cases.key_ring import RingFile, SealBroken
from replaycases.cases.locks import lock_project
from replaycases.cases.models import Payload

BATCH = 50


@dataclass(frozen=True, kw_only=True)
class Rotated:
    """`began` says how: the ring was made, a key was added, or an earlier rotation went on and no key was added.
    `rewrapped` and `dropped` are of this run. What is left under an old key: `ended` is past its time and waits to be
    destroyed, `unopened` does not open, because it was changed or because its key was lost."""

    began: str
    key_id: str
    rewrapped: int
    dropped: tuple[str, ...]
    ended: int
    unopened: int


def rotate() -> Rotated:
    """Raises RingInvalid for a ring that cannot be read or changed, or while another rotation is at work."""
    file = sealing.file()
    with file.alone():
        began = "resumed"
        moved, dropped = _go_on(file) if _may_have_died(file) else ({}, ())
        if not any(moved.values()):
            began = _begin(file)
            moved, dropped_now = _go_on(file)
            dropped += dropped_now
        current = file.ring().keys[-1].id
    left = _under_another(current)
    ended = left.filter(evidence.gone()).count()
    return Rotated(
        began=began,
        key_id=current,
        rewrapped=sum(moved.values()),
        dropped=dropped,
        ended=ended,
        unopened=left.count() - ended,
    )


def _begin(file: RingFile) -> str:
    now = timezone.now()
    if not file.is_there():
        file.create(now)
        return "made"
    file.add(now)
    return "added"


def _may_have_died(file: RingFile) -> bool:
    """Whether an earlier rotation may have: it leaves more than one key, as one that ended may too."""
    return file.is_there() and len(file.ring().keys) > 1


def _go_on(file: RingFile) -> tuple[dict[Project, int], tuple[str, ...]]:
    """What is under another key than the current one comes under that. How many for each project, and the keys that
    left the ring then. What does not open is not moved, and holds up no new key."""
    current = file.ring().keys[-1].id
    moved = {project: _rewrap_all(project, current) for project in Project.objects.order_by("key")}
    return moved, _drop(file, moved)


def _under_another(key_id: str) -> QuerySet[Payload]:
    return Payload.objects.filter(data_key__isnull=False).exclude(key_id=key_id)


def _rewrap_all(project: Project, current: str) -> int:
    moved, last = 0, UUID(int=0)
    while keys := list(
        _under_another(current).filter(project=project, pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH]
    ):
        moved += _rewrap(project, keys)
        last = keys[-1]
    return moved


@transaction.atomic
def _rewrap(project: Project, keys: list[UUID]) -> int:
    lock_project(project)
    return sum(_rewrapped(payload) for payload in Payload.objects.filter(pk__in=keys).defer("body", "data_key"))


def _rewrapped(payload: Payload) -> bool:
    try:
        return evidence.rewrap(payload)
    except SealBroken:  # it was changed: reported, and no reason to leave the others
        return False


@transaction.atomic
def _drop(file: RingFile, moved: dict[Project, int]) -> tuple[str, ...]:
    """Take the keys out of the ring under which nothing is wrapped that still opens. Whoever writes a payload waits
    meanwhile, and finds out afterwards that its key has left the ring (`sealing.require_known`)."""
    _hold_writers()
    now = timezone.now()
    *old, current = file.ring().keys
    names = {key.id for key in old}
    opens = Q(data_key__isnull=False, key_hour__gte=key_ring.hour_of(now), key_id__in=names)
    needed = set(Payload.objects.filter(opens).values_list("key_id", flat=True))
    dropped = tuple(key.id for key in old if key.id not in needed)
    for project, count in moved.items():
        if count or dropped:
            _tell(project, current.id, count, dropped)
    for key_id in dropped:
        file.drop(key_id)
    return dropped


def _hold_writers() -> None:
    """SQLite has one writer, who is this transaction already."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'LOCK TABLE "{Payload._meta.db_table}" IN SHARE ROW EXCLUSIVE MODE')


def _tell(project: Project, key_id: str, count: int, dropped: tuple[str, ...]) -> None:
    events.record(
        actor=None,
        action="evidence_key.rotated",
        subject=project,
        project=project,
        after={"key": key_id, "rewrapped": count, "dropped": ", ".join(dropped)},
    )
