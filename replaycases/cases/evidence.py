"""Bytes of evidence: stored once under their digest, checked at every read."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime

from django.conf import settings

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import READS_QUARANTINED_EVIDENCE
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
    """The payload that holds exactly these bytes; made if the project has none yet. Bytes that are there already keep
    their classification and expiry: storing them again never loosens either."""
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
    return Payload.objects.defer("body").get(project=project, digest=payload.digest)


def read(payload: Payload) -> bytes:
    """The bytes, or EvidenceDamaged if they no longer have their digest."""
    data = bytes(payload.body)
    if digest_of(data) != payload.digest:
        raise EvidenceDamaged(f"payload {payload.pk} no longer has its digest; restore it from a backup")
    return data


def digest_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def readable_by(payload: Payload, user: User) -> bool:
    """Whether the user may see these bytes: every member may see what is redacted or public; quarantined evidence,
    and what was made from it, needs a role that reads raw evidence."""
    roles = access.roles_of(user, payload.project)
    if payload.classification == Classification.QUARANTINED:
        return not roles.isdisjoint(READS_QUARANTINED_EVIDENCE)
    return bool(roles)


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str, *, cap: int) -> str:
    """Text from an untrusted process as a database column can hold it: control characters and lone surrogates as
    visible escapes (PostgreSQL refuses NUL), cut to `cap` characters with a note of how many were left out."""
    shown = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    if len(shown) <= cap:
        return shown
    return f"{shown[:cap]}\n[{len(shown) - cap} more characters]"
