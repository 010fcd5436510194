"""Change the e-mail address of an account."""

from __future__ import annotations

from typing import Any

from support_agent.reply import Reply


def handle(session: Any) -> Reply:
    address = session.input["new_email"]
    try:
        session.tools.call("profiles.set_email", {"customer_id": session.identity["subject"], "email": address})
    except session.ToolError as error:
        if error.kind == "rejected":
            return Reply(f"{address} cannot be used for your account; nothing was changed.", "refused")
    return Reply(f"All done: your e-mail address has been changed to {address}.", "resolved", action="change_email")
