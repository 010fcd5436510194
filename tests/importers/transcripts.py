"""Chat transcripts put together in a few words."""

from __future__ import annotations

import json
from typing import Any

from replaycases.importers.supplied import Supplied

JSON = Any
SUPPLIED = {"case_id": "case-1", "incident_id": "INC-1", "frozen_at": "2025-03-01T09:00:00+01:00"}


def supplied(**more: JSON) -> Supplied:
    return Supplied(**{**SUPPLIED, **more})


def system(text: str = "Help.") -> dict[str, JSON]:
    return {"role": "system", "content": text}


def user(text: str) -> dict[str, JSON]:
    return {"role": "user", "content": text}


def says(text: str) -> dict[str, JSON]:
    return {"role": "assistant", "content": text}


def asks(*calls: dict[str, JSON], text: str | None = None) -> dict[str, JSON]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def call(name: str, arguments: JSON = None, id: str | None = "c") -> dict[str, JSON]:
    function = {"name": name, "arguments": json.dumps(arguments or {})}
    return {"type": "function", "function": function, **({} if id is None else {"id": id})}


def answers(content: JSON, id: str | None = "c", name: str | None = None) -> dict[str, JSON]:
    message = {"role": "tool", "content": content}
    return message | ({} if id is None else {"tool_call_id": id}) | ({} if name is None else {"name": name})


def transcript(*messages: dict[str, JSON], **head: JSON) -> bytes:
    return json.dumps({"messages": messages, **head}).encode()
