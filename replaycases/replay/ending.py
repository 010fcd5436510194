"""How a run ended: what the session decided, what the supervisor saw, and the status they make together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from replaycases.verdict.observation import Divergence, RunStatus


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How the process ended, seen from outside.

    `cause` is "exit" (by itself, with `exit_status`), "halted" (we killed it after a Halt), or what ended it:
    "timed_out", "limit_exceeded", "cancelled", "environment_unavailable", or "adapter_error" for a line that is no
    valid request. `reason` says more in one sentence.
    """

    cause: str
    exit_status: int | None = None
    reason: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class Halted:
    """The session ended the run: the status it gives, one sentence, and the divergence where there is one."""

    status: RunStatus
    reason: str
    divergence: Divergence | None = None


ENDED_OUTSIDE: Mapping[str, RunStatus] = {
    "timed_out": "timed_out",
    "limit_exceeded": "limit_exceeded",
    "cancelled": "cancelled",
    "environment_unavailable": "environment_unavailable",
}
"""Causes that the session knows nothing of, and the status of a run that they ended."""


def conclude(halted: Halted | None, ended: Ended, *, started: bool, finished: bool) -> Halted:
    """Status, reason and divergence of the run, before left-over events are looked at.

    A cause that is none of those `Ended` names, and "halted" where the session halted nothing, are faults of the side
    that ran the process: adapter errors, never a result.
    """
    if halted is not None:
        return halted if halted.status != "adapter_error" else _adapter_error(halted.reason)
    if ended.cause in ENDED_OUTSIDE:
        return Halted(ENDED_OUTSIDE[ended.cause], ended.reason or ended.cause.replace("_", " "))
    if ended.cause != "exit":
        return _adapter_error(ended.reason or f"the run was ended by {ascii(ended.cause)[:40]} without a reason")
    if not started:
        return _adapter_error(ended.reason or f"ended before session.start with exit status {ended.exit_status}")
    if not finished:
        return _crashed(ended.reason or f"ended without finish, with exit status {ended.exit_status}")
    if type(ended.exit_status) is not int or ended.exit_status != 0:
        return _crashed(ended.reason or f"ended with exit status {ended.exit_status} after finish")
    return Halted("completed", ended.reason)


def _adapter_error(reason: str) -> Halted:
    divergence = Divergence(
        kind="adapter",
        boundary="session",
        message=reason,
        remedy="correct the adapter: docs/protocol.md lists every request and its shape",
    )
    return Halted("adapter_error", reason, divergence)


def _crashed(reason: str) -> Halted:
    divergence = Divergence(
        kind="crash",
        boundary="process",
        message=reason,
        remedy="read the run's standard error; the workflow must send finish once and exit with status 0",
    )
    return Halted("crashed", reason, divergence)
