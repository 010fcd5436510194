"""One JSON-RPC 2.0 request a line over the inherited socket, one answer a line back.

Imported at every start of a run: modules that cost milliseconds (typing, threading, datetime, re) are left out.
"""

from __future__ import annotations

import json
import os
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HALTED_EXIT = 70
"""Exit status when the supervisor answers nothing more: the run is over and the sandbox is being ended."""

_CHUNK = 1 << 16


class ToolError(Exception):
    """The recorded tool answered with an error. `kind` and `message` are the recorded ones."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Wire:
    """Blocking calls over a descriptor; safe to use from several threads, which take turns."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = allocate_lock()
        self._last_id = 0
        self._buffer = bytearray()

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result. Raises ToolError for a recorded error. Does not return if the run was halted."""
        with self._lock:
            self._last_id += 1
            message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
            self._send(json.dumps(message, allow_nan=False, ensure_ascii=False).encode() + b"\n")
            answer = json.loads(self._receive())
        if "error" in answer:
            data = answer["error"]["data"]
            raise ToolError(data["kind"], data["message"])
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except (BrokenPipeError, ConnectionResetError):
                _halt()

    def _receive(self) -> bytes:
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return line
            chunk = _read(self._descriptor)
            if not chunk:
                _halt()
            self._buffer += chunk


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except ConnectionResetError:
        return b""


def _halt() -> None:
    # SystemExit could be caught by a workflow that swallows everything and carries on without answers.
    os._exit(HALTED_EXIT)
