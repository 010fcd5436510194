"""Raw evidence at rest: each payload under a data key of its own, which is wrapped under the key ring's.

`Payload.body` is sealed together with the payload's id, project and digest, so that a row whose bytes were swapped with
another's does not open. Called by `cases.evidence` only.
"""

from __future__ import annotations

import secrets
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.utils import timezone

from replaycases.cases import key_ring, payload_bodies
from replaycases.cases.key_ring import KeyMissing, KeyRing, RingFile, RingInvalid
from replaycases.cases.models import Payload


class Sealable(Protocol):
    """A payload, of this version of the code or of a migration."""

    pk: Any
    project_id: Any
    digest: str
    expires_at: Any
    key_id: str
    key_hour: int | None
    data_key: Any
    body: Any

    def get_deferred_fields(self) -> set[str]: ...


def seal(payload: Sealable, plain: bytes) -> None:
    """Set `body` and what opens it; the caller saves. Evidence that is sealed has an end: `expires_at`."""
    data_key = secrets.token_bytes(key_ring.KEY_BYTES)
    payload.body = key_ring.seal(data_key, plain, context=_context(payload))
    _wrap(payload, data_key)


def opened(payload: Sealable) -> bytes:
    """The plain bytes of a sealed payload. Raises KeyMissing once its time has passed, SealBroken, RingInvalid."""
    return key_ring.open_seal(_data_key(payload), payload_bodies.of(payload), context=_context(payload))


def rewrap(payload: Sealable) -> None:
    """Wrap its data key under the ring's current key and the hour of its end as that is now; the caller saves."""
    _wrap(payload, _data_key(payload))


def unseal(payload: Sealable) -> None:
    """Keep the plain bytes from now on, for evidence that is raw no more; the caller saves."""
    payload.body = opened(payload)
    payload.key_id, payload.key_hour, payload.data_key = "", None, None


def require_known(payload: Sealable) -> None:
    """After it was written: raise RingInvalid if the key that it is wrapped under left the ring meanwhile, so that the
    transaction that wrote it is rolled back. Who drops a key holds up writers, looks, and drops it then."""
    if payload.data_key is not None and payload.key_id not in {key.id for key in ring().keys}:
        raise RingInvalid("the key ring was changed in this moment: try again")


def ring() -> KeyRing:
    """The key ring as it is now. Raises RingInvalid."""
    if settings.EVIDENCE_KEYS:
        return _from_environment(settings.EVIDENCE_KEYS, key_ring.hour_of(timezone.now()))
    return file().ring()


def file() -> RingFile:
    """The ring's file, made at the first start where the settings say so. Raises RingInvalid where the ring stands in
    the environment: it cannot be changed from here."""
    if settings.EVIDENCE_KEYS:
        raise RingInvalid("the key ring stands in REPLAYCASES_EVIDENCE_KEYS and cannot be changed: use a file")
    found = _file(Path(settings.EVIDENCE_KEYS_FILE))
    if settings.EVIDENCE_KEYS_MADE and not found.is_there() and not _any_sealed():
        found.create(timezone.now())
    return found


def _any_sealed() -> bool:
    """A ring that is gone is not replaced in silence: put back in time it opens what it sealed. A rotation makes a new
    one where it is lost for good."""
    return Payload.objects.filter(data_key__isnull=False).exists()


def forget() -> bool:
    """Destroy what opens evidence whose time has passed, also in backups. Whether there was any; a ring in the
    environment cannot forget."""
    return not settings.EVIDENCE_KEYS and file().forget(timezone.now())


def _wrap(payload: Sealable, data_key: bytes) -> None:
    if payload.expires_at is None:
        raise ValueError("raw evidence is kept with an end, or not at all")
    payload.key_hour = key_ring.hour_of(payload.expires_at)
    try:
        payload.key_id, payload.data_key = ring().wrap(data_key, hour=payload.key_hour, context=_context(payload))
    except KeyMissing as hour:
        raise RingInvalid(f"{hour}: the clock that moved the ring on, or this host's, is wrong") from None


def _data_key(payload: Sealable) -> bytes:
    assert payload.key_hour is not None
    return ring().unwrap(
        bytes(payload.data_key), key_id=payload.key_id, hour=payload.key_hour, context=_context(payload)
    )


def _context(payload: Sealable) -> bytes:
    return f"{payload.pk}:{payload.project_id}:{payload.digest}".encode()


@lru_cache
def _file(path: Path) -> RingFile:
    return RingFile(path)


@lru_cache(maxsize=2)
def _from_environment(text: str, hour: int) -> KeyRing:
    """As it is in this hour: a text stays at the hour in which it was made, and no chain is walked for ever."""
    return key_ring.parse(text).at(hour)
