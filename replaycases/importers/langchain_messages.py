"""Messages of LangChain: {"lc": 1, "type": "constructor", "id": […, "HumanMessage"], "kwargs": {…}}, or the kwargs by
themselves with `type` human, ai, system, tool, function, chat."""

from __future__ import annotations

from typing import Any

JSON = Any
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
}


def unwrapped(message: dict[str, JSON]) -> dict[str, JSON]:
    """The message as a dict with a `role`; another dialect's as it is."""
    kwargs = message.get("kwargs")
    if message.get("type") == "constructor" and isinstance(kwargs, dict):
        name = message["id"][-1] if isinstance(message.get("id"), list) and message["id"] else ""
        return _with_role(kwargs, str(name).removesuffix("Chunk").removesuffix("Message").lower())
    data = message.get("data")
    if isinstance(data, dict) and "role" not in message and _kind(message) in _ROLES:
        return _with_role(data, _kind(message))
    if "role" not in message and _kind(message) in _ROLES:
        return _with_role(message, _kind(message))
    return message


def inside(message: dict[str, JSON], source: str) -> str:
    """The pointer to what `unwrapped` takes out of the message."""
    return f"{source}/kwargs" if message.get("type") == "constructor" else source


def said_by_tool(message: JSON) -> tuple[JSON, bool] | None:
    """What a tool said, taken out of its message, and whether that marks a failure; None for anything else."""
    plain = unwrapped(message) if isinstance(message, dict) else {}
    if plain.get("role") != "tool" or "content" not in plain:
        return None
    return plain["content"], plain.get("status") == "error"


def _kind(message: dict[str, JSON]) -> str:
    return str(message.get("type", "")).removesuffix("MessageChunk").removesuffix("Message").lower()


def _with_role(fields: dict[str, JSON], kind: str) -> dict[str, JSON]:
    role = _ROLES.get(kind) or fields.get("role")
    return {**fields, "role": role} if role else fields
