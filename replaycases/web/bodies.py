"""A request's body is as long as its head says, or it is no body.

A server hands on what came before the line broke as if it were all: a recording that was cut off would be captured as
a shorter one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from replaycases.cases.incoming import announced

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class WholeBodies:
    """A WSGI application that reads a body to its announced end or not at all: what breaks off raises OSError where it
    is read, which Django calls UnreadablePostError."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = announced(environ)
        if length is not None:
            environ["wsgi.input"] = _Whole(environ["wsgi.input"], length)
        return self.application(environ, start_response)


class _Whole:
    def __init__(self, stream: Any, length: int) -> None:
        self._stream, self._left = stream, length

    def read(self, size: int = -1) -> bytes:
        """As many bytes as are asked for, or all that are left: less would pass for the end."""
        most, pieces = self._most(size), []
        while most:
            pieces.append(self._taken(self._stream.read(most)))
            most -= len(pieces[-1])
        return b"".join(pieces)

    def readline(self, size: int = -1) -> bytes:
        most = self._most(size)
        return self._taken(self._stream.readline(most)) if most else b""

    def _most(self, size: int) -> int:
        return self._left if size < 0 else min(size, self._left)

    def _taken(self, piece: bytes) -> bytes:
        if not piece:
            raise OSError(f"the body broke off: {self._left} bytes are missing")
        self._left -= len(piece)
        return piece
