"""Build the minimal root of the `namespaces` tier and move into it. Runs as process 1 of the new namespaces."""

from __future__ import annotations

import os

from replaycases.replay.sandbox.guard import kernel
from replaycases.replay.sandbox.guard.spec import Spec

STAGING = "/tmp"  # noqa: S108 - only a place to mount on, in a mount namespace of our own
DEVICES = ("null", "zero", "full", "random", "urandom")
DEVICE_LINKS = (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2"))


def map_identity(uid: int, gid: int) -> None:
    """Be the same user inside as outside: an unmapped one could not write to a tmpfs (EOVERFLOW)."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "wb", buffering=0) as file:
            file.write(text.encode())


def enter(spec: Spec) -> None:
    """Replace the root by a read-only one that holds the system paths, the trees, /proc, /dev and a private /tmp.

    Two pivots: the first moves the host's root to /old, so that even what lies under STAGING can be bound.
    """
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    _tmpfs(STAGING, "mode=755")
    os.mkdir(f"{STAGING}/old")
    os.mkdir(f"{STAGING}/new")
    kernel.pivot_root(STAGING, f"{STAGING}/old")
    os.chdir("/")
    _tmpfs("/new", "mode=755")
    for source, target in spec.system:
        _bind(source, target)
    for link, text in spec.links:
        os.symlink(text, f"/new{link}")
    _proc_and_devices(spec)
    os.mkdir("/new/tmp")
    _tmpfs("/new/tmp", f"mode=1777,size={spec.memory_bytes}")
    for source, target in spec.trees:
        _bind(source, target)
    os.chdir("/new")
    kernel.pivot_root(".", ".")
    kernel.detach(".")
    os.chdir("/")
    kernel.make_read_only("/", recursive=False)


def _tmpfs(target: str, options: str) -> None:
    kernel.mount("tmpfs", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def _bind(source: str, target: str) -> None:
    outside, inside = f"/old{source}", f"/new{target}"
    _place_for(outside, inside)
    kernel.mount(outside, inside, None, kernel.MS_BIND | kernel.MS_REC)
    kernel.make_read_only(inside, recursive=True)


def _place_for(outside: str, inside: str) -> None:
    if os.path.isdir(outside):
        os.makedirs(inside, exist_ok=True)
        return
    os.makedirs(os.path.dirname(inside), exist_ok=True)
    with open(inside, "ab"):
        pass


def _proc_and_devices(spec: Spec) -> None:
    os.mkdir("/new/proc")
    kernel.mount("proc", "/new/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    os.mkdir("/new/dev")
    for name in DEVICES:
        _place_for(f"/old/dev/{name}", f"/new/dev/{name}")
        kernel.mount(f"/old/dev/{name}", f"/new/dev/{name}", None, kernel.MS_BIND)
    for name, number in DEVICE_LINKS:
        os.symlink(f"/proc/self/fd{number}", f"/new/dev/{name}")
    os.mkdir("/new/dev/shm")
    _tmpfs("/new/dev/shm", f"mode=1777,size={spec.file_bytes}")
