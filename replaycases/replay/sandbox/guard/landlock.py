"""Landlock: allow reading some trees and writing one folder, and deny every other file (see landlock(7))."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from replaycases.replay.sandbox.guard import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
CREATE_RULESET_VERSION, RULE_PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FIRST_ABI_RIGHTS = (1 << 13) - 1
READ = EXECUTE | READ_FILE | READ_DIR
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
TCP = 0b11  # bind, connect; since ABI 4
SCOPES = 0b11  # abstract unix sockets, signals; since ABI 6


def abi() -> int:
    """The kernel's Landlock version. Raises OSError where it is not built in or not enabled at boot."""
    return kernel.syscall(CREATE_RULESET, None, 0, CREATE_RULESET_VERSION, what="Landlock")


def handled_rights(version: int) -> int:
    """Every file right that this version knows: what is handled and not allowed is denied."""
    return FIRST_ABI_RIGHTS | sum(
        right for right, since in ((REFER, 2), (TRUNCATE, 3), (IOCTL_DEV, 5)) if version >= since
    )


def restrict(*, readable: Iterable[str], devices: Iterable[str], writable: Iterable[str]) -> None:
    """Confine this process for good; it must have no_new_privs. Missing paths are passed over."""
    version = abi()
    handled = handled_rights(version)
    words = [handled, TCP, SCOPES][: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"{len(words)}Q", *words)
    ruleset = kernel.syscall(CREATE_RULESET, attributes, len(attributes), 0, what="Landlock ruleset")
    for paths, rights in (
        (readable, READ),
        (devices, READ_FILE | WRITE_FILE | TRUNCATE),
        (writable, handled & ~(MAKE_CHAR | MAKE_BLOCK)),
    ):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    kernel.syscall(RESTRICT_SELF, ruleset, 0, what="Landlock restriction")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        rights &= ON_FILES
    rule = struct.pack("=Qi", rights, fd)
    kernel.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0, what=f"Landlock rule for {path}")
    os.close(fd)
