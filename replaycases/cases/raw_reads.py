"""Reading raw evidence: somebody says why they need to, and it is written down before they see anything of it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import capture_ends, events, reading, texts
from replaycases.cases.locks import lock_project
from replaycases.cases.models import Capture, Case, RawRead

MISSING = "Say why you need to read it: the ticket, the question, the decision it is for."
REASON_CAP = 500


def begin(actor: User, *, case: Case | None = None, capture: Capture | None = None, reason: str) -> RawRead:
    """From now on, for as long as the setting says, the actor sees the raw evidence of the case or of the capture,
    one of which is given. Raises PermissionDenied for a program and for who may not read it, ValidationError for a
    reason that is empty or too long, EvidenceDestroyed for a capture whose time is over, ValueError for both or
    neither."""
    if case is not None and capture is not None:
        raise ValueError("a raw read is of a case or of a capture")
    if actor.token is not None:
        raise PermissionDenied(reading.NO_PROGRAM)
    said = texts.kept(reason, cap=REASON_CAP, missing=MISSING, field="reason")
    of = reading.whole_of(case, capture)
    with transaction.atomic():
        lock_project(of.project)
        if not reading.begins(of, actor):
            raise PermissionDenied(reading.not_shown())
        if capture is not None:
            capture_ends.require_there(capture)
        now, minutes = timezone.now(), settings.REPLAYCASES_RAW_READ_MINUTES
        read = RawRead.objects.create(
            user=actor,
            project=of.project,
            case=case,
            capture=capture,
            reason=said,
            made_at=now,
            until=now + timedelta(minutes=minutes),
        )
        events.record(
            actor=actor,
            action="evidence.raw_read",
            subject=read,
            project=of.project,
            case=case,
            object_hash=reading.digest_of(of),
            after={"of": of.readable_id, "reason": said, "minutes": minutes},
        )
    return read


def lately(case: Case) -> QuerySet[RawRead]:
    """Who read the raw evidence of the case, the newest first."""
    return RawRead.objects.filter(case=case).select_related("user").order_by("-made_at")


def last_reason(user: User, of: Case | Capture) -> str:
    """What the user said the last time that they read it, "" for the first time."""
    said = RawRead.objects.filter(user=user, **reading.as_field(of)).order_by("-made_at")
    return said.values_list("reason", flat=True).first() or ""
