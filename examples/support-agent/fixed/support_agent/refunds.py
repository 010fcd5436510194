"""Where is my refund? Looks it up and lets the model write the reply, if there is something to report."""

from __future__ import annotations

from typing import Any

from support_agent import drafting
from support_agent.reply import Reply

SETTLED, DECLINED = "settled", "declined"


def handle(session: Any) -> Reply:
    """The draft is sent only when the payment service itself said that the money went out: the model's word is no
    evidence of a payment."""
    order = session.tools.call("orders.get", {"order_id": session.input["order_id"]})
    state = _state(session, order["refund_id"])
    draft = drafting.refund_reply(session, order, state)
    if state == SETTLED:
        return Reply(draft, "resolved", claims=("refund-completed",))
    if state == DECLINED:
        return Reply(f"The payment service declined refund {order['refund_id']}; a colleague will write.", "refused")
    return Reply(
        f"I could not confirm where refund {order['refund_id']} stands. I will check again and write to you.",
        "unconfirmed",
    )


def _state(session: Any, refund_id: str) -> str:
    try:
        return str(session.tools.call("refunds.get", {"refund_id": refund_id})["state"])
    except session.ToolError:
        return "unknown"
