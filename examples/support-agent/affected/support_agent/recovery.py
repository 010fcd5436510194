"""A customer is locked out. While the recovery desk is staffed a person takes over; else a callback is arranged."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from support_agent import wording
from support_agent.clock import local_time
from support_agent.policy import recovery_policy
from support_agent.reply import Reply

QUEUE = "account-recovery"


def handle(session: Any) -> Reply:
    policy, zone, now = recovery_policy(session), ZoneInfo(session.time_zone), session.clock.now()
    accepting = session.tools.call("desk.availability", {"queue": QUEUE})["accepting"]
    request: dict[str, Any] = {"subject": session.identity["subject"]}
    if accepting and policy.desk_is_staffed(local_time(now, zone)):
        action, at = "handoff", None
        request |= {"kind": "handoff", "queue": QUEUE}
    else:
        action, at = "schedule_callback", policy.callback_at(now, zone)
        request |= {"kind": "callback", "at": at.isoformat()}
    try:
        session.tools.call("recovery.arrange", request)
    except session.ToolError:
        return Reply(wording.say(session.locale, "not_arranged"), "unconfirmed", "none", (policy.reference,))
    message = wording.say(session.locale, action, at)
    return Reply(message, "arranged", action, (policy.reference,))
