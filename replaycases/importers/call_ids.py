"""Where tool-call ids stand in a model request: a workflow that makes its own is compared by order of appearance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from replaycases.importers.repeated import Repeated

JSON = Any
_ANSWERED = ("tool_call_id", "call_id", "tool_use_id", "toolCallId")
_CALL_TYPES = ("function_call", "tool_use", "custom_tool_call", "tool_call", "tool_call_response")
_LANGCHAIN_TYPES = ("human", "ai", "system", "tool", "function", "AIMessageChunk")
_NESTED = ("content", "parts")


class CallIds:
    """Pointers into the requests of a run: of OpenAI chat, OpenAI responses, Anthropic messages, messages with parts
    and those of LangChain, whose messages have generated ids too."""

    def __init__(self) -> None:
        self._messages = Repeated(lambda key, at, message: tuple(_of_message(f"/{key}/{at}", message)))

    def of(self, request: JSON) -> list[str]:
        return [pointer for made in self._messages.of(request).values() for pointer in chain.from_iterable(made)]


def _of_message(base: str, message: JSON) -> Iterator[str]:
    if not isinstance(message, dict):
        return
    if message.get("type") == "constructor":
        yield from _of_message(f"{base}/kwargs", message.get("kwargs"))
        return
    calls = message.get("tool_calls")
    for at, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict) and "id" in call:
            yield f"{base}/tool_calls/{at}/id"
    yield from _of_part(base, message)
    if message.get("type") in _LANGCHAIN_TYPES and isinstance(message.get("id"), str):
        yield f"{base}/id"
    for key in _NESTED:
        parts = message.get(key)
        for at, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict):
                yield from _of_part(f"{base}/{key}/{at}", part)


def _of_part(base: str, part: dict[str, JSON]) -> Iterator[str]:
    yield from (f"{base}/{key}" for key in _ANSWERED if key in part)
    if part.get("type") in _CALL_TYPES and "id" in part:
        yield f"{base}/id"
