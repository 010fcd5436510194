"""One customer request in, one reply out."""

from __future__ import annotations

from typing import Any

from support_agent import email_changes, recovery, refunds, shipments

FLOWS = {
    "refund_status": refunds.handle,
    "ship_order": shipments.handle,
    "locked_out": recovery.handle,
    "change_email": email_changes.handle,
}


def replay(session: Any) -> None:
    """The request form already sorted the request by topic."""
    reply = FLOWS[session.input["topic"]](session)
    session.finish(**reply.as_outcome())
