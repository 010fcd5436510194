"""Asks the model what to do, does it, and says what the model said, whatever came of it: the fault of this example."""

from __future__ import annotations

from typing import Any

SYSTEM = "You help customers of a shop. Call refund for what arrived broken."


def replay(session: Any) -> None:
    rules = session.retrieval.search("refund rules", {"limit": 1})
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": session.input["message"]},
        {"role": "user", "content": f"Rules: {rules[0]['text']}"},
    ]
    answer = session.model.call({"messages": messages})
    attempt = session.random.draw("attempt")
    for call in answer["calls"]:
        arguments = {**call["arguments"], "attempt": attempt, "at": session.clock.now().date().isoformat()}
        try:
            session.tools.call(call["tool"], arguments)
        except session.ToolError:
            continue
    session.finish(answer["text"], status="closed")
