"""HTTP bodies as recorders keep them: plain, compressed, in base64, parsed already, cut short.

What a body says of its own compression is tried only if its first bytes agree, since many recorders write down the
encoding and keep the decoded text. A body that does not unpack to its end keeps what came of it, and says so.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.pointer import ABSENT
from replaycases.importers.findings import refused
from replaycases.importers.foreign_file import LIMITS, MAX_BYTES
from replaycases.importers.mended import read_json

JSON = Any
MAX_RATIO = 200
_SMALL = 1024 * 1024
_SLICE = 64 * 1024
_GZIP = b"\x1f\x8b"
_NOT_READ = ("br", "zstd", "compress")


@dataclass(frozen=True, kw_only=True)
class Body:
    """One body. `data` are its bytes after decoding, `parsed` its value where the recorder kept that in their place;
    `fault` says in plain words why it is not whole, "" if it is."""

    data: bytes = b""
    parsed: JSON = ABSENT
    fault: str = ""

    @property
    def empty(self) -> bool:
        return not self.data and self.parsed in (ABSENT, None)

    @cached_property
    def json(self) -> JSON:
        """The value of a body that is JSON; ABSENT if it is none."""
        if self.parsed is not ABSENT:
            return _without_bytes(self.parsed)
        data = self.data.removeprefix(codecs.BOM_UTF8)
        if data.lstrip()[:1] not in (b"{", b"["):
            return ABSENT
        try:
            return read_json(data, limits=LIMITS)
        except FixtureInvalid:
            return ABSENT

    @property
    def text(self) -> str:
        """The body as text, whatever it is: for error pages that are no JSON."""
        return self.data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


@dataclass
class Unpacking:
    """What all bodies of one file may still unpack to, together. `source` points to the body at hand."""

    left: int = MAX_BYTES
    source: str = ""

    def spend(self, size: int, *, of: int, unpacked: int) -> None:
        self.left -= size
        if self.left < 0:
            raise self._bomb(f"the bodies of the file unpack to more than {MAX_BYTES // 1024 // 1024} MiB")
        if unpacked > _SMALL and unpacked > MAX_RATIO * of:
            raise self._bomb(f"a body unpacks to more than {MAX_RATIO} times its size")

    def _bomb(self, message: str) -> Exception:
        return refused("too-large", self.source, message, "Export one run at a time, without such bodies.")


def decoded(data: bytes, encoding: str, unpacking: Unpacking) -> Body:
    """The body behind its content encodings ("gzip", "gzip, br", ""). Raises ImportRefused for one that unpacks
    without end."""
    fault = ""
    for name in reversed([part.strip().lower() for part in encoding.split(",")]):
        data, fault = _unpacked(data, name, unpacking)
        if fault:
            break
    if not fault and data.startswith(_GZIP):
        data, fault = _inflated(data, 31, unpacking)
    return Body(data=data, fault=fault)


def _without_bytes(value: JSON) -> JSON:
    """A value that YAML held: bytes in it become the text that they spell, else base64."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict):
        return {name: _without_bytes(item) for name, item in value.items()}
    return [_without_bytes(item) for item in value] if isinstance(value, list) else value


def from_base64(text: str | bytes) -> tuple[bytes, str]:
    """The bytes and "", or what there is and why it is not whole."""
    try:
        return base64.b64decode(text, validate=False), ""
    except (binascii.Error, ValueError):
        return b"", "the body is not base64"


def _unpacked(data: bytes, name: str, unpacking: Unpacking) -> tuple[bytes, str]:
    if name in ("gzip", "x-gzip") and data.startswith(_GZIP):
        return _inflated(data, 31, unpacking)
    if name == "deflate" and data and not _is_text(data):
        return _inflated(data, 15 if data[0] & 0x0F == 8 else -15, unpacking)
    if name in _NOT_READ and not _is_text(data):
        return b"", f"the body is compressed with {name}, which is not read"
    return data, ""


def _is_text(data: bytes) -> bool:
    """Whether the recorder kept the decoded text beside the header that names its encoding."""
    try:
        head = data[:256].decode("utf-8")
    except UnicodeDecodeError as fault:
        return fault.start >= min(len(data), 252)
    return all(character.isprintable() or character in "\r\n\t\ufeff" for character in head)


def _inflated(data: bytes, window: int, unpacking: Unpacking) -> tuple[bytes, str]:
    """What zlib makes of it, member by member, and "" or why it stopped."""
    out, at = bytearray(), 0
    while at < len(data):
        engine = zlib.decompressobj(window)
        try:
            while at < len(data) and not engine.eof:
                piece = data[at : at + _SLICE]
                at += len(piece)
                while piece and not engine.eof:
                    got = engine.decompress(piece, _SMALL)
                    out += got
                    unpacking.spend(len(got), of=at, unpacked=len(out))
                    piece = engine.unconsumed_tail
        except zlib.error:
            return bytes(out), "the body is compressed and damaged"
        if not engine.eof:
            return bytes(out), "the body is compressed and breaks off"
        at -= len(engine.unused_data)
        if window != 31 or not data.startswith(_GZIP, at):
            break
    return bytes(out), ""
