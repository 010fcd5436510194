"""As whom the confined process runs: as oneself, or as an unprivileged user when the supervisor is root."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypedDict

NOBODY = 65534


class PopenIdentity(TypedDict, total=False):
    """The keyword arguments of subprocess.Popen that change the user."""

    user: int
    group: int
    extra_groups: list[int]


def confined_uid() -> int:
    """The uid of the confined process as seen outside."""
    return NOBODY if os.geteuid() == 0 else os.geteuid()


def other_uid() -> int | None:
    """Whom a process must become to be confined: None to stay oneself."""
    return NOBODY if os.geteuid() == 0 else None


def popen_identity() -> PopenIdentity:
    """Root keeps no part of its rights: with them a read-only bind of / would still show /etc/shadow."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def open_to_sandbox(tree: Path) -> None:
    """Let the confined uid read `tree`: files a+r, directories a+rx, what is executable a+x. Links are not followed.

    Does nothing unless root runs it. The parents of `tree` are left alone and must be searchable by others.
    """
    if os.geteuid() != 0:
        return
    for folder, _, files in os.walk(tree):
        _add_mode(Path(folder), 0o555)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                _add_mode(path, 0o555 if path.stat().st_mode & 0o100 else 0o444)


def _add_mode(path: Path, mode: int) -> None:
    path.chmod(path.stat().st_mode & 0o7777 | mode)
