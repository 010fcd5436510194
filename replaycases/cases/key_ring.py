"""The keys under which data keys of raw evidence are wrapped: kept outside the database, and forgotten hour by hour.

A backup of the database holds wrapped data keys and sealed bytes. If the ring could open them for ever, destroying
evidence would leave it readable in every backup. So each ring key is a chain of hours: the key of an hour and the link
to the next hour are made of the same secret by a one-way function (HKDF, RFC 5869, SHA-256), and the ring keeps only
the secret of the present hour. From it every later hour can be made and no earlier one. Evidence is wrapped under the
hour in which it ends; once that hour has passed and the ring has moved on, nobody opens it any more, from any copy.
"""

from __future__ import annotations

import base64
import fcntl
import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
# 90 days of evidence and a good deal more: a chain is walked no further.
LONGEST_WALK = 24 * 366


class KeyMissing(Exception):
    """The ring has no key of this name, or has forgotten the hour: what was sealed under it is gone."""


class SealBroken(Exception):
    """What is opened is not what was sealed: other bytes, another place, or another key."""


class RingInvalid(Exception):
    """The key ring cannot be read or written. The message names the file: it is for logs and administrators."""


@dataclass(frozen=True, kw_only=True)
class RingKey:
    """`secret` is that of `hour` (whole hours since 1970, UTC); earlier ones are forgotten."""

    id: str
    hour: int
    secret: bytes
    # By hour, what was walked to: kept as long as the secret itself is, and no longer.
    _wrapping: dict[int, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, hour: int) -> bytes:
        """The wrapping key of that hour. Raises KeyMissing for a forgotten one and one more than a year away."""
        if not self.hour <= hour <= self.hour + LONGEST_WALK:
            raise KeyMissing(f"key {self.id} opens nothing of that hour any more")
        if hour not in self._wrapping:
            self._wrapping[hour] = _expand(self.at(hour).secret, b"wrap")
        return self._wrapping[hour]

    def at(self, hour: int) -> RingKey:
        """The same chain with what comes before `hour` forgotten."""
        secret = self.secret
        for _ in range(self.hour, hour):
            secret = _expand(secret, b"next")
        return replace(self, hour=max(hour, self.hour), secret=secret)


@dataclass(frozen=True, kw_only=True)
class KeyRing:
    """Keys by id, the newest last: new data keys are wrapped under that one."""

    keys: tuple[RingKey, ...]

    def wrap(self, data_key: bytes, *, hour: int, context: bytes) -> tuple[str, bytes]:
        """(the ring key's id, the wrapped data key)."""
        current = self.keys[-1]
        return current.id, bytes(seal(current.of(hour), data_key, context=context))

    def at(self, hour: int) -> KeyRing:
        """The same keys with what comes before `hour` forgotten."""
        return KeyRing(keys=tuple(key.at(hour) for key in self.keys))

    def unwrap(self, wrapped: bytes, *, key_id: str, hour: int, context: bytes) -> bytes:
        """Raises KeyMissing, SealBroken."""
        found = next((key for key in self.keys if key.id == key_id), None)
        if found is None:
            raise KeyMissing(f"the key ring has no key {key_id}")
        return open_seal(found.of(hour), wrapped, context=context)


def seal(key: bytes, plain: bytes, *, context: bytes) -> bytearray:
    """AES-256-GCM: a random nonce, the ciphertext, the tag; `context` is authenticated with them. In one place of that
    length, and no copy beside it."""
    nonce, end = secrets.token_bytes(NONCE_BYTES), NONCE_BYTES + len(plain)
    sealed = bytearray(end + TAG_BYTES)
    sealed[:NONCE_BYTES] = nonce
    encryptor = Cipher(algorithms.AES256(key), modes.GCM(nonce)).encryptor()
    encryptor.authenticate_additional_data(context)
    encryptor.update_into(plain, memoryview(sealed)[NONCE_BYTES:])
    encryptor.finalize()
    sealed[end:] = encryptor.tag
    return sealed


def open_seal(key: bytes, sealed: bytes | bytearray | memoryview, *, context: bytes) -> bytes:
    """Raises SealBroken."""
    try:
        return AESGCM(key).decrypt(bytes(sealed[:NONCE_BYTES]), memoryview(sealed)[NONCE_BYTES:], context)
    except (InvalidTag, ValueError):
        raise SealBroken("sealed evidence was changed, moved, or sealed under another key") from None


