"""The lines of one recording, in the order in which calls were sent."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
import uuid
from datetime import datetime, timezone

from . import recording_shapes as shapes
from .recording_file import RecordingFile
from .wire import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, TypeVar, Union

    Method = TypeVar("Method", bound=Callable[..., Any])

FORMAT = "1"
RECORDER = "replaycases"
VERSION = "1.0"

_log = logging.getLogger("replaycases.recorder")


class RecordingRefused(ValueError):
    """What was asked or answered cannot stand in a recording; raised only where `strict` was asked for, and while a
    session is made. The message names the place and quotes no value."""


def _harmless(method: Method) -> Method:
    """Whatever goes wrong within, the workflow goes on: the recording ends here and says why."""

    @functools.wraps(method)
    def kept(self: Tape, *args: Any, **named: Any) -> Any:
        try:
            return method(self, *args, **named)
        except RecordingRefused:
            raise
        except Exception as error:
            return self.give_up(error)

    return kept  # type: ignore[return-value]


class Tape:
    """Safe to use from several threads. `faults` says what could not be recorded."""

    def __init__(
        self, path: Union[str, os.PathLike[str]], head: dict[str, Any], *, strict: bool, max_bytes: int, fsync: str
    ) -> None:
        self.faults: list[str] = []
        self._strict = strict
        self._lock = threading.RLock()
        self._calls = 0
        self._finished = self._ended = False
        self._begin = time.monotonic_ns()
        self.file = RecordingFile(_file_in(path), max_bytes=max_bytes, fsync=fsync)
        if self.file.stopped:
            self._note(self.file.stopped)
        told = {"recording": FORMAT, "recorder": {"name": RECORDER, "version": VERSION}, "run_id": str(uuid.uuid4())}
        self._add({"line": "head", **told, **self._now(), **head})

    def call(self, boundary: str, asked: dict[str, Any], fault: str = "") -> int:
        """Write that it is sent. Returns its number."""
        with self._lock:
            self._calls += 1
            self._called(self._calls, boundary, asked, fault)
            return self._calls

    @_harmless
    def _called(self, seq: int, boundary: str, asked: dict[str, Any], fault: str) -> None:
        if self._finished:
            self.fault("misuse", "a call came after finish", seq)
        fault = fault or shapes.json_fault(asked, asked=True)
        if fault:
            self._lost(seq, fault)
        told = {"lost": True} if fault else {"asked": asked}
        self._add({"line": "call", "seq": seq, "boundary": boundary, **self._now(), **told})

    @_harmless
    def answer(self, seq: int, value: Any, fault: str = "", **more: Any) -> None:
        """Write what came back."""
        fault = fault or shapes.json_fault(value)
        with self._lock:
            if fault:
                self._lost(seq, fault)
            told = {"lost": True} if fault else {"value": value, **more}
            self._add({"line": "answer", "seq": seq, **self._now(), **told})

    def failed(self, seq: int, error: BaseException) -> ToolError:
        """Write that it was raised, in place of an answer. Returns what a replay would raise."""
        kind = error.kind if isinstance(error, ToolError) else type(error).__name__
        raised = ToolError(_well(kind) or "error", _well(_text_of(error)))
        self._failed(seq, "error" if isinstance(error, Exception) else "interrupted", raised)
        return raised

    @_harmless
    def _failed(self, seq: int, how: str, raised: ToolError) -> None:
        with self._lock:
            told = {how: {"kind": raised.kind, "message": raised.message}}
            self._add({"line": "answer", "seq": seq, **self._now(), **told})

    @_harmless
    def read(self, boundary: str, fault: str, **told: Any) -> None:
        """Write a read of the clock, or a draw."""
        fault = fault or shapes.json_fault(told)
        with self._lock:
            self._calls += 1
            if fault:
                self._lost(self._calls, fault)
            body = {"lost": True} if fault else told
            self._add({"line": "read", "seq": self._calls, "boundary": boundary, **self._now(), **body})

    @_harmless
    def finish(self, outcome: dict[str, Any]) -> None:
        fault = shapes.outcome_fault(outcome)
        with self._lock:
            if fault:
                self._lost(None, "the outcome: %s" % fault)
            self._add({"line": "finish", **self._now(), **({"lost": True} if fault else {"outcome": outcome})})
            self._finished = True

    @_harmless
    def fault(self, kind: str, text: str, seq: Optional[int] = None) -> None:
        """Say that the recording is not what it should be. `text` quotes no value."""
        with self._lock:
            self._note(text)
            told = {"kind": kind, "text": text} if seq is None else {"kind": kind, "text": text, "seq": seq}
            self._add({"line": "fault", **self._now(), **told}, last=kind == "full")

    @_harmless
    def end(self, how: str, raised: Optional[str]) -> None:
        with self._lock:
            if self._ended:
                return
            self._ended = True
            told = {"calls": self._calls, "lines": self.file.lines, "complete": not self.faults, "ended": how}
            named = {} if raised is None else {"raised": raised[:200]}
            self._add({"line": "end", **self._now(), **told, **named}, last=True)
            self.file.close()

    def give_up(self, error: Exception) -> None:
        """Record nothing more: what is in the file already stays whole."""
        self.file.stopped = "the recorder failed with %s" % type(error).__name__
        self._note(self.file.stopped)

    def _lost(self, seq: Optional[int], fault: str) -> None:
        self.fault("payload", fault, seq)
        if self._strict:
            raise RecordingRefused(fault)

    def _now(self) -> dict[str, Any]:
        """The wall clock, and the nanoseconds since the session began, which no clock that is set changes."""
        at = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        return {"at": at, "ns": time.monotonic_ns() - self._begin}

    def _add(self, line: dict[str, Any], *, last: bool = False) -> None:
        if self._ended and line["line"] != "end":
            self._note("the session was used after it was closed")
            return
        before = self.file.stopped
        if self.file.add(line, last=last) or before:
            return
        if self.file.full:
            # A hole would go by unseen: after the first line that has no room nothing but the end is written.
            self.fault("full", self.file.stopped)
        else:
            self._note(self.file.stopped)

    def _note(self, text: str) -> None:
        self.faults.append(text)
        _log.error("the recording %s is incomplete: %s", self.file.path, text)


def _file_in(path: Union[str, os.PathLike[str]]) -> str:
    """The path itself, or a new name in the folder that it is."""
    place = os.fspath(path)
    if not os.path.isdir(place):
        return place
    now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    return os.path.join(place, "run-%s-%s.jsonl" % (now, uuid.uuid4().hex[:12]))


def _text_of(error: BaseException) -> str:
    try:
        return error.message if isinstance(error, ToolError) else str(error)
    except Exception:
        return ""


def _well(text: str) -> str:
    """The text as it can be written: half of a surrogate pair becomes its escape."""
    return str(text).encode("utf-8", "backslashreplace").decode()[: shapes.MAX_STRING]
