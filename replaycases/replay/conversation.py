"""Talk to one sandboxed process until it ended or must be ended. Believes nothing that it does, survives anything."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace

from replaycases.replay.ending import Ended
from replaycases.replay.output import Excerpt
from replaycases.replay.protocol import InvalidRequest, Lines, MessageTooLong, error_line, parse_request, result_line
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Limits, Sandboxed
from replaycases.replay.session import Answer, Halt, ReplaySession

POLL = 0.05
"""Seconds between two looks at the cancel flag, and at whether a silent process still lives."""

_CHUNK = 1 << 16
_LIMIT_SIGNALS = {-signal.SIGXCPU: "CPU time", -signal.SIGXFSZ: "file size"}


class _Stop(Exception):
    """We end the run: the `Ended.cause` and its reason."""

    def __init__(self, cause: str, reason: str = "") -> None:
        self.cause, self.reason = cause, reason
        super().__init__(cause)


class Conversation:
    """One run's talk. `channel` is our end of the socket; `outputs` are the read ends of the pipes of standard output,
    which is counted and dropped, and of standard error, which is kept."""

    def __init__(
        self,
        session: ReplaySession,
        limits: Limits,
        *,
        channel: socket.socket,
        outputs: tuple[int, int],
        cancelled: Callable[[], bool],
    ) -> None:
        self._session, self._limits, self._cancelled = session, limits, cancelled
        self._channel, self._outputs, self._stderr = channel, outputs, outputs[1]
        self._lines = Lines(limits.message_bytes)
        self._excerpt = Excerpt()
        self._written = 0
        self._open, self._spoke = True, False
        self._deadline = time.monotonic() + limits.wall_seconds
        self._next_look = 0.0
        self._selector = selectors.DefaultSelector()
        channel.setblocking(False)
        self._selector.register(channel, selectors.EVENT_READ)
        for descriptor in outputs:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)

    def run(self, sandboxed: Sandboxed) -> Ended:
        """Until the process exited or was ended. No process of its tree is left afterwards."""
        with closing(self._selector):
            try:
                ended = self._watched(sandboxed)
            except EnvironmentUnavailable as lost:
                ended = self._lost(str(lost))
            with suppress(_Stop):
                self._drain_outputs()
        return replace(ended, stderr=self._excerpt.text())

    def _watched(self, sandboxed: Sandboxed) -> Ended:
        try:
            return self._ended(self._until_exit(sandboxed))
        except _Stop as stop:
            return Ended(cause=stop.cause, reason=stop.reason)
        finally:
            sandboxed.kill()

    def _lost(self, reason: str) -> Ended:
        """The sandbox failed. Once the implementation spoke it may have had a hand in that, and must gain nothing by
        it: such a run counts, as a crash."""
        return Ended(cause="exit" if self._spoke else "environment_unavailable", reason=reason)

    def _ended(self, status: int) -> Ended:
        if limit := _LIMIT_SIGNALS.get(status):
            return Ended(cause="limit_exceeded", exit_status=status, reason=f"the limit on {limit} ended the process")
        return Ended(cause="exit", exit_status=status)

    def _until_exit(self, sandboxed: Sandboxed) -> int:
        status = None
        while status is None:
            quiet = not self._turn()
            if quiet:
                status = sandboxed.wait(0 if self._open else POLL)
        # What was sent before the exit was received: it counts, although nobody is left to answer.
        while self._receive():
            pass
        self._drain_outputs()
        return status

    def _turn(self) -> bool:
        """Wait for something to happen, at most POLL seconds, and deal with it. False if nothing did."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + POLL
            if self._cancelled():
                raise _Stop("cancelled", "the run was cancelled")
        left = self._deadline - now
        if left <= 0:
            raise _Stop("timed_out", self._lateness())
        ready = self._selector.select(min(left, POLL) if self._open else 0)
        for key, events in ready:
            if key.fd != self._channel.fileno():
                self._drain(key.fd)
            elif events == selectors.EVENT_READ:
                self._receive()
        return bool(ready)

    def _lateness(self) -> str:
        if self._session.finished:
            return f"finish was called, but the process did not exit within {self._limits.grace_seconds} seconds of it"
        return f"the process did not finish within {self._limits.wall_seconds} seconds"

    def _receive(self) -> bool:
        """Read once and handle what is whole. False if there was nothing, or never will be again."""
        try:
            data = self._channel.recv(self._lines.room()) if self._open else b""
        except BlockingIOError:
            return False
        except ConnectionError:
            data = b""
        if data:
            self._spoke = True
            self._handle(data)
        elif self._open:
            self._open = False
            self._selector.unregister(self._channel)
        return bool(data)

    def _handle(self, data: bytes) -> None:
        self._lines.feed(data)
        try:
            while not self._session.finished and (line := self._lines.take()) is not None:
                self._answer(line)
        except MessageTooLong as error:
            raise _Stop("limit_exceeded", str(error)) from None
        except InvalidRequest as error:
            raise _Stop("adapter_error", str(error)) from None
        if self._session.finished and self._lines.pending:
            raise _Stop("adapter_error", "the implementation sent something after finish")

    def _answer(self, line: bytes) -> None:
        request = parse_request(line)
        reply = self._session.handle(request.method, request.params)
        if isinstance(reply, Halt):
            raise _Stop("halted")
        if isinstance(reply, Answer):
            self._send(result_line(request.id, reply.result))
        else:
            self._send(error_line(request.id, kind=reply.kind, message=reply.message))
        if self._session.finished:
            self._deadline = time.monotonic() + self._limits.grace_seconds

    def _send(self, data: bytes) -> None:
        """All of it, before the next request is looked at: who does not read its answers gets no others."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._channel.send(rest) :]
            except BlockingIOError:
                self._wait_until_writable()
            except ConnectionError:
                return

    def _wait_until_writable(self) -> None:
        self._selector.modify(self._channel, selectors.EVENT_WRITE)
        try:
            self._turn()
        finally:
            self._selector.modify(self._channel, selectors.EVENT_READ)

    def _drain_outputs(self) -> None:
        for descriptor in self._outputs:
            while self._drain(descriptor):
                pass

    def _drain(self, descriptor: int) -> bool:
        """Read once. False if there was nothing, or never will be again."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            if descriptor in self._selector.get_map():
                self._selector.unregister(descriptor)
            return False
        self._written += len(data)
        if descriptor == self._stderr:
            self._excerpt.add(data)
        if self._written > self._limits.output_bytes:
            raise _Stop("limit_exceeded", f"more than {self._limits.output_bytes} bytes of output")
        return True
