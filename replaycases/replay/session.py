"""The replay session: one request in, one recorded answer out, or a halt. Knows no process and no socket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """A JSON-RPC result."""

    result: dict[str, Any]


@dataclass(frozen=True)
class ToolError:
    """A recorded tool error: JSON-RPC error code 1 with data {kind, message}."""

    kind: str
    message: str


@dataclass(frozen=True)
class Halt:
    """Answer nothing more and end the process. Why stands in the session's observation."""


Reply = Answer | ToolError | Halt


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How the process ended, seen from outside.

    `cause` is "exit" (by itself, with `exit_status`), "halted" (we killed it after a Halt), or the limit that ended
    it. `started` says whether `session.start` was answered.
    """

    cause: str
    exit_status: int | None = None
    reason: str = ""
    stderr: str = ""
