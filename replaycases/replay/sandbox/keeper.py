"""The supervisor's side of the keeper (see `guard.serve`): one for this process, started when first needed."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import replaycases
from replaycases.replay.sandbox.base import EnvironmentUnavailable
from replaycases.replay.sandbox.guard.spec import REQUEST, Spec
from replaycases.replay.sandbox.running import Running

# -I -S keeps it free of the site's packages and of PYTHON* variables; ours comes last in its path.
BOOT = "import sys; sys.path.append(sys.argv[1]); from replaycases.replay.sandbox.guard.serve import main; main()"
PACKAGE_PARENT = str(Path(replaycases.__file__).parent.parent)


class Keeper:
    """Starts the process, and starts it again if it was ended. A forked child gets one of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self.close)

    @property
    def pid(self) -> int | None:
        """The process, if it was started."""
        return None if self._process is None else self._process.pid

    def start(self, spec: Spec, *program_fds: int, judge: Callable[[int], int] = int) -> Running:
        """Start `spec`; `program_fds` stand at 1, 2, PROTOCOL_FD and so on. See `Running` for `judge` and errors."""
        ours, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as told:
            told.write(json.dumps(spec._asdict()).encode())
            told.seek(0)
            self._send([told.fileno(), theirs.fileno(), *program_fds])
        return Running(ours, tier=spec.tier, judge=judge)

    def close(self) -> None:
        """End the keeper, and with it what it still guards."""
        with self._lock:
            if self._control is not None and self._process is not None:
                self._control.close()
                self._process.wait()
            self._control = self._process = None

    def _send(self, fds: list[int]) -> None:
        with self._lock:
            if self._process is not None and self._process.poll() is None and self._control is not None:
                with contextlib.suppress(BrokenPipeError):
                    socket.send_fds(self._control, [REQUEST], fds)
                    return
            socket.send_fds(self._boot(), [REQUEST], fds)

    def _boot(self) -> socket.socket:
        if self._control is not None:
            self._control.close()
        self._control, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
                    [sys.executable, "-I", "-S", "-c", BOOT, PACKAGE_PARENT, str(os.getpid())],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as failed:
                raise EnvironmentUnavailable(f"The guard of the sandboxes does not start: {failed}") from failed
        return self._control

    def _forget(self) -> None:
        """After a fork the keeper is our parent's: drop our copies without touching it."""
        self._lock = threading.Lock()
        if self._process is not None:
            self._process.returncode = 0  # it is no child of ours
        if self._control is not None:
            self._control.close()
        self._control = self._process = None


KEEPER = Keeper()