def hour_of(instant: datetime) -> int:
    return int(instant.timestamp()) // 3600


def new_key(now: datetime) -> RingKey:
    day = now.astimezone(UTC).strftime("%Y%m%d")
    secret = secrets.token_bytes(KEY_BYTES)
    return RingKey(id=f"{day}-{secrets.token_hex(4)}", hour=hour_of(now), secret=secret)


class RingFile:
    """A ring in a JSON file that only its owner reads; several processes may hold it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], KeyRing] | None = None

    def ring(self) -> KeyRing:
        """What the file holds now. Raises RingInvalid."""
        read = self._read  # another thread may write meanwhile
        try:
            file = self.path.stat()
            stamp = (file.st_mtime_ns, file.st_ino, file.st_size)
            if read is None or read[0] != stamp:
                read = self._read = (stamp, parse(self.path.read_text(encoding="ascii")))
        except (OSError, UnicodeDecodeError) as fault:
            raise RingInvalid(f"the key ring {self.path} cannot be read: {fault.__class__.__name__}") from None
        return read[1]

    def is_there(self) -> bool:
        """Also where it cannot be looked at: who reads it is told."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        except OSError:
            pass
        return True

    def create(self, now: datetime) -> None:
        """Make the file with one key if there is none."""
        with self._locked():
            if not self.is_there():
                self._write(KeyRing(keys=(new_key(now),)))

    def add(self, now: datetime) -> RingKey:
        """A new key, under which data keys are wrapped from now on."""
        added = new_key(now)
        with self._locked():
            self._write(KeyRing(keys=(*self.ring().keys, added)))
        return added

    def drop(self, key_id: str) -> None:
        """Destroy a key that is not the current one: what is still wrapped under it is gone."""
        with self._locked():
            ring = self.ring()
            if ring.keys[-1].id == key_id:
                raise ValueError("the current key is not dropped")
            self._write(KeyRing(keys=tuple(key for key in ring.keys if key.id != key_id)))

    def forget(self, now: datetime) -> bool:
        """Destroy what opens hours before the present one. Whether there was any."""
        hour = hour_of(now)
        if all(key.hour >= hour for key in self.ring().keys):
            return False
        with self._locked():
            self._write(self.ring().at(hour))
        return True

    @contextmanager
    def alone(self) -> Iterator[None]:
        """For a rotation, of which there is one at a time. Raises RingInvalid while there is another one."""
        with self._lock_file("rotation") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RingInvalid("another rotation of its keys is at work") from None
            yield

    def _write(self, ring: KeyRing) -> None:
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(dump(ring))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
            self._keep_folder()
        except OSError as fault:
            raise self._unwritten(fault) from None
        self._read = None

    def _keep_folder(self) -> None:
        """A name that is not on the disk yet would be the former ring's after a power cut: what was sealed meanwhile
        would be lost, and what was forgotten would be back."""
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock_file("lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _lock_file(self, kind: str) -> TextIO:
        try:
            return self.path.with_name(f"{self.path.name}.{kind}").open("a", encoding="ascii")
        except OSError as fault:
            raise self._unwritten(fault) from None

    def _unwritten(self, fault: OSError) -> RingInvalid:
        return RingInvalid(f"the key ring {self.path} cannot be written: {fault.__class__.__name__}")


def parse(text: str) -> KeyRing:
    """Raises RingInvalid."""
    try:
        keys = tuple(
            RingKey(id=key["id"], hour=int(key["hour"]), secret=base64.b64decode(key["secret"], validate=True))
            for key in json.loads(text)["keys"]
        )
    except (ValueError, KeyError, TypeError):
        raise RingInvalid("the key ring is not {keys: [{id, hour, secret}]}") from None
    if not keys or any(len(key.secret) != KEY_BYTES for key in keys) or len({key.id for key in keys}) != len(keys):
        raise RingInvalid(f"a key ring holds at least one key of {KEY_BYTES} bytes, each id once")
    return KeyRing(keys=keys)


def dump(ring: KeyRing) -> str:
    keys = [{"id": key.id, "hour": key.hour, "secret": base64.b64encode(key.secret).decode()} for key in ring.keys]
    return json.dumps({"keys": keys}, indent=1) + "\n"


def _expand(secret: bytes, purpose: bytes) -> bytes:
    """HKDF-Expand to one block: the secret is a uniform key already, so nothing is extracted first."""
    return hmac.digest(secret, purpose + b"\x01", "sha256")
