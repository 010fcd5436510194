"""The conversation as the model is sent it."""

from __future__ import annotations

import json
from typing import Any


class Conversation:
    """Messages in order. The system prompt and the tool catalogue are the recorded templates "system" and "tools"."""

    def __init__(self, session: Any) -> None:
        texts = {template["name"]: template["content"] for template in session.templates}
        self.catalogue = json.loads(texts["tools"]) if "tools" in texts else None
        self.messages: list[dict[str, Any]] = []
        if "system" in texts:
            self.messages.append({"role": "system", "content": texts["system"]})
        self.messages.extend(session.input["messages"])

    def request(self) -> dict[str, Any]:
        request: dict[str, Any] = {"messages": list(self.messages)}
        return request if self.catalogue is None else {**request, "tools": self.catalogue}

    def add_model(self, message: dict[str, Any]) -> None:
        """The model's message goes back as it came, call ids included."""
        self.messages.append(message)

    def add_person(self, text: Any) -> None:
        self.messages.append({"role": "user", "content": text})

    def add_answer(self, call: dict[str, Any], content: Any) -> None:
        answer = {"role": "tool", "name": call["function"]["name"], "content": content}
        self.messages.append({**answer, "tool_call_id": call["id"]} if "id" in call else answer)

    def last_said(self) -> Any:
        """What the person was told last."""
        said = (m.get("content") for m in reversed(self.messages) if m["role"] == "assistant" and m.get("content"))
        return next(said, None)
