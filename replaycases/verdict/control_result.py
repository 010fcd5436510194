"""What the new version did on one neighbouring case that must stay right."""

from __future__ import annotations

from dataclasses import dataclass

NOT_REPLAYED = "has not been replayed yet"


@dataclass(frozen=True, kw_only=True)
class ControlResult:
    """`passed` is None where it could not be decided, which is no pass."""

    control: str
    passed: bool | None
    reason: str = ""

    @property
    def replayed(self) -> bool:
        """False where nobody ran it yet: then it did not fail, and nothing is known of it."""
        return self.reason != NOT_REPLAYED
