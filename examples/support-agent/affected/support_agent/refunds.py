"""Where is my refund? Looks it up and lets the model write the reply."""

from __future__ import annotations

from typing import Any

from support_agent import drafting
from support_agent.reply import Reply


def handle(session: Any) -> Reply:
    order = session.tools.call("orders.get", {"order_id": session.input["order_id"]})
    state = _state(session, order["refund_id"])
    draft = drafting.refund_reply(session, order, state)
    return Reply(draft, "resolved")


def _state(session: Any, refund_id: str) -> str:
    try:
        return str(session.tools.call("refunds.get", {"refund_id": refund_id})["state"])
    except session.ToolError:
        return "unknown"
