"""Confine the calling process as its tier says; the next thing it does is to execute the program."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import signal
import sys

from replaycases.replay.sandbox.guard import kernel, landlock, seccomp
from replaycases.replay.sandbox.guard.spec import Spec

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def become(uid: int | None) -> None:
    """Give up root for good. None: stay who we are."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def confine(spec: Spec, guards: tuple[int, ...]) -> None:
    """What the program's process does between fork and exec. `guards`: its parent, and others that it must not end."""
    os.setsid()  # a signal to its own process group must not reach the guard
    if spec.tier != "namespaces":  # there the guard became it already
        become(spec.uid)
    os.chdir(spec.workdir)
    if sys.platform == "linux":
        kernel.die_with_parent(signal.SIGKILL, guards[0])
    if spec.tier == "bubblewrap":  # bwrap does the rest
        return
    _limit(spec, spec.processes + (0 if spec.tier == "namespaces" else tasks_of(os.geteuid())))
    if spec.tier == "seccomp" and spec.private is not None:
        kernel.forbid_new_rights()
        readable = [source for source, _ in (*spec.system, *spec.trees)]
        landlock.restrict(readable=readable, devices=DEVICES, writable=[spec.private])
        kernel.filter_system_calls(seccomp.program(platform.machine(), shared_root=True, protect=guards))
    elif spec.tier == "namespaces":
        kernel.filter_system_calls(seccomp.program(platform.machine()))


def tasks_of(uid: int) -> int:
    """How many threads `uid` runs now. Without a user namespace of its own RLIMIT_NPROC counts those as well."""
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _limit(spec: Spec, processes: int) -> None:
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, spec.cpu_seconds, spec.cpu_seconds + 1),
        (resource.RLIMIT_AS, spec.memory_bytes, spec.memory_bytes),
        (resource.RLIMIT_NPROC, processes, processes),
        (resource.RLIMIT_FSIZE, spec.file_bytes, spec.file_bytes),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        highest = resource.getrlimit(kind)[1]
        if highest != resource.RLIM_INFINITY:
            soft, hard = min(soft, highest), min(hard, highest)
        resource.setrlimit(kind, (soft, hard))
