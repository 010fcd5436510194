"""Bytes of evidence: stored once under their digest, checked at every read."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime

from django.conf import settings
from django.db.models import Q

from replaycases.accounts.models import Project
from replaycases.cases.models import Classification, Payload

JSON_TYPE = "application/json"
MANIFEST_TYPE = "application/vnd.replaycases.manifest+json"
VERDICT_TYPE = "application/vnd.replaycases.verdict+json"
ARCHIVE_TYPE = "application/gzip"


class EvidenceDamaged(Exception):
    """The stored bytes are not those that were stored."""


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
    as redacted. Their media type stays as it was."""
    if len(data) > settings.MAX_UPLOAD_BYTES:
        raise EvidenceTooLarge(f"{len(data)} bytes; at most {settings.MAX_UPLOAD_BYTES} are kept")
    payload = Payload(
        project=project,
        digest=digest_of(data),
        size=len(data),
        media_type=media_type,
        classification=classification,
        expires_at=expires_at,
        body=data,
    )
    # Two writers of the same bytes may meet here: the second one's row is dropped, not refused.
    Payload.objects.bulk_create([payload], ignore_conflicts=True)
    kept = Payload.objects.filter(project=project, digest=payload.digest)
    kept.filter(classification__in=_looser(classification), released_at=None).update(classification=classification)
    if expires_at is not None:
        raw = kept.filter(Q(expires_at=None) | Q(expires_at__gt=expires_at), released_at=None)
        raw.update(expires_at=expires_at)
    return kept.defer("body").get()


def _looser(classification: Classification) -> list[Classification]:
    """Classification lists its values from the most restricted one on."""
    every = list(Classification)
    return every[every.index(classification) + 1 :]


def read(payload: Payload) -> bytes:
    """The bytes, or EvidenceDamaged if they no longer have their digest."""
    data = bytes(payload.body)
    if digest_of(data) != payload.digest:
        raise EvidenceDamaged(f"payload {payload.pk} no longer has its digest; restore it from a backup")
    return data


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
