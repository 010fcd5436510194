"""What a message of a chat transcript must look like before it is read: every fault has its pointer, none its value."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model_request import SYSTEM_ROLES
from replaycases.importers.findings import refused

JSON = Any
ROLES = (*SYSTEM_ROLES, "user", "assistant", "tool")


def check_messages(base: str, messages: list[dict[str, JSON]]) -> None:
    """Raises ImportRefused for the first message that is malformed."""
    for at, message in enumerate(messages):
        _check_message(f"{base}/{at}", message)


def _check_message(pointer: str, message: dict[str, JSON]) -> None:
    role = message["role"]
    if role not in ROLES:
        raise refused("message", f"{pointer}/role", "an unknown role", f"Known roles: {', '.join(ROLES)}.")
    for name in ("tool_call_id", "name"):
        _text_or_nothing(f"{pointer}/{name}", message.get(name))
    if role in SYSTEM_ROLES and not isinstance(message.get("content"), str):
        raise refused("message", f"{pointer}/content", "not a text", "A system message is one text.")
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise refused("tool-call", f"{pointer}/tool_calls", "not a list", "Write the calls as a list.")
    for index, call in enumerate(calls or ()):
        _check_call(f"{pointer}/tool_calls/{index}", call)


def _check_call(pointer: str, call: JSON) -> None:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
        hint = "A call is {id?, function: {name, arguments}}."
        raise refused("tool-call", pointer, "a tool call has no function name", hint)
    _text_or_nothing(f"{pointer}/id", call.get("id"))


def _text_or_nothing(pointer: str, value: JSON) -> None:
    if value is not None and not isinstance(value, str):
        raise refused("message", pointer, "not a text", "Write a string, or leave it out.")
