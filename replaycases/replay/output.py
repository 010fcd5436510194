"""What a run writes to standard error and standard output, kept within bounds."""

from __future__ import annotations

from collections import deque

HEAD = TAIL = 32 * 1024
"""Bytes kept of the beginning and of the end of standard error."""


class Excerpt:
    """The beginning and the end of a stream, with the number of bytes left out between them."""

    def __init__(self, *, head: int = HEAD, tail: int = TAIL) -> None:
        self._head_room, self._tail_room = head, tail
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        room = self._head_room - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0]) >= self._tail_room:
            first = self._tail.popleft()
            self._tail_size -= len(first)
            self._dropped += len(first)

    def text(self) -> str:
        """UTF-8 with U+FFFD for what is none, and for NUL, which no text column keeps."""
        tail = b"".join(self._tail)
        excess = max(0, len(tail) - self._tail_room)
        dropped = self._dropped + excess
        marker = f"\n… {dropped} bytes left out …\n".encode() if dropped else b""
        kept = bytes(self._head) + marker + tail[excess:]
        return kept.decode("utf-8", "replace").replace("\0", "\ufffd")
