"""The copy of an implementation that a sandbox may read: only what its digest covers, and proven to be that."""

from __future__ import annotations

import compileall
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from replaycases.replay.implementation import Implementation
from replaycases.replay.sandbox.identity import open_to_sandbox
from replaycases.replay.tree import CHUNK, Entry, open_file

HARNESS = Path(__file__).parents[1] / "harness"
HARNESS_PACKAGE = "replaycases_harness"


class StagingFailed(Exception):
    """The folder changed since it was hashed, or cannot be copied. The message names the file."""


@dataclass(frozen=True, kw_only=True)
class Staged:
    """What to mount: `workflow` is the copy of the tree, `harness` a folder that holds the package HARNESS_PACKAGE."""

    workflow: Path
    harness: Path


@contextmanager
def staged(implementation: Implementation) -> Iterator[Staged]:
    """Copies in a folder of their own, removed on leaving; the sandbox's user can read them.

    `workflow` holds the entries of `implementation` and nothing else, with the bytes that were hashed. The harness is
    copied too: where we are installed may be out of that user's reach. Raises StagingFailed.
    """
    root = Path(tempfile.mkdtemp(prefix="replaycases-"))
    try:
        copies = Staged(workflow=root / "workflow", harness=root / "harness")
        copies.workflow.mkdir()
        for entry in implementation.entries:
            _copy(entry, implementation.path, copies.workflow)
        _copy_harness(copies.harness / HARNESS_PACKAGE)
        open_to_sandbox(root)
        yield copies
    finally:
        shutil.rmtree(root)


def _copy_harness(target: Path) -> None:
    """With byte code for interpreters of our own version, which nobody may write where it is mounted."""
    target.mkdir(parents=True)
    for source in HARNESS.glob("*.py"):
        shutil.copy2(source, target)
    compileall.compile_dir(target, quiet=2)


def _copy(entry: Entry, source: Path, target: Path) -> None:
    place = target / entry.path
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        if entry.kind == "link":
            place.symlink_to(entry.target)
            return
        digest = _copy_bytes(source / entry.path, place)
        place.chmod(0o555 if entry.kind == "executable" else 0o444)
    except OSError as error:
        raise StagingFailed(f"{entry.path}: cannot be copied ({error.strerror or error}); load it again") from None
    if digest != entry.digest:
        raise StagingFailed(f"{entry.path}: changed since the implementation was loaded; load it again")


def _copy_bytes(source: Path, target: Path) -> str:
    """The digest of what was written, not of what is read at another time."""
    hashing = hashlib.sha256()
    with os.fdopen(open_file(source), "rb") as reader, target.open("xb") as writer:
        while chunk := reader.read(CHUNK):
            hashing.update(chunk)
            writer.write(chunk)
    return f"sha256:{hashing.hexdigest()}"
