"""A provider's answer by itself, whole or as a list of chunks: recognised to be refused, since no request stands beside
it and nothing can be said of what the model was asked."""

from __future__ import annotations

from typing import Any

from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import UnsupportedFormat
from replaycases.importers.http.sse import is_stream, read_stream

JSON = Any
_OBJECTS = frozenset({"response", "chat.completion", "chat.completion.chunk"})
_FIRST = frozenset({"message_start", "response.created", "response.queued"})


def sniff(file: ForeignFile) -> bool:
    if isinstance(file.json, dict):
        return _is_answer(file.json)
    lines = file.json_lines
    if lines:
        return _is_answer(lines[0])
    events = read_stream(file.head).events if is_stream(file.head) else ()
    return bool(events) and _is_answer(events[0][1])


def _is_answer(value: dict[str, JSON]) -> bool:
    """By the marks that the three APIs put on an answer or on the first event of one."""
    if value.get("type") == "message":
        return value.get("role") == "assistant" and "stop_reason" in value
    return value.get("object") in _OBJECTS if isinstance(value.get("object"), str) else value.get("type") in _FIRST


UNSUPPORTED = UnsupportedFormat(
    name="provider-response",
    title="model provider's answer without its request",
    sniff=sniff,
    instead="Export the exchange with its request: a VCR cassette, or a trace of the run.",
)
