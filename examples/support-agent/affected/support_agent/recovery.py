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
    subject = {"subject": session.identity["subject"]}
    if accepting and policy.desk_is_staffed(local_time(now, zone)):
        arguments: dict[str, Any] = {**subject, "queue": QUEUE}
        tool, action, at = "recovery.open_handoff", "handoff", None
    else:
        at = policy.callback_at(now, zone)
        arguments = {**subject, "at": at.isoformat()}
        tool, action = "recovery.schedule_callback", "schedule_callback"
    try:
        session.tools.call(tool, arguments)
    except session.ToolError:
        return Reply(wording.say(session.locale, "not_arranged"), "unconfirmed", "none", (policy.reference,))
    message = wording.say(session.locale, action, at)
    return Reply(message, "arranged", action, (policy.reference,))
