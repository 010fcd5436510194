from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.cases import archives
from replaycases.replay.tree import TreeLimits

SMALL = TreeLimits(files=5, bytes=1000)


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def named(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def zipped(*members: tuple[str, bytes], mode: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


def by_tar(name: str) -> bytes:
    return tar((named(name), b"x"))


def by_zip(name: str) -> bytes:
    return zipped((name, b"x"))


OUTSIDE = ["../x", "/etc/x", "a/../../x", "a\\..\\x", "C:x", "..", "a/.."]


@pytest.mark.parametrize("make", [by_tar, by_zip])
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_is_no_plain_relative_path_is_refused(
    tmp_path: Path, make: Callable[[str], bytes], name: str
) -> None:
    target = tmp_path / "in"
    target.mkdir()
    with pytest.raises(archives.ArchiveInvalid, match="plain relative path"):
        archives.unpack(make(name), target, limits=SMALL)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(archives.ArchiveInvalid, match="only files and folders"):
        archives.unpack(tar((named("x", kind, "/etc/passwd"), b"")), tmp_path, limits=SMALL)


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(archives.ArchiveInvalid, match="only files and folders"):
        archives.unpack(zipped(("x", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), tmp_path, limits=SMALL)


@pytest.mark.parametrize(
    "data",
    [
        tar((named("x"), b"0" * 2000)),
        zipped(("x", b"0" * 2000)),
        tar(*[(named(f"x{n}"), b"0" * 300) for n in range(4)]),
        gzip.compress(b"\0" * 10_000_000),
    ],
    ids=["one file", "one file in a zip", "together", "a gzip bomb"],
)
def test_more_bytes_than_allowed_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(archives.ArchiveInvalid, match="bytes"):
        archives.unpack(data, tmp_path, limits=SMALL)


@pytest.mark.parametrize(
    "data", [tar(*[(named(f"{n}"), b"") for n in range(6)]), zipped(*[(f"{n}", b"") for n in range(6)])]
)
def test_more_members_than_allowed_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(archives.ArchiveInvalid, match="members"):
        archives.unpack(data, tmp_path, limits=SMALL)


def test_a_name_that_stands_in_the_archive_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(archives.ArchiveInvalid, match="twice"):
        archives.unpack(tar((named("x"), b"1"), (named("./x"), b"2")), tmp_path, limits=SMALL)


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x03\x04", b"\x1f\x8b", tar((named("x"), b"x"))[:-20], b"hello", zipped(("x", b"x"))[:-5]],
    ids=["nothing", "begins as a zip", "begins as gzip", "cut tar", "text", "cut zip"],
)
def test_what_is_no_whole_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(archives.ArchiveInvalid):
        archives.unpack(data, tmp_path, limits=SMALL)


@given(st.binary(max_size=200))
def test_garbage_is_refused_and_never_crashes(tail: bytes) -> None:
    for head in (b"\x1f\x8b\x08\x00", b"PK\x03\x04", gzip.compress(tail)):
        with pytest.raises(archives.ArchiveInvalid):
            archives.unpack(head + tail, Path(os.devnull), limits=SMALL)


def test_what_was_packed_comes_out_again_and_packs_to_the_same_bytes(tmp_path: Path) -> None:
    files = {"a/b.py": (b"print()", False), "run": (b"#!/bin/sh", True)}
    archives.unpack(archives.pack(files), tmp_path, limits=SMALL)
    assert (tmp_path / "a/b.py").read_bytes() == b"print()"
    assert (tmp_path / "run").stat().st_mode & stat.S_IXUSR
    assert archives.pack(dict(reversed(files.items()))) == archives.pack(files)
