"""Implementation archives: an upload is unpacked as hostile, and packed again to exactly what will be mounted."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from replaycases.replay.tree import TREE_LIMITS, TreeLimits

CHUNK = 1 << 20
# Tar headers and padding stand beside the content: 4 KiB a member leaves room for long names.
_TAR_OVERHEAD = 4096

_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


class ArchiveInvalid(Exception):
    """The archive is refused. The message names the member and says what to do."""


@dataclass(frozen=True, kw_only=True)
class _Member:
    name: str
    folder: bool
    executable: bool
    size: int


def unpack(data: bytes, target: Path, *, limits: TreeLimits = TREE_LIMITS) -> None:
    """Unpack a .zip or .tar.gz into `target`: regular files and folders with plain relative paths, within the limits
    on count and unpacked bytes. Raises ArchiveInvalid; what was written by then is the caller's to remove."""
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            _unpack_zip(data, target, limits)
        elif data.startswith(b"\x1f\x8b"):
            _unpack_tar(data, target, limits)
        else:
            raise ArchiveInvalid("neither a .zip nor a .tar.gz archive")
    except _DAMAGED as error:
        raise ArchiveInvalid(
            f"the archive is damaged or uses an unsupported feature ({type(error).__name__})"
        ) from None


def _unpack_zip(data: bytes, target: Path, limits: TreeLimits) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        budget = _Budget(limits)
        for info in archive.infolist():
            mode = info.external_attr >> 16
            kind = stat.S_IFMT(mode)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _special(info.filename)
            member = _Member(
                name=info.filename, folder=info.is_dir(), executable=bool(mode & stat.S_IXUSR), size=info.file_size
            )
            budget.spend(member)
            with archive.open(info) as source:
                _write(target, member, source)


def _unpack_tar(data: bytes, target: Path, limits: TreeLimits) -> None:
    with _inflated(data, limits) as plain, tarfile.open(fileobj=plain, mode="r:") as archive:
        budget = _Budget(limits)
        for info in _members(archive):
            if not (info.isreg() or info.isdir()):
                raise _special(info.name)
            member = _Member(
                name=info.name, folder=info.isdir(), executable=bool(info.mode & stat.S_IXUSR), size=info.size
            )
            budget.spend(member)
            source = io.BytesIO() if member.folder else archive.extractfile(info)
            if source is None:
                raise _special(info.name)
            _write(target, member, source)


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """One by one: `getmembers` would read every header before the first count."""
    while (info := archive.next()) is not None:
        yield info


@contextmanager
def _inflated(data: bytes, limits: TreeLimits) -> Iterator[IO[bytes]]:
    """The tar inside the gzip, on disk and capped before anything in it is believed."""
    cap = limits.bytes + limits.files * _TAR_OVERHEAD + tarfile.RECORDSIZE
    with tempfile.TemporaryFile() as plain:
        written = 0
        with gzip.open(io.BytesIO(data)) as source:
            while block := source.read(CHUNK):
                written += len(block)
                if written > cap:
                    raise ArchiveInvalid(f"unpacks to more than {limits.bytes} bytes; leave out what is not needed")
                plain.write(block)
        plain.seek(0)
        yield plain


class _Budget:
    """Counts members and declared bytes, and refuses names that are met twice."""

    def __init__(self, limits: TreeLimits) -> None:
        self.limits, self.count, self.bytes = limits, 0, 0

    def spend(self, member: _Member) -> None:
        self.count += 1
        self.bytes += member.size
        if self.count > self.limits.files:
            raise ArchiveInvalid(f"more than {self.limits.files} members; leave out what is not needed")
        if self.bytes > self.limits.bytes:
            raise ArchiveInvalid(f"unpacks to more than {self.limits.bytes} bytes; leave out what is not needed")


def _special(name: str) -> ArchiveInvalid:
    return ArchiveInvalid(f"{name!a}: only files and folders are unpacked; replace the link or device by a copy")


def _write(target: Path, member: _Member, source: IO[bytes]) -> None:
    place = target.joinpath(*_parts(member.name))
    if member.folder:
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
        return
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    try:
        file = place.open("xb")
    except FileExistsError:
        raise ArchiveInvalid(f"{member.name!a}: stands in the archive twice") from None
    with file:
        left = member.size
        while block := source.read(CHUNK):
            left -= len(block)
            if left < 0:
                raise ArchiveInvalid(f"{member.name!a}: is larger than the archive says")
            file.write(block)
    place.chmod(0o755 if member.executable else 0o644)


def _parts(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or ":" in name[:3]:
        raise ArchiveInvalid(f"{name!a}: not a plain relative path; pack the folder's content with / separators")
    return path.parts


def pack(files: dict[str, tuple[bytes, bool]]) -> bytes:
    """A .tar.gz of {path: (content, executable)}, the same bytes for the same content whenever and wherever it is
    made."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(files):
            content, executable = files[path]
            info = tarfile.TarInfo(path)
            info.size = len(content)
            info.mode = 0o755 if executable else 0o644
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
