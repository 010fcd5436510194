"""Drafts by the model. The request is the prompt version's: change it and the prompt version together."""

from __future__ import annotations

from typing import Any

SYSTEM = (
    "You write for the support desk of a shop. Be warm and short. Answer in one or two sentences, "
    "from the facts alone, in the language of the customer."
)


def refund_reply(session: Any, order: dict[str, Any], state: str) -> str:
    facts = (
        f"Facts: order {order['order_id']}, refund {order['refund_id']} over {order['amount']}, "
        f"asked for by the customer and accepted by the shop. The payment service gives its state as {state} now. "
        f"The customer writes: {session.input['message']}"
    )
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": facts}]
    return str(session.model.call({"messages": messages})["message"]["content"])
