"""The keeper: has a guard for each request, and ends when its supervisor ends, which ends the guards.

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
    ends = _end_of(supervisor)
    if os.getppid() != supervisor:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # guards report for themselves; nobody waits for them
    guards = Guards(control.fileno(), *ends)
    while guards.wait([control.fileno(), *ends]) == [control.fileno()] and guards.take(control):
        pass


class Guards:
    """The guards that this keeper forked. While none runs, one waits for the next run, so that a start need not fork.

    It never waits beside a running program: where that may signal processes of its user, it must not reach the guard
    of a later run. `ours` are the keeper's descriptors, which no guard keeps.
    """

    def __init__(self, *ours: int) -> None:
        self._ours = ours
        self._running: list[socket.socket] = []
        self._spare: socket.socket | None = self._fork()

    def wait(self, others: list[int]) -> list[int]:
        """Until one of `others` is readable: those that are. Meanwhile looks after the guards that end."""
        while True:
            running = {guard.fileno(): guard for guard in self._running}
            ready, _, _ = select.select([*others, *running], [], [])
            for number in running.keys() & set(ready):
                self._running.remove(running[number])
                running[number].close()
            if ready := [number for number in ready if number in others]:
                return ready
            if not self._running and self._spare is None:
                self._spare = self._fork()

    def take(self, control: socket.socket) -> bool:
        """Hand the next request to a guard. False if the supervisor closed its end."""
        request, descriptors, _, _ = socket.recv_fds(control, len(REQUEST), MOST_DESCRIPTORS)
        if not request:
            return False
        guard, self._spare = self._spare or self._fork(*descriptors), None
        try:
            socket.send_fds(guard, [REQUEST], descriptors)
        except (BrokenPipeError, ConnectionResetError):  # somebody ended it while it waited
            guard.close()
            guard = self._fork(*descriptors)
            socket.send_fds(guard, [REQUEST], descriptors)
        for fd in reversed(descriptors):  # the status socket after the program's: its end means that nobody has those
            os.close(fd)
        self._running.append(guard)
        return True

    def _fork(self, *held: int) -> socket.socket:
        """A guard that waits for its request. The socket to it closes when it ends, or when we do.

        `held` are the request's descriptors where it was received already: the guard gets them sent, and a second copy
        of them, the status socket among them, would reach the program.
        """
        keeper, (near, far) = os.getpid(), socket.socketpair()
        if os.fork():
            far.close()
            return near
        status = 1
        try:
            for fd in (*self._ours, *held, near.fileno(), *(guard.fileno() for guard in self._running)):
                os.close(fd)
            guard.main(far, keeper)
            status = 0
        finally:
            os._exit(status)


def _end_of(supervisor: int) -> list[int]:
    """A descriptor that becomes readable when the supervisor ends, by whatever thread or signal; none outside Linux.

    The control socket alone would not tell: a process that the supervisor forked holds a copy of its other end.
    """
    return [os.pidfd_open(supervisor)] if hasattr(os, "pidfd_open") else []
