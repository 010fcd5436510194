"""Bytes on their way in: written to a file without a name as they come, counted and hashed, and read once.

A file that has no name is gone with its process, however that ends: nothing of raw evidence is left in a temporary
folder.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from replaycases.cases.evidence import EvidenceTooLarge

IN_MEMORY = 1024 * 1024
PIECE = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """What came, whole. `digest` is "sha256:…" of exactly these bytes."""

    file: IO[bytes]
    size: int
    digest: str

    def read(self) -> bytes:
        self.file.seek(0)
        return self.file.read()


def announced(head: Mapping[str, Any]) -> int | None:
    """The length of a body that the head of its request (WSGI's names) announces; None where it is no number."""
    said = str(head.get("CONTENT_LENGTH") or "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else None


class _Nameless(tempfile.SpooledTemporaryFile[bytes]):
    def __del__(self) -> None:
        """Whoever lets it go last need not say so."""
        self.close()


def spool() -> IO[bytes]:
    """Where bytes are written that come in: in memory while they are few."""
    return _Nameless(max_size=IN_MEMORY)


def received(pieces: Iterable[bytes], *, most: int) -> Incoming:
    """Raises EvidenceTooLarge once there are more bytes than `most`; no more are read then."""
    file, size, hashed = spool(), 0, hashlib.sha256()
    for piece in pieces:
        size += len(piece)
        if size > most:
            file.close()
            raise EvidenceTooLarge(f"There are more than {most} bytes, the most that is kept.")
        hashed.update(piece)
        file.write(piece)
    return Incoming(file=file, size=size, digest=f"sha256:{hashed.hexdigest()}")


def held(file: IO[bytes]) -> Incoming:
    """A file that came whole already."""
    file.seek(0)
    size, hashed = 0, hashlib.sha256()
    for piece in pieces(file):
        size += len(piece)
        hashed.update(piece)
    return Incoming(file=file, size=size, digest=f"sha256:{hashed.hexdigest()}")


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece
