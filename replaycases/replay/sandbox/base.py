"""What a supervisor needs to know of a sandbox: limits, what to start, and the running, confined process tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Protocol

Surface = Literal["controlled", "denied", "uncontrolled"]

TierName = Literal["bubblewrap", "namespaces", "seccomp", "process"]

MIB = 1024 * 1024


class EnvironmentUnavailable(Exception):
    """This machine cannot run a replay. The message says why and what to install or set: show it as it is."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one run. Sizes are bytes, times seconds.

    The tier enforces `cpu_seconds`, `memory_bytes` (address space of each process), `processes` and `file_bytes`
    (largest single file) in the kernel. The supervisor enforces `wall_seconds`, `message_bytes`, `output_bytes` and
    `grace_seconds`, and calls `Sandboxed.kill`.
    """

    wall_seconds: float = 60.0
    cpu_seconds: int = 60
    memory_bytes: int = 1024 * MIB
    processes: int = 64
    file_bytes: int = 64 * MIB
    message_bytes: int = 16 * MIB
    output_bytes: int = 64 * MIB
    grace_seconds: float = 2.0

    def as_dict(self) -> dict[str, int | float]:
        """The form that stands in the manifest."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A tree that the confined process may read, never write.

    `target` is an absolute path; where it really lies inside is `Tier.path_inside(mount)`, since the tiers without a
    mount namespace leave it at `source`. A supervisor started by root runs the child as uid 65534: that uid must be
    able to read `source`. For a tree of your own (mkdtemp makes it 0700) call `identity.open_to_sandbox(tree)`.
    """

    source: Path
    target: str


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What to start.

    `argv` and `workdir` hold paths as seen inside (`Tier.path_inside`, and the interpreter at its own path). `env` is
    added to the fixed environment and cannot replace REPLAYCASES_FD. `interpreter` (from
    `interpreter.usable_interpreter`) is mounted with its prefix and base, and its folder comes first in PATH.
    """

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]
    workdir: str
    env: Mapping[str, str]
    interpreter: Path | None


class Sandboxed(Protocol):
    """A running, confined process tree. Not thread-safe: one supervisor holds it."""

    @property
    def pid(self) -> int:
        """The process outside that stands for the tree."""

    def wait(self, timeout: float | None) -> int | None:
        """The exit status of the started program, negative for a signal; None if it still runs after `timeout`.

        Once a status was returned no process of the tree is left. Raises EnvironmentUnavailable if the sandbox itself
        failed: such a run has no outcome.
        """

    def kill(self) -> None:
        """End every process of the tree, however it forked, and wait until it is gone. May be called again."""


class Tier(Protocol):
    """One way to confine. `choose_tier` gives the strongest that works here."""

    @property
    def name(self) -> TierName:
        """Stands in the manifest as `isolation`."""

    @property
    def surfaces(self) -> Mapping[str, Surface]:
        """What the tier does about `network`, `files` and `environment`."""

    @property
    def probed(self) -> tuple[str, ...]:
        """What a confined process was seen to be denied on this machine, by name; empty for `process`."""

    def unavailable(self) -> str | None:
        """None if the tier works here, tried for real once a process; else why not and what to install or set."""

    def path_inside(self, mount: Mount) -> str:
        """Where `mount` lies for the confined process."""

    def start(self, launch: Launch, limits: Limits, *, protocol_fd: int, stderr_fd: int, stdout_fd: int) -> Sandboxed:
        """Start `launch.argv` confined. May be called from any thread.

        The three descriptors are handed over; close your copies after the call. Standard input is empty. Inside, the
        protocol's number stands in REPLAYCASES_FD. Raises EnvironmentUnavailable if the sandbox itself, not the
        program, could not be set up; what only shows later is raised by `Sandboxed.wait`.
        """
