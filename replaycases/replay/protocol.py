"""The wire, seen from the supervisor: JSON-RPC 2.0, one message a line. What comes in is hostile until parsed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import orjson

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.strict_json import LIMITS, parse

RECORDED_ERROR = 1
_REQUIRED, _ALLOWED = {"jsonrpc", "id", "method"}, {"jsonrpc", "id", "method", "params"}
_CHUNK = 1 << 16


class InvalidRequest(Exception):
    """The line is no valid request of this protocol. The message quotes nothing that the implementation wrote."""


class MessageTooLong(Exception):
    """A line exceeds the limit on messages."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The envelope is checked; `method` and `params` are whatever stood there and are the session's to check."""

    id: int
    method: Any
    params: Any


class Lines:
    """Cuts a byte stream into lines and never holds more than `largest` + 1 bytes.

    Feed at most `room()` bytes, and only while `take()` gives None.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._buffer = bytearray()
        self._searched = 0

    def room(self) -> int:
        return min(_CHUNK, self._largest + 1 - len(self._buffer))

    @property
    def pending(self) -> bool:
        """True if bytes wait, whole line or not."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def take(self) -> bytes | None:
        """The next whole line without its end. Raises MessageTooLong once a line cannot become whole."""
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            if len(self._buffer) > self._largest:
                raise MessageTooLong(f"a message exceeds {self._largest} bytes")
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line


def parse_request(line: bytes) -> Request:
    """Raises InvalidRequest for anything but one JSON-RPC 2.0 request object with an integer id, in strict JSON."""
    document = _strict(line)
    if not isinstance(document, dict):
        raise InvalidRequest("a message is one JSON object a line; batches are not supported")
    if missing := _REQUIRED - set(document):
        raise InvalidRequest(f"the request lacks {', '.join(sorted(missing))}")
    if set(document) - _ALLOWED:
        raise InvalidRequest("the request has members other than jsonrpc, id, method and params")
    if document["jsonrpc"] != "2.0":
        raise InvalidRequest('jsonrpc is not "2.0"')
    if type(document["id"]) is not int:
        raise InvalidRequest("id is not an integer")
    return Request(id=document["id"], method=document["method"], params=document.get("params"))


def result_line(identifier: int, result: dict[str, Any]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": identifier, "result": result}) + b"\n"


def error_line(identifier: int, *, kind: str, message: str) -> bytes:
    """A recorded tool error."""
    error = {"code": RECORDED_ERROR, "message": message, "data": {"kind": kind, "message": message}}
    return orjson.dumps({"jsonrpc": "2.0", "id": identifier, "error": error}) + b"\n"


def _strict(line: bytes) -> Any:
    try:
        return parse(line, limits=replace(LIMITS, max_bytes=max(LIMITS.max_bytes, len(line))))
    except FixtureInvalid as error:
        first = error.findings[0]
        raise InvalidRequest(f"not strict JSON at {first.pointer or '/'}: {first.message}") from None
