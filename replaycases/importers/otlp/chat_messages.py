"""Messages in parts, as the GenAI conventions record them -> the messages of a chat, and each as a turn, once.

Chat messages are what the importer of transcripts makes too: {role, content, tool_calls: [{id, type, function: {name,
arguments: JSON text}}]} and {role: tool, tool_call_id, content}. What a chat message has no place for (reasoning,
files, what the provider ran itself) stays a list of parts in `content`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import orjson

from replaycases.importers.exchanges import Turn
from replaycases.importers.otlp.site import Notes
from replaycases.importers.otlp.values import json_in, standing
from replaycases.importers.turns import ANSWERS, CALLS, PROVIDER_RUN, provider_run, turn_of

JSON = Any
_LONG = 1024
LOST_TEXT = "arguments were recorded as an object: how the model wrote them is lost, their JSON text is written anew"


@dataclass
class Turns:
    """The turns of one run. A message that stands in many requests is read once, and its turn is shared by them."""

    notes: Notes
    _known: dict[bytes, tuple[Turn, ...]] = field(default_factory=dict)
    _same: dict[bytes, JSON] = field(default_factory=dict)

    def of(self, message: JSON, source: str) -> tuple[Turn, ...]:
        """The turns of one recorded message; several where it answers several calls."""
        key = _key(message)
        found = self._known.get(key)
        if found is None:
            faults: list[str] = []
            sound = standing(message, faults)
            self.notes.faults(source, faults)
            found = self._known[key] = tuple(self._turn(chat, source) for chat in self._chat(sound, source))
        return found

    def same(self, messages: JSON) -> JSON:
        """The messages of a recorded request, each equal one as the same object."""
        if not isinstance(messages, list):
            return messages
        return [self._same.setdefault(_key(message), message) for message in messages]

    def _turn(self, chat: JSON, source: str) -> Turn:
        for place in provider_run(chat, source):
            text = "the provider ran a tool itself: its call and answer stand in what the model said"
            self.notes.each("server_side", place, text, boundary="model")
        return turn_of(chat, source)

    def _chat(self, message: JSON, source: str) -> list[JSON]:
        if not isinstance(message, dict):
            return [message]
        parts = message.get("parts")
        if not isinstance(parts, list):
            blocks = message.get("content")
            if isinstance(blocks, list) and any(_holds(block, "toolUse", "toolResult", "text") for block in blocks):
                return self._converse(message, blocks, source)
            return [self._written(message, source)]
        calls, answers, said = [], [], []
        for part in parts:
            kind = part.get("type") if isinstance(part, dict) else None
            if kind == "tool_call":
                calls.append(self._call(part, source))
            elif kind == "tool_call_response":
                answers.append(_answer(part))
            else:
                said.append(part)
        rest = _message(message, said, calls) if said or calls or not answers else None
        return [*answers, *([rest] if rest is not None else [])]

    def _converse(self, message: dict[str, JSON], blocks: list[JSON], source: str) -> list[JSON]:
        """A message of Bedrock's Converse, whose blocks are named by their only key."""
        uses = [block["toolUse"] for block in blocks if _holds(block, "toolUse")]
        results = [block["toolResult"] for block in blocks if _holds(block, "toolResult")]
        said = [block for block in blocks if not _holds(block, "toolUse", "toolResult")]
        calls = [self._call({**use, "id": use.get("toolUseId"), "arguments": use.get("input")}, source) for use in uses]
        answers = [_result(result) for result in results]
        content = said[0]["text"] if len(said) == 1 and _holds(said[0], "text") else said or None
        rest = {**message, "content": content, **({"tool_calls": calls} if calls else {})}
        return [*answers, *([rest] if said or calls or not answers else [])]

    def _written(self, message: dict[str, JSON], source: str) -> JSON:
        """A chat message as recorded, without what is empty or belongs to the response around it."""
        chat = {
            key: value for key, value in message.items() if key != "finish_reason" and (key, value) != ("name", None)
        }
        calls = chat.get("tool_calls")
        if isinstance(calls, list):
            chat["tool_calls"] = [self._rewritten(call, source) for call in calls]
        return chat

    def _rewritten(self, call: JSON, source: str) -> JSON:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or isinstance(function.get("arguments"), str | None):
            return call
        return {**call, "function": {**function, "arguments": self._text(function["arguments"], source)}}

    def _call(self, part: dict[str, JSON], source: str) -> JSON:
        known = {"id": part["id"]} if part.get("id") is not None else {}
        arguments = part.get("arguments")
        text = arguments if isinstance(arguments, str) else "" if arguments is None else self._text(arguments, source)
        given = {"arguments": text} if "arguments" in part else {}
        return {**known, "type": "function", "function": {"name": part.get("name"), **given}}

    def _text(self, arguments: JSON, source: str) -> str:
        self.notes.add("content_lost", source, LOST_TEXT, boundary="tool")
        return json.dumps(arguments, ensure_ascii=False)


