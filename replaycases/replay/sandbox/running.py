"""A running sandbox seen from outside: a process of ours that stands for the tree and reports over a pipe."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

from replaycases.replay.sandbox.base import EnvironmentUnavailable

# How long the end of a killed tree may take before it counts as lost; it takes milliseconds.
END_SECONDS = 10.0


class StatusPipe:
    """JSON documents, one a line, from the process that set up the sandbox. Both bwrap and our guard speak so."""

    def __init__(self, fd: int) -> None:
        self._file = os.fdopen(fd, "rb")

    def next(self) -> dict[str, Any] | None:
        """The next document, waiting for it; None at the end."""
        line = self._file.readline()
        document: dict[str, Any] | None = json.loads(line) if line.strip() else None
        return document

    def find(self, key: str) -> Any | None:
        """The value of `key` in the next document that has it; None if none comes."""
        while (document := self.next()) is not None:
            if key in document:
                return document[key]
        return None

    def close(self) -> None:
        self._file.close()


class Running:
    """Implements `base.Sandboxed` over `outer`.

    `stop` asks the whole tree to end and returns at once; `gone` waits until the last process of the tree is gone.
    `exit_key` names the exit status in the status pipe; `unfold` makes a returncode of it.
    """

    def __init__(
        self,
        outer: subprocess.Popen[bytes],
        status: StatusPipe,
        *,
        exit_key: str,
        stop: Callable[[], None],
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        self._outer, self._status, self._exit_key = outer, status, exit_key
        self._stop, self._gone = stop, gone
        self._result: int | None = None

    @property
    def pid(self) -> int:
        """The process outside that stands for the tree."""
        return self._outer.pid

    def wait(self, timeout: float | None) -> int | None:
        """See `base.Sandboxed.wait`. Raises EnvironmentUnavailable if the sandbox, not the program, failed."""
        if self._result is None:
            if not exited(self._outer, timeout):
                return None
            self._result = self._settle()
        return self._result

    def kill(self) -> None:
        """See `base.Sandboxed.kill`."""
        if self._result is not None:
            return
        self._stop()
        if not exited(self._outer, END_SECONDS):
            self._outer.kill()
            self._outer.wait()
        with contextlib.suppress(EnvironmentUnavailable):
            self._settle()
        self._result = -signal.SIGKILL

    def _settle(self) -> int:
        """Everything is over: read the status, and wait for what bwrap may have left for a moment."""
        code = self._status.find(self._exit_key)
        self._status.close()
        self._gone()
        if code is None:
            raise EnvironmentUnavailable(
                f"The sandbox ended by itself (status {self._outer.returncode}) without starting or finishing the "
                "program; its reason stands in the captured standard error."
            )
        return unfold(code)


def unfold(code: int) -> int:
    """128 + n, as a shell or an init process reports it, is signal n: -n."""
    return 128 - code if 128 < code <= 128 + signal.NSIG else code


def exited(process: subprocess.Popen[bytes], timeout: float | None) -> bool:
    """Wait for `process` without polling, where the system can: Popen.wait with a timeout wakes only every 50 ms."""
    if process.poll() is not None:
        return True
    if timeout is not None and hasattr(os, "pidfd_open"):
        try:
            fd = os.pidfd_open(process.pid)
        except OSError:
            return _poll(process, timeout)
        try:
            readable(fd, timeout)
        finally:
            os.close(fd)
        return process.poll() is not None
    return _poll(process, timeout)


def _poll(process: subprocess.Popen[bytes], timeout: float | None) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout)
    return process.returncode is not None


def readable(fd: int, timeout: float) -> bool:
    """Whether `fd` becomes readable within `timeout` seconds; select would fail for numbers above 1023."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    end = time.monotonic() + timeout
    return bool(poll.poll(max(0, (end - time.monotonic()) * 1000)))
