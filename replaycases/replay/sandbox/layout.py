"""What a confined process sees besides its mounts: the read-only system paths and the fixed environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from replaycases.replay.sandbox.base import Launch
from replaycases.replay.sandbox.guard.spec import PROTOCOL_FD
from replaycases.replay.sandbox.interpreter import interpreter_trees

PRIVATE = "/tmp"  # noqa: S108 - a tmpfs of the sandbox's own

# Not /usr as a whole: container images like to keep the application, with its settings, in /usr/src or /usr/local.
SYSTEM_PATHS = (
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share",
    "/usr/local/bin",
    "/usr/local/lib",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
)
# Prefixes of system interpreters: SYSTEM_PATHS hold what they need of them.
SYSTEM_PREFIXES = ("/", "/usr", "/usr/local")
ROOT_PATHS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")


@cache
def system_trees() -> tuple[str, ...]:
    """The system paths of this machine that are there and are no links from the root."""
    candidates = [*SYSTEM_PATHS, *(path for path in ROOT_PATHS if not os.path.islink(path))]
    return tuple(path for path in candidates if os.path.exists(path))


@cache
def root_links() -> tuple[tuple[str, str], ...]:
    """(link, its text) for the links in the root of a merged /usr, such as ("/bin", "usr/bin")."""
    return tuple((path, os.readlink(path)) for path in ROOT_PATHS if os.path.islink(path))


def read_only_trees(launch: Launch) -> Iterator[tuple[Path, str]]:
    """(source, target) of every tree the program may read, system paths excluded, outermost first."""
    trees = [(mount.source.absolute(), mount.target) for mount in launch.mounts]
    if launch.interpreter is not None:
        trees += [(tree, str(tree)) for tree in interpreter_trees(launch.interpreter) if not _is_system(tree)]
    yield from sorted(trees, key=lambda tree: len(Path(tree[1]).parts))


def _is_system(tree: Path) -> bool:
    return str(tree) in SYSTEM_PREFIXES or any(tree.is_relative_to(path) for path in system_trees())


def environment(launch: Launch, *, private: str) -> dict[str, str]:
    """The whole environment of the program: nothing is inherited. `private` is its own writable folder."""
    path = "/usr/local/bin:/usr/bin:/bin"
    if launch.interpreter is not None:
        path = f"{launch.interpreter.parent}:{path}"
    fixed = {
        "PATH": path,
        "LANG": "C.UTF-8",
        "HOME": private,
        "TMPDIR": private,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
    return fixed | dict(launch.env) | {"REPLAYCASES_FD": str(PROTOCOL_FD)}
