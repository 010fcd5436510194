"""Tier `bubblewrap`: all namespaces, a minimal read-only root and our system call filter, set up by bwrap."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

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
from replaycases.replay.sandbox.identity import popen_identity
from replaycases.replay.sandbox.layout import environment, read_only_trees, root_links, system_trees
from replaycases.replay.sandbox.running import END_SECONDS, Running, StatusPipe, readable
from replaycases.replay.sandbox.spawn import spawn

PRIVATE = "/tmp"  # noqa: S108 - a tmpfs of the sandbox's own


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
        env = environment(launch, protocol_fd=protocol_fd, private=PRIVATE)
        command = [
            *("bwrap", "--json-status-fd", str(status_write), "--seccomp", str(filter_fd)),
            *_namespaces(),
            *_root(launch, limits),
            *(word for name, value in env.items() for word in ("--setenv", name, value)),
            *("--chdir", launch.workdir, "--", *_prlimit(limits), *launch.argv),
        ]
        try:
            outer = spawn(
                lambda: subprocess.Popen(  # noqa: S603 - running it is the purpose; it is confined
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout_fd,
                    stderr=stderr_fd,
                    pass_fds=(protocol_fd, status_write, filter_fd),
                    env={"PATH": os.defpath, "LC_ALL": "C"},
                    cwd="/",
                    start_new_session=True,
                    **popen_identity(),
                )
            )
        except OSError as failed:
            os.close(status_read)
            raise EnvironmentUnavailable(f"bwrap could not be started: {failed}") from failed
        finally:
            os.close(status_write)
            os.close(filter_fd)
        return _running(outer, StatusPipe(status_read))


def _running(outer: subprocess.Popen[bytes], status: StatusPipe) -> Running:
    inner = status.find("child-pid")
    if inner is None:
        status.close()
        outer.wait()
        raise EnvironmentUnavailable(
            f"bwrap ended with status {outer.returncode} before the sandbox stood; its reason stands in the captured "
            "standard error."
        )
    init = _Init(inner)
    return Running(outer, status, exit_key="exit-code", stop=init.kill, gone=init.gone)


class _Init:
    """Process 1 of the sandbox: once it is gone the kernel has ended every process of the pid namespace."""

    def __init__(self, pid: int) -> None:
        self._fd: int | None = None
        with contextlib.suppress(ProcessLookupError):
            self._fd = os.pidfd_open(pid)

    def kill(self) -> None:
        if self._fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._fd, signal.SIGKILL)

    def gone(self) -> None:
        if self._fd is None:
            return
        # bwrap leaves as soon as the program has ended; what the program left behind dies with process 1.
        self.kill()
        readable(self._fd, END_SECONDS)
        os.close(self._fd)
        self._fd = None


def _filter_file() -> int:
    fd = os.memfd_create("filter")
    os.write(fd, seccomp.program(platform.machine()))
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
