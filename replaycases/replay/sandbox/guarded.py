"""Tiers that our own guard sets up: `namespaces`, `seccomp`, and `process`, which isolates nothing."""

from __future__ import annotations

import json
import os
import platform
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import replaycases
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
from replaycases.replay.sandbox.guard.spec import Spec
from replaycases.replay.sandbox.identity import NOBODY
from replaycases.replay.sandbox.layout import environment, read_only_trees, root_links, system_trees
from replaycases.replay.sandbox.running import Running, StatusPipe
from replaycases.replay.sandbox.spawn import spawn

# -I -S keeps the guard free of the site's packages and of PYTHON* variables; ours comes last in its path.
BOOT = "import sys; sys.path.append(sys.argv[1]); from replaycases.replay.sandbox.guard.main import main; main()"
PACKAGE_PARENT = str(Path(replaycases.__file__).parent.parent)
ISOLATED: Mapping[str, Surface] = {"network": "denied", "files": "controlled", "environment": "controlled"}
OPEN: Mapping[str, Surface] = {"network": "uncontrolled", "files": "uncontrolled", "environment": "uncontrolled"}


class Guarded:
    """What the three tiers have in common: the guard starts the program and ends its tree."""

    name: TierName
    surfaces = ISOLATED
    probed: tuple[str, ...] = probe.ATTACKS
    hint = ""

    @cache  # noqa: B019 - one object a process, see tiers.tiers
    def unavailable(self) -> str | None:
        """See `base.Tier.unavailable`."""
        if platform.system() != "Linux" or platform.machine() not in seccomp.NUMBERS:
            return f"it needs Linux on {' or '.join(seccomp.NUMBERS)}"
        problem = probe.problem(self)
        return None if problem is None else f"{problem} ({self.hint})"

    def path_inside(self, mount: Mount) -> str:
        """See `base.Tier.path_inside`: without a mount namespace a tree stays where it is."""
        return str(mount.source.absolute())

    def private(self) -> str | None:
        """The folder to make for the program's temporary files."""
        return os.path.join(tempfile.gettempdir(), f"replaycases-{secrets.token_hex(8)}")

    def start(self, launch: Launch, limits: Limits, *, protocol_fd: int, stderr_fd: int, stdout_fd: int) -> Sandboxed:
        """See `base.Tier.start`."""
        status_read, status_write = os.pipe()
        spec = self._spec(launch, limits, protocol_fd, status_write)
        try:
            guard = spawn(
                lambda: subprocess.Popen(  # noqa: S603 - our own guard in our own interpreter
                    [sys.executable, "-I", "-S", "-c", BOOT, PACKAGE_PARENT],
                    stdin=subprocess.PIPE,
                    stdout=stdout_fd,
                    stderr=stderr_fd,
                    pass_fds=(protocol_fd, status_write),
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            )
        finally:
            os.close(status_write)
        return _running(guard, spec, StatusPipe(status_read))

    def _spec(self, launch: Launch, limits: Limits, protocol_fd: int, status_fd: int) -> Spec:
        private = self.private()
        return Spec(
            tier=self.name,
            supervisor=os.getpid(),
            uid=NOBODY if os.geteuid() == 0 else None,
            argv=list(launch.argv),
            env=environment(launch, protocol_fd=protocol_fd, private=private or "/tmp"),  # noqa: S108 - own tmpfs
            workdir=launch.workdir,
            protocol_fd=protocol_fd,
            status_fd=status_fd,
            private=private,
            system=[(os.path.realpath(path), path) for path in system_trees()],
            links=list(root_links()),
            trees=[(os.path.realpath(source), target) for source, target in read_only_trees(launch)],
            cpu_seconds=limits.cpu_seconds,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            file_bytes=limits.file_bytes,
        )


def _running(guard: subprocess.Popen[bytes], spec: Spec, status: StatusPipe) -> Running:
    if guard.stdin is not None:
        with guard.stdin:
            guard.stdin.write(json.dumps(spec._asdict()).encode())
    first = status.next() or {"failed": "the guard ended; its reason stands in the captured standard error"}
    if "failed" in first:
        guard.wait()
        status.close()
        raise EnvironmentUnavailable(f"Tier {spec.tier} could not be set up: {first['failed']}")
    return Running(guard, status, exit_key="exit", stop=guard.terminate)


class Namespaces(Guarded):
    """Bare user, network, mount, pid, ipc and uts namespaces with a minimal root, without bwrap."""

    name: TierName = "namespaces"
    hint = "it needs Linux 5.12 or newer that lets ordinary users make user namespaces"

    def path_inside(self, mount: Mount) -> str:
        """See `base.Tier.path_inside`."""
        return mount.target

    def private(self) -> str | None:
        """None: /tmp is a tmpfs of the namespace."""
        return None


class Seccomp(Guarded):
    """Landlock and the system call filter: needs no privilege, so it works in default containers and on CI runners."""

    name: TierName = "seccomp"
    hint = "it needs Linux 5.13 or newer with landlock among its security modules (boot with lsm=…,landlock)"


class Process(Guarded):
    """A process with limits and a cleared environment, and no isolation at all: an opt-in for laptops."""

    name: TierName = "process"
    surfaces = OPEN
    probed = ()

    @cache  # noqa: B019 - one object a process, see tiers.tiers
    def unavailable(self) -> str | None:
        """There is nothing to probe."""
        return None
