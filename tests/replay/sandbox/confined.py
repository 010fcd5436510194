"""Run a Python snippet in a tier, and watch what is left of it from outside."""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replaycases.replay.sandbox.base import Launch, Limits, Mount, Sandboxed, Tier
from replaycases.replay.sandbox.guard import landlock
from replaycases.replay.sandbox.interpreter import usable_interpreter

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 30.0  # only a guard against a hang: nothing here is expected to take that long

# Defines `me`, the socket of the protocol, and `attempt`, which names how a call was refused.
PRELUDE = """
import errno, json, os, signal, socket, sys
me = socket.socket(fileno=int(os.environ["REPLAYCASES_FD"]))
def attempt(call, *arguments):
    try:
        call(*arguments)
    except OSError as refused:
        return errno.errorcode.get(refused.errno, str(refused.errno))
    return "worked"
"""


@dataclass
class Confined:
    """A started program: `ours` is our end of its protocol socket, `output` what it printed."""

    running: Sandboxed
    ours: socket.socket
    _output: Any

    @property
    def output(self) -> str:
        self._output.seek(0)
        return str(self._output.read().decode())

    def hear(self) -> bytes:
        return self.ours.recv(4096)

    def is_gone(self) -> bool:
        """Whether no process holds the other end of the protocol socket any more: the kernel keeps the count."""
        self.ours.setblocking(False)
        try:
            while self.ours.recv(4096):
                pass
        except BlockingIOError:
            return False
        except ConnectionResetError:  # it ended with unread data
            return True
        return True


@contextmanager
def started(
    tier: Tier, code: str, *arguments: str, limits: Limits | None = None, mounts: tuple[Mount, ...] = ()
) -> Iterator[Confined]:
    interpreter = usable_interpreter()
    launch = Launch(
        argv=(str(interpreter), "-I", "-c", PRELUDE + code, *arguments),
        mounts=mounts,
        workdir="/",
        env={},
        interpreter=interpreter,
    )
    ours, theirs = socket.socketpair()
    ours.settimeout(SECONDS)
    with ours, tempfile.TemporaryFile() as output:
        with theirs:
            running = tier.start(
                launch,
                limits or Limits(),
                protocol_fd=theirs.fileno(),
                stderr_fd=output.fileno(),
                stdout_fd=output.fileno(),
            )
        try:
            yield Confined(running, ours, output)
        finally:
            running.kill()


def run(
    tier: Tier, code: str, *arguments: str, limits: Limits | None = None, mounts: tuple[Mount, ...] = ()
) -> tuple[int | None, str]:
    """Exit status and everything printed."""
    with started(tier, code, *arguments, limits=limits, mounts=mounts) as confined:
        status = confined.running.wait(SECONDS)
        return status, confined.output


def hides_processes(tier: Tier) -> bool:
    """Whether a program cannot signal other processes of its user: before Landlock 6 tier seccomp hides only ours."""
    return tier.name != "seccomp" or landlock.abi() >= 6


def ask(tier: Tier, code: str, *arguments: str, mounts: tuple[Mount, ...] = ()) -> Any:
    """What `code` prints, as JSON; it must end well."""
    status, output = run(tier, code, *arguments, mounts=mounts)
    assert status == 0, output
    return json.loads(output)