def _key(message: JSON) -> bytes:
    """Equal for equal messages; of a long one its digest, so that it is not kept twice."""
    text = orjson.dumps(message)
    return text if len(text) < _LONG else hashlib.blake2b(text, digest_size=32).digest()


def blocks_in(content: JSON) -> JSON:
    """Content that an event or a flat name can hold as text only: a list of blocks was encoded, and is one again. Any
    other JSON in a text is what was said."""
    if not isinstance(content, str) or not content.startswith("[{"):
        return content
    found = json_in(content, [])
    return found if isinstance(found, list) and all(_is_block(block) for block in found) else content


def _is_block(block: JSON) -> bool:
    converse = _holds(block, "text", "image", "document", "toolUse", "toolResult", "reasoningContent")
    return converse or (isinstance(block, dict) and str(block.get("type")) in _BLOCKS)


def lacks_words(message: JSON) -> bool:
    """Whether a message was recorded without what was said, asked or answered in it: what is left where an
    instrumentation may not record content."""
    if not isinstance(message, dict):
        return False
    parts, calls = message.get("parts"), message.get("tool_calls")
    if isinstance(parts, list):
        return any(isinstance(part, dict) and _is_frame(part) for part in parts)
    if isinstance(calls, list) and calls:
        functions = [call.get("function") for call in calls if isinstance(call, dict)]
        return any(isinstance(function, dict) and "arguments" not in function for function in functions)
    empty = message.get("role") == "assistant" and "content" in message
    return not empty and all(message[key] is None for key in message if key not in _FRAME)


def _is_frame(part: dict[str, JSON]) -> bool:
    held = {"text": ("content",), "tool_call": ("arguments",), "tool_call_response": _ANSWER}.get(str(part.get("type")))
    return held is not None and not any(key in part for key in held)


_BLOCKS = frozenset(
    {"text", "input_text", "output_text", "image", "image_url", "input_image", "input_audio", "document", "file",
     "thinking", "redacted_thinking", "reasoning", *CALLS, *ANSWERS, *PROVIDER_RUN}
)  # fmt: skip
_FRAME = ("role", "name", "id", "tool_call_id", "finish_reason", "index")
_ANSWER = ("response", "result", "content")


def _answer(part: dict[str, JSON]) -> JSON:
    known = {"tool_call_id": part["id"]} if part.get("id") is not None else {}
    named = {"name": part["name"]} if part.get("name") is not None else {}
    key = next((key for key in _ANSWER if key in part), None)
    return {"role": "tool", **known, **named, **({} if key is None else {"content": part[key]})}


def _holds(block: JSON, *keys: str) -> bool:
    """Whether this is a block of Bedrock's Converse with one of these: an object, or a text for `text`."""
    if not isinstance(block, dict) or len(block) != 1:
        return False
    ((key, value),) = block.items()
    return key in keys and isinstance(value, str if key == "text" else dict)


def _result(result: dict[str, JSON]) -> JSON:
    failed = {"status": "error"} if result.get("status") == "error" else {}
    known = {"tool_call_id": result["toolUseId"]} if result.get("toolUseId") is not None else {}
    return {"role": "tool", **known, "content": result.get("content"), **failed}


def _message(message: dict[str, JSON], said: list[JSON], calls: list[JSON]) -> JSON:
    named = {"name": message["name"]} if message.get("name") is not None else {}
    asked = {"tool_calls": calls} if calls else {}
    return {"role": message.get("role"), **named, "content": _content(said), **asked}


def _content(said: list[JSON]) -> JSON:
    if len(said) == 1 and isinstance(said[0], dict) and said[0].get("type") == "text" and set(said[0]) <= _TEXT:
        return said[0].get("content")
    return said or None


_TEXT = {"type", "content"}
