"""What a flow hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reply:
    """`status` is how the request stands, `action` what was done about it, `policies` those it was decided by."""

    message: str
    status: str
    action: str = "answer"
    policies: tuple[dict[str, str], ...] = ()

    def as_outcome(self) -> dict[str, Any]:
        outcome: dict[str, Any] = {"message": self.message, "status": self.status, "action": self.action}
        return {**outcome, "policies_used": list(self.policies)} if self.policies else outcome
