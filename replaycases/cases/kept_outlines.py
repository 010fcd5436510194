"""Outlines in the form in which they are kept beside a capture: packed lines of JSON, the first for what made them.

They are of one version of the code that reads files and makes outlines, by the digest of that code: what another one
made is not read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from replaycases import fixture, importers

JSON = Any
MEDIA_TYPE = "application/vnd.replaycases.outlines"
_HERE = Path(__file__).parent
_MADE_BY = (_HERE / "outlines.py", _HERE / "plain_values.py", _HERE / "run_labels.py", Path(__file__))


def line(value: JSON) -> str:
    """ASCII, whatever is in it: half a surrogate pair in the name of a tool is kept as it is."""
    return json.dumps(value, separators=(",", ":"))


def packed(capture: UUID, lines: Sequence[str]) -> bytes:
    """Equal bytes for equal outlines of one capture, and of two captures never."""
    packer = zlib.compressobj(level=1)
    parts = [packer.compress(f"{each}\n".encode("ascii")) for each in (_head(capture), *lines)]
    return b"".join((*parts, packer.flush()))


def unpacked(capture: UUID, data: bytes) -> list[str] | None:
    """The lines; None where they are of another version or another capture."""
    head, *lines, _ = zlib.decompress(data).decode("ascii").split("\n")
    return lines if head == _head(capture) else None


def _head(capture: UUID) -> str:
    return line({"capture": str(capture), "made_by": made_by()})


@cache
def made_by() -> str:
    """The digest of the code of importers, fixtures and outlines."""
    folders = [Path(package.__path__[0]) for package in (importers, fixture)]
    files = [*_MADE_BY, *(path for folder in folders for path in sorted(folder.rglob("*.py")))]
    return sha256(b"\0".join(sha256(path.read_bytes()).digest() for path in files)).hexdigest()
