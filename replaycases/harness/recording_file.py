"""One recording on disk: lines of JSON that are only ever added to.

A line is there whole or not at all: it goes to the kernel in one write, and what a full disk cuts is taken back. A
crash of the process loses no line; a crash of the machine none where `fsync` is "always".
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FSYNC = ("always", "end", "never")
_RESERVE = 4096
"""Bytes kept free for the lines that say why a recording ends."""


class RecordingFile:
    """`lines` were written; `stopped` says why no more are, "" while they are; `full` where it is the size. Not safe
    for threads: the tape has the lock. Another process that a fork made writes nothing."""

    def __init__(self, path: str, *, max_bytes: int, fsync: str) -> None:
        self.path = path
        self.lines = 0
        self.stopped = ""
        self.full = False
        self._max = max_bytes
        self._size = 0
        self._fsync = fsync
        self._owner = os.getpid()
        self._descriptor = -1
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            self.stopped = "the file cannot be made: %s" % error.strerror

    def add(self, line: dict[str, Any], *, last: bool = False) -> bool:
        """Whether it stands in the file. Lines that are `last` may use what is kept free, and stand in a full file."""
        if self._descriptor < 0 or os.getpid() != self._owner or (self.stopped and not (self.full and last)):
            return False
        data = json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        if self._size + len(data) > self._max - (0 if last else _RESERVE):
            self.full = True
            self.stopped = "the recording has reached its size: what came after is not in it"
            return False
        return self._write(data)

    def close(self) -> None:
        if self._descriptor < 0 or os.getpid() != self._owner:
            return
        try:
            if self._fsync != "never":
                os.fsync(self._descriptor)
            os.close(self._descriptor)
        except OSError as error:
            self.stopped = self.stopped or "it cannot be kept: %s" % error.strerror
        self._descriptor = -1

    def _write(self, data: bytes) -> bool:
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
            if self._fsync == "always":
                os.fsync(self._descriptor)
        except OSError as error:
            self._take_back()
            self.stopped, self.full = "it cannot be written: %s" % error.strerror, False
            return False
        self._size += len(data)
        self.lines += 1
        return True

    def _take_back(self) -> None:
        """Half a line would be the last thing in the file."""
        try:
            os.ftruncate(self._descriptor, self._size)
        except OSError:
            return
