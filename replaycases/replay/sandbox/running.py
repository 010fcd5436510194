"""A running sandbox seen from outside: a status socket to the guard of its tree."""

from __future__ import annotations

import contextlib
import json
import select
import signal
import socket
from collections.abc import Callable
from typing import Any

from replaycases.replay.sandbox.base import EnvironmentUnavailable

# How long the end of a killed tree may take before it counts as lost; it takes milliseconds.
END_SECONDS = 10.0
# In place of a status that the guard could not report.
GUARD_ENDED = -signal.SIGKILL


class Running:
    """Implements `base.Sandboxed`.

    `judge` makes the program's status of what the guard reported, or raises EnvironmentUnavailable. It is called once,
    after a kill as well.
    """

    def __init__(self, status: socket.socket, *, tier: str, judge: Callable[[int], int] = int) -> None:
        self._status, self._tier, self._judge = status, tier, judge
        self._unread = b""
        self._exit: int | None = None
        self._result: int | None = None
        self._lost: EnvironmentUnavailable | None = None
        first = self._document(None) or {}
        if "ready" not in first:
            status.close()
            raise EnvironmentUnavailable(
                f"Isolation tier {tier} could not be set up: "
                f"{first.get('failed', 'its guard ended; the reason stands in the captured standard error')}"
            )
        self._pid = int(first["ready"])

    @property
    def pid(self) -> int:
        """The guard of the tree."""
        return self._pid

    def wait(self, timeout: float | None) -> int | None:
        """See `base.Sandboxed.wait`."""
        if self._result is None and self._lost is None:
            try:
                self._read_to_end(timeout)
            except TimeoutError:
                return None
            self._settle()
        if self._lost is not None:
            raise self._lost
        return self._result

    def kill(self) -> None:
        """See `base.Sandboxed.kill`."""
        if self._result is not None or self._lost is not None:
            return
        with contextlib.suppress(OSError):
            self._status.shutdown(socket.SHUT_WR)
        try:
            self._read_to_end(END_SECONDS)
        except TimeoutError:
            raise EnvironmentUnavailable(
                f"The processes under {self._pid} did not end {END_SECONDS:.0f} s after they were killed; the kernel "
                "holds them."
            ) from None
        self._settle()
        self._result, self._lost = -signal.SIGKILL, None

    def _settle(self) -> None:
        self._status.close()
        try:
            self._result = self._judge(GUARD_ENDED if self._exit is None else self._exit)
            if self._exit is None:
                raise EnvironmentUnavailable(f"The guard of isolation tier {self._tier} was ended from outside.")
        except EnvironmentUnavailable as lost:
            self._lost = lost

    def _read_to_end(self, timeout: float | None) -> None:
        """Until the guard has closed its end. Raises TimeoutError."""
        while (document := self._document(timeout)) is not None:
            self._exit = document.get("exit", self._exit)

    def _document(self, timeout: float | None) -> dict[str, Any] | None:
        """The guard's next word, or None when it has gone. Raises TimeoutError."""
        while b"\n" not in self._unread:
            if not readable(self._status.fileno(), timeout):
                raise TimeoutError
            with contextlib.suppress(ConnectionResetError):
                if received := self._status.recv(65536):
                    self._unread += received
                    continue
            return None
        line, _, self._unread = self._unread.partition(b"\n")
        document: dict[str, Any] = json.loads(line)
        return document


def readable(fd: int, timeout: float | None) -> bool:
    """Whether `fd` becomes readable within `timeout` seconds; select would fail for numbers above 1023."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if timeout is None else timeout * 1000))
