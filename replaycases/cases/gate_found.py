"""What a gate found, before it is given its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GateState = Literal["satisfied", "unsatisfied", "not_applicable", "overridden", "error"]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Where the reader can look: `kind` is comparison, run, revision, redaction, control, decision, proposal, details
    or comments; `number` names it within the case or project, None where there is one of it."""

    kind: str
    label: str
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """`detail` says what was found, `remedy` what to do; "" where there is nothing to do."""

    state: GateState
    detail: str
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()


def satisfied(detail: str, *evidence: Evidence) -> Found:
    return Found(state="satisfied", detail=detail, evidence=evidence)


def unsatisfied(detail: str, remedy: str, *evidence: Evidence) -> Found:
    return Found(state="unsatisfied", detail=detail, remedy=remedy, evidence=evidence)


def not_applicable(detail: str) -> Found:
    return Found(state="not_applicable", detail=detail)


def listed(names: list[str], most: int = 4) -> str:
    """ "a, b and 3 more" """
    left = len(names) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {left} more" if left > 0 else shown
