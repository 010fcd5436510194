"""Bytes of evidence: stored once under their digest, checked at every read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.cases import payload_bodies, sealing
from replaycases.cases.key_ring import KeyMissing, SealBroken
from replaycases.cases.models import Classification, Payload

JSON_TYPE = "application/json"
MANIFEST_TYPE = "application/vnd.replaycases.manifest+json"
VERDICT_TYPE = "application/vnd.replaycases.verdict+json"
ARCHIVE_TYPE = "application/gzip"


class EvidenceDamaged(Exception):
    """The stored bytes are not those that were stored."""


class EvidenceDestroyed(Exception):
    """The bytes were raw evidence, and their time is over. The message may be shown."""


class EvidenceTooLarge(Exception):
    """More bytes than a payload may have."""


def store(
    project: Project,
    data: bytes,
    *,
    media_type: str,
    classification: Classification = Classification.QUARANTINED,
    expires_at: datetime | None = None,
) -> Payload:
    """The payload that holds exactly these bytes; made if the project has none yet. The same bytes are the same
    evidence whoever brings them: storing them again tightens what is there, never loosens it. The more restricted
    classification and the earlier expiry hold (no expiry is the latest), unless a reviewer approved exactly these bytes
    as redacted. Their media type stays as it was. Quarantined bytes are sealed, and have an end: ValueError without
    one, EvidenceDestroyed where it has passed. A row whose bytes were destroyed stays as it is: who brings the same
    bytes anew makes another one, which no earlier case reads."""
    if len(data) > settings.MAX_UPLOAD_BYTES:
        raise EvidenceTooLarge(f"{len(data)} bytes; at most {settings.MAX_UPLOAD_BYTES} are kept")
    if classification == Classification.QUARANTINED and expires_at is not None and expires_at <= timezone.now():
        raise EvidenceDestroyed(OVER)
    payload = Payload(
        project=project,
        digest=digest_of(data),
        size=len(data),
        media_type=media_type,
        classification=classification,
        expires_at=expires_at,
        body=data,
    )
    with transaction.atomic():
        kept = _there(payload)
        if kept is None:
            if classification == Classification.QUARANTINED:
                sealing.seal(payload, data)
            # Two writers of the same bytes may meet here: the second one's row is dropped, not refused.
            Payload.objects.bulk_create([payload], ignore_conflicts=True)
            kept = _there(payload)
            assert kept is not None
        if kept.pk != payload.pk and kept.released_at is None:
            _tighten(kept, data, classification, expires_at)
        sealing.require_known(kept)
    return kept


def _there(payload: Payload) -> Payload | None:
    found = Payload.objects.filter(project=payload.project, digest=payload.digest, purged_at=None)
    return found.select_for_update().defer("body").first()


def _tighten(kept: Payload, data: bytes, classification: Classification, expires_at: datetime | None) -> None:
    if is_gone(kept):
        raise EvidenceDestroyed(destroyed(kept))
    strictest = min(Classification(kept.classification), classification, key=list(Classification).index)
    ends = min((at for at in (kept.expires_at, expires_at) if at is not None), default=None)
    if (strictest, ends) == (kept.classification, kept.expires_at):
        return
    kept.classification, kept.expires_at = strictest, ends
    if kept.data_key is not None:
        with _opens(kept):
            sealing.rewrap(kept)
    elif strictest == Classification.QUARANTINED:
        sealing.seal(kept, data)
    kept.save()


def lengthen(payload: Payload, until: datetime) -> bool:
    """Move the end of raw evidence to a later time, so that it can be opened until then. Whether it was moved: what has
    ended stays ended."""
    return _move_end(payload, until, later=True)


def shorten(payload: Payload, until: datetime) -> bool:
    """Move it to an earlier one, after which nothing opens it, on no backup either. Whether it was moved."""
    return _move_end(payload, until, later=False)


def _move_end(payload: Payload, until: datetime, *, later: bool) -> bool:
    kept = Payload.objects.select_for_update().defer("body").get(pk=payload.pk)
    ends = kept.expires_at
    if kept.data_key is None or ends is None or ends == until or (ends < until) != later or is_gone(kept):
        return False
    kept.expires_at = until
    with _opens(kept):
        _rewrap(kept)
    return True


def rewrap(payload: Payload) -> bool:
    """Wrap its data key under the ring's current key. Whether it was done: what opens no more is left to be destroyed.
    Raises SealBroken."""
    kept = Payload.objects.select_for_update().defer("body").get(pk=payload.pk)
    if kept.data_key is None or is_gone(kept):
        return False
    try:
        _rewrap(kept)
    except KeyMissing:
        return False
    return True


def _rewrap(kept: Payload) -> None:
    sealing.rewrap(kept)
    kept.save(update_fields=["expires_at", "key_id", "key_hour", "data_key"])
    sealing.require_known(kept)


def destroy(payload: Payload) -> None:
    """Body and data key are gone for good; what is left is the receipt. The caller, `cases.purging`, has locked the row
    and seen that its time is over."""
    payload.body, payload.data_key, payload.purged_at = b"", None, timezone.now()
    payload.save(update_fields=["body", "data_key", "purged_at"])


def release(payloads: Q) -> None:
    """These bytes are redacted evidence from now on: not sealed any more, and without an end."""
    for payload in Payload.objects.select_for_update().filter(payloads, classification=Classification.QUARANTINED):
        if is_gone(payload):
            raise EvidenceDestroyed(destroyed(payload))
        with _opens(payload):
            sealing.unseal(payload)
        payload.classification = Classification.REDACTED
        payload.save()
    Payload.objects.filter(payloads).update(released_at=timezone.now(), expires_at=None)


def discard(payloads: Iterable[UUID]) -> None:
    """Destroy bytes of which nobody made anything, with their rows: nothing tells of them any more. A
    receipt stays. Raises ProtectedError for those that something refers to."""
    Payload.objects.filter(pk__in=list(payloads), purged_at=None).defer("body").delete()


def read(payload: Payload) -> bytes:
    """The bytes. Raises EvidenceDamaged if they no longer have their digest or cannot be opened, EvidenceDestroyed once
    their time is over."""
    if is_gone(payload):
        raise EvidenceDestroyed(destroyed(payload))
    try:
        with _opens(payload):
            data = bytes(payload_bodies.of(payload)) if payload.data_key is None else sealing.opened(payload)
        if digest_of(data) != payload.digest:
            raise EvidenceDamaged(f"payload {payload.pk} no longer has its digest; restore it from a backup")
    except EvidenceDamaged:
        _require_not_gone_meanwhile(payload)
        raise
    return data


def _require_not_gone_meanwhile(payload: Payload) -> None:
    """A row that was loaded before its bytes were destroyed, and its bytes after that."""
    now = Payload.objects.filter(pk=payload.pk).defer("body", "data_key").first()
    if now is not None and now.purged_at is not None:
        raise EvidenceDestroyed(destroyed(now)) from None


@contextmanager
def _opens(payload: Payload) -> Iterator[None]:
    """What does not open is damaged, whatever it is opened for."""
    try:
        yield
    except SealBroken:
        raise EvidenceDamaged(f"payload {payload.pk} does not open: it was changed; restore it from a backup") from None
    except KeyMissing:
        raise EvidenceDamaged(f"payload {payload.pk} does not open: its key is not in the key ring") from None


OVER = "This raw evidence is past its time and is opened no more."


def is_gone(payload: Payload) -> bool:
    """Whether it is opened no more: its time is over, whether its bytes are destroyed yet or not."""
    over = payload.data_key is not None and payload.expires_at is not None and payload.expires_at <= timezone.now()
    return payload.purged_at is not None or over


def gone() -> Q:
    """The same of each payload, for a query."""
    return Q(purged_at__isnull=False) | Q(data_key__isnull=False, expires_at__lte=timezone.now())


def destroyed(payload: Payload) -> str:
    """What is said in place of bytes whose time was over."""
    at = payload.purged_at
    if at is None:
        return OVER
    return f"Raw evidence of {payload.size} bytes was destroyed on {at:%-d %b %Y} UTC, when its time was over."


def digest_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str, *, cap: int | None = None) -> str:
    """Text from an untrusted process as a database column can hold it: control characters and lone surrogates as
    visible escapes (PostgreSQL refuses NUL), cut to `cap` characters with a note of how many were left out."""
    shown = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    if cap is None or len(shown) <= cap:
        return shown
    return f"{shown[:cap]}\n[{len(shown) - cap} more characters]"
