"""Tier `bubblewrap`: all namespaces, a minimal read-only root and our system call filter, set up by bwrap."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import BinaryIO

from replaycases.replay.sandbox import probe
from replaycases.replay.sandbox.base import (
    EnvironmentUnavailable,
    Launch,
    Limits,
    Mount,
    Sandboxed,
    Surface,
    TierName,
)
from replaycases.replay.sandbox.guard import seccomp
from replaycases.replay.sandbox.guard.spec import PROTOCOL_FD, Spec, unfold
from replaycases.replay.sandbox.identity import other_uid
from replaycases.replay.sandbox.keeper import KEEPER
from replaycases.replay.sandbox.layout import PRIVATE, environment, read_only_trees, root_links, system_trees

STATUS_FD, FILTER_FD = PROTOCOL_FD + 1, PROTOCOL_FD + 2


class Bubblewrap:
    """The strongest tier; needs bwrap 0.7 or newer, prlimit, and user namespaces for ordinary users."""

    name: TierName = "bubblewrap"
    surfaces: Mapping[str, Surface] = {"network": "denied", "files": "controlled", "environment": "controlled"}
    probed = probe.ATTACKS

    @cache  # noqa: B019 - one object a process, see tiers.tiers
    def unavailable(self) -> str | None:
        """See `base.Tier.unavailable`."""
        if (reason := self._missing()) is not None:
            return reason
        problem = probe.problem(self)
        hint = "it needs bwrap 0.7 or newer, and a kernel that lets ordinary users make user namespaces"
        return None if problem is None else f"{problem} ({hint})"

    def _missing(self) -> str | None:
        if platform.machine() not in seccomp.NUMBERS:
            return f"there is no system call filter for {platform.machine()}"
        for program, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux")):
            if shutil.which(program) is None:
                return f"{program} is not installed (Debian, Ubuntu: apt install {package})"
        return None

    def path_inside(self, mount: Mount) -> str:
        """See `base.Tier.path_inside`."""
        return mount.target

    def start(self, launch: Launch, limits: Limits, *, protocol_fd: int, stderr_fd: int, stdout_fd: int) -> Sandboxed:
        """See `base.Tier.start`."""
        status_read, status_write = os.pipe()
        filter_fd = _filter_file()
        spec = Spec(
            tier=self.name,
            supervisor=os.getpid(),
            uid=other_uid(),
            argv=_command(launch, limits),
            env={"LC_ALL": "C"},  # inside, it can be read of process 1
            workdir="/",
            private=None,
            system=[],
            links=[],
            trees=[],
            cpu_seconds=limits.cpu_seconds,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            file_bytes=limits.file_bytes,
        )
        report = os.fdopen(status_read, "rb")
        try:
            return KEEPER.start(
                spec, stdout_fd, stderr_fd, protocol_fd, status_write, filter_fd, judge=partial(_judge, report)
            )
        except EnvironmentUnavailable:
            report.close()
            raise
        finally:
            os.close(status_write)
            os.close(filter_fd)


def _judge(report: BinaryIO, status: int) -> int:
    """bwrap names an exit code only if the program was started: else `status` is its own, and no outcome."""
    with report:
        documents = [json.loads(line) for line in report]
    for document in documents:
        if "exit-code" in document:
            return unfold(document["exit-code"])
    raise EnvironmentUnavailable(
        f"bwrap ended with status {status} before the program started; the captured standard error says why."
    )


def _command(launch: Launch, limits: Limits) -> list[str]:
    env = environment(launch, private=PRIVATE)
    return [
        *(shutil.which("bwrap") or "bwrap", "--json-status-fd", str(STATUS_FD), "--seccomp", str(FILTER_FD)),
        *_namespaces(),
        *_root(launch, limits),
        *(word for name, value in env.items() for word in ("--setenv", name, value)),
        *("--chdir", launch.workdir, "--", *_prlimit(limits), *launch.argv),
    ]


@cache
def _filter() -> bytes:
    return seccomp.program(platform.machine())


def _filter_file() -> int:
    fd = os.memfd_create("filter")
    os.write(fd, _filter())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _namespaces() -> Sequence[str]:
    return (
        *("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
        *("--hostname", "replay"),
    )


def _root(launch: Launch, limits: Limits) -> Iterator[str]:
    for path in system_trees():
        yield from ("--ro-bind", path, path)
    for link, text in root_links():
        yield from ("--symlink", text, link)
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--size", str(limits.file_bytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    yield from ("--size", str(limits.memory_bytes), "--tmpfs", PRIVATE)
    for source, target in read_only_trees(launch):
        yield from ("--ro-bind", str(source), target)
    yield from ("--remount-ro", "/")


def _prlimit(limits: Limits) -> Sequence[str]:
    """Set inside: outside, the limit on processes would count the user's other processes (user_namespaces(7))."""
    return (
        "prlimit",
        f"--cpu={limits.cpu_seconds}:{limits.cpu_seconds + 1}",
        f"--as={limits.memory_bytes}",
        f"--nproc={limits.processes}",
        f"--fsize={limits.file_bytes}",
        *("--core=0", "--"),
    )
