"""Ship an order. Creating a shipment may time out; the warehouse tells calls apart by their idempotency key."""

from __future__ import annotations

from typing import Any

from support_agent.reply import Reply

ATTEMPTS = 2


def handle(session: Any) -> Reply:
    key = session.random.draw("idempotency_key")
    order = session.tools.call("orders.get", {"order_id": session.input["order_id"]})
    state = _create(session, order, key)
    listed = _listed(session, order["order_id"])
    if state == "refused":
        return Reply(f"The warehouse does not accept order {order['order_id']}: nothing was shipped.", "refused")
    if state == "created" or listed:
        return Reply(f"Your order {order['order_id']} is on its way.", "shipped", action="ship")
    return Reply(
        f"I could not confirm that order {order['order_id']} was handed over; we will find out.", "unconfirmed"
    )


def _create(session: Any, order: dict[str, Any], key: str) -> str:
    request = {"order_id": order["order_id"], "address_id": order["address_id"]}
    headers = {"idempotency_key": key}
    for _ in range(ATTEMPTS):
        try:
            session.tools.call("shipments.create", {**request, **headers})
            return "created"
        except session.ToolError as error:
            if error.kind == "rejected":
                return "refused"
            headers = {}
    return "unknown"


def _listed(session: Any, order_id: str) -> int:
    try:
        return len(session.tools.call("shipments.list", {"order_id": order_id})["shipments"])
    except session.ToolError:
        return 0
