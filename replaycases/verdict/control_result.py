"""What the new version did on one neighbouring case that must stay right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ControlResult:
    """`passed` is None where it could not be decided, which is no pass."""

    control: str
    passed: bool | None
    reason: str = ""
