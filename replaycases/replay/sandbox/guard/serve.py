"""The keeper: forks a guard for each request, and ends when its supervisor ends, which ends the guards.

It is one long-lived, single-threaded process, since PR_SET_PDEATHSIG fires when the *thread* that started a child
ends: a worker that started sandboxes from a short-lived thread would lose them in mid-run. bwrap's --die-with-parent
alone is not enough either: a supervisor killed while bwrap sets up leaves the sandbox running.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys

from replaycases.replay.sandbox.guard import main as guard
from replaycases.replay.sandbox.guard.spec import MOST_DESCRIPTORS, REQUEST


def main() -> None:
    """Serve the control socket on standard input for the supervisor whose pid is the second argument."""
    supervisor = int(sys.argv[2])
    control = socket.socket(fileno=os.dup(0))
    watched = [control.fileno(), *_end_of(supervisor)]
    if os.getppid() != supervisor:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # guards report for themselves; nobody waits for them
    while select.select(watched, [], [])[0] == watched[:1]:
        request, descriptors, _, _ = socket.recv_fds(control, len(REQUEST), MOST_DESCRIPTORS)
        if not request:
            return
        _fork_guard(descriptors, watched)
        for fd in descriptors:
            os.close(fd)


def _end_of(supervisor: int) -> list[int]:
    """A descriptor that becomes readable when the supervisor ends, by whatever thread or signal; none outside Linux.

    The control socket alone would not tell: a process that the supervisor forked holds a copy of its other end.
    """
    return [os.pidfd_open(supervisor)] if hasattr(os, "pidfd_open") else []


def _fork_guard(descriptors: list[int], ours: list[int]) -> None:
    keeper = os.getpid()
    if os.fork():
        return
    status = 1
    try:
        for fd in ours:
            os.close(fd)
        guard.main(descriptors, keeper)
        status = 0
    finally:
        os._exit(status)
