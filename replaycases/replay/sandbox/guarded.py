"""Tiers that our own guard sets up: `namespaces`, `seccomp`, and `process`, which isolates nothing."""

from __future__ import annotations

import os
import platform
import secrets
import tempfile
from collections.abc import Mapping
from functools import cache

from replaycases.replay.sandbox import probe
from replaycases.replay.sandbox.base import (
    Launch,
    Limits,
    Mount,
    Sandboxed,
    Surface,
    TierName,
)
from replaycases.replay.sandbox.guard import seccomp
from replaycases.replay.sandbox.guard.spec import Spec
from replaycases.replay.sandbox.identity import other_uid
from replaycases.replay.sandbox.keeper import KEEPER
from replaycases.replay.sandbox.layout import PRIVATE, environment, read_only_trees, root_links, system_trees

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
        private = self.private()
        spec = Spec(
            tier=self.name,
            supervisor=os.getpid(),
            uid=other_uid(),
            argv=list(launch.argv),
            env=environment(launch, private=private or PRIVATE),
            workdir=launch.workdir,
            private=private,
            system=[(os.path.realpath(path), path) for path in system_trees()],
            links=list(root_links()),
            trees=[(os.path.realpath(source), target) for source, target in read_only_trees(launch)],
            cpu_seconds=limits.cpu_seconds,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            file_bytes=limits.file_bytes,
        )
        return KEEPER.start(spec, stdout_fd, stderr_fd, protocol_fd)


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
