"""VCR cassettes put together in a few words."""

from __future__ import annotations

import json
from typing import Any

import yaml

from replaycases.importers import vcr
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import NeutralRun, ToolStep
from tests.importers.http.streams import sse

JSON = Any
CHAT = "https://api.openai.com/v1/chat/completions"
RESPONSES = "https://api.openai.com/v1/responses"
MESSAGES = "https://api.anthropic.com/v1/messages"


def interaction(
    asked: JSON, told: JSON, *, url: str = CHAT, status: int = 200, method: str = "POST", **headers: JSON
) -> dict[str, JSON]:
    """As vcrpy writes one: objects become JSON text, bytes stay bytes."""
    return {
        "request": {"method": method, "uri": url, "body": _text(asked), "headers": {"Accept": ["*/*"]}},
        "response": {
            "status": {"code": status, "message": "said"},
            "headers": {name.replace("_", "-"): [value] for name, value in headers.items()},
            "body": {"string": _text(told)},
        },
    }


def _text(body: JSON) -> JSON:
    return body if isinstance(body, str | bytes) or body is None else json.dumps(body)


def cassette(*interactions: JSON) -> bytes:
    return yaml.safe_dump({"interactions": list(interactions), "version": 1}).encode()


def read(*interactions: JSON) -> NeutralRun:
    return vcr.read(ForeignFile(cassette(*interactions)), 0)


def tools(run: NeutralRun) -> list[ToolStep]:
    return [step for step in run.steps if isinstance(step, ToolStep)]


def kinds(run: NeutralRun) -> list[str]:
    return [note.kind for note in run.notes]


def user(text: str) -> JSON:
    return {"role": "user", "content": text}


def call(name: str, arguments: JSON, id: str = "a") -> JSON:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def asks(*calls: JSON) -> JSON:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def told(content: str, id: str = "a") -> JSON:
    return {"role": "tool", "tool_call_id": id, "content": content}


def chat(*messages: JSON, **more: JSON) -> JSON:
    return {"model": "m", "messages": list(messages), **more}


def answer(message: JSON, **more: JSON) -> JSON:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "model": "m-1", "choices": [choice], **more}


def streamed(message: JSON, *, end: str | None = "stop") -> bytes:
    choice = {"index": 0, "delta": message, "finish_reason": end}
    return sse(
        {"id": "c", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}, done=end is not None
    )


def looked_up() -> tuple[JSON, JSON]:
    """Two exchanges: the model asks for a tool, and speaks once it was told what the tool answered."""
    one = call("look", {"n": 1})
    return (
        interaction(chat(user("hi")), answer(asks(one))),
        interaction(chat(user("hi"), asks(one), told("one")), answer({"content": "It is one."})),
    )


def response(id: str, *output: JSON, **more: JSON) -> JSON:
    return {"id": id, "object": "response", "model": "m-1", "status": "completed", "output": list(output), **more}


def function_call(name: str, arguments: JSON, id: str = "a") -> JSON:
    return {"type": "function_call", "id": f"fc-{id}", "call_id": id, "name": name, "arguments": json.dumps(arguments)}


def output(id: str, value: JSON) -> JSON:
    return {"type": "function_call_output", "call_id": id, "output": value}


def says(text: str) -> JSON:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
