"""The account-recovery policy, as it was in force."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

NAME = "account-recovery"


@dataclass(frozen=True)
class RecoveryPolicy:
    """The desk is staffed from `opens` to `closes`, in the customer's local time, over midnight if it closes earlier
    than it opens. `callback_from` is the earliest local time at which a customer may be called back."""

    opens: time
    closes: time
    callback_from: time
    reference: dict[str, str]

    def desk_is_staffed(self, local: time) -> bool:
        if self.opens <= self.closes:
            return self.opens <= local < self.closes
        return local >= self.opens or local < self.closes

    def callback_at(self, now: datetime, zone: ZoneInfo) -> datetime:
        """The next local `callback_from`."""
        local = now.astimezone(zone)
        today = datetime.combine(local.date(), self.callback_from, zone)
        return today if today > local else datetime.combine(local.date() + timedelta(days=1), self.callback_from, zone)


def recovery_policy(session: Any) -> RecoveryPolicy:
    policy = next(p for p in session.policies if p["name"] == NAME)
    content = json.loads(policy["content"])
    return RecoveryPolicy(
        opens=time.fromisoformat(content["desk"]["opens"]),
        closes=time.fromisoformat(content["desk"]["closes"]),
        callback_from=time.fromisoformat(content["callback"]["from"]),
        reference={name: policy[name] for name in ("name", "version", "sha256")},
    )
