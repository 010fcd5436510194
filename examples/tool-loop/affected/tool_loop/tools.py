"""Running what the model asked for."""

from __future__ import annotations

import json
from typing import Any


def name_of(call: dict[str, Any]) -> str:
    return str(call["function"]["name"])


def arguments_of(call: dict[str, Any]) -> Any:
    """Models send arguments as JSON text, and none at all as an empty one."""
    raw = call["function"].get("arguments")
    return json.loads(raw) if isinstance(raw, str) and raw.strip() else raw or {}


def run_tool(session: Any, call: dict[str, Any]) -> Any:
    """The tool's answer, or its error in words: the model decides what to make of it."""
    try:
        return session.tools.call(name_of(call), arguments_of(call), call_id=call.get("id"))
    except session.ToolError as error:
        return f"Error: {error.kind}: {error.message}"
