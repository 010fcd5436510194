"""OpenAI's Chat Completions API, and what speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replaycases.importers.exchanges import AskedCall, GivenAnswer, Turn
from replaycases.importers.http.codec import (
    Codec,
    Notes,
    Said,
    Streamed,
    instant,
    objects,
    text_or_none,
    usage_of,
)
from replaycases.importers.http.deltas import joined, merge
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.http.sse import Stream
from replaycases.importers.turns import arguments_of, text_of

JSON = Any
SETTINGS = frozenset(
    {
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "seed",
        "stop",
        "n",
        "frequency_penalty",
        "presence_penalty",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        "tool_choice",
        "function_call",
        "parallel_tool_calls",
        "response_format",
        "reasoning_effort",
        "verbosity",
        "service_tier",
        "modalities",
        "audio",
        "prediction",
    }
)
TRANSPORT = frozenset({"stream", "stream_options"})
USAGE = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "total_tokens": "total_tokens",
    "cached_tokens": "prompt_tokens_details.cached_tokens",
    "reasoning_tokens": "completion_tokens_details.reasoning_tokens",
}


def recognises(exchange: HttpExchange) -> bool:
    if exchange.method != "POST":
        return False
    if exchange.path.endswith("/chat/completions"):
        return True
    request, response = exchange.request.json, exchange.response.json
    shaped = isinstance(request, dict) and isinstance(request.get("messages"), list)
    return shaped and isinstance(response, dict) and response.get("object") == "chat.completion"


def sent(request: dict[str, JSON], base: str) -> tuple[Turn, ...]:
    return tuple(_turn(message, f"{base}/messages/{at}") for at, message in objects(request.get("messages")))


def _turn(message: dict[str, JSON], source: str) -> Turn:
    role, content = message.get("role"), text_of(message.get("content"))
    if role in ("system", "developer"):
        return Turn(role="system", raw=message, content=content)
    if role == "user":
        return Turn(role="user", raw=message, content=content, source=source)
    if role in ("tool", "function"):
        name = message.get("name") if role == "function" else None
        answer = GivenAnswer(
            source=source,
            value=message.get("content"),
            call_id=text_or_none(message.get("tool_call_id")),
            tool=text_or_none(name),
        )
        return Turn(role="tool", raw=message, answers=(answer,))
    calls, damaged = asked(message, source)
    return Turn(role="assistant", raw=message, content=content, calls=calls, source=source, unread=damaged)


def asked(message: dict[str, JSON], source: str) -> tuple[tuple[AskedCall, ...], tuple[str, ...]]:
    """The calls of an assistant message (tool calls of both kinds, and the one function call of old), and pointers to
    what should be a call and is none."""
    held = tuple(_held(message, source))
    calls = tuple(call for call in held if isinstance(call, AskedCall))
    return calls, tuple(place for place in held if isinstance(place, str))


def _held(message: dict[str, JSON], source: str) -> Iterator[AskedCall | str]:
    listed = message.get("tool_calls") or []
    for at, call in enumerate(listed if isinstance(listed, list) else [listed]):
        yield _call(call, f"{source}/tool_calls/{at}")
    old = message.get("function_call")
    if old is not None:
        yield _call({"function": old}, f"{source}/function_call")


def _call(call: JSON, place: str) -> AskedCall | str:
    held = call if isinstance(call, dict) else {}
    kind = "custom" if isinstance(held.get("custom"), dict) else "function"
    told = held.get(kind)
    name = text_or_none(told.get("name")) if isinstance(told, dict) else None
    if name is None or not isinstance(told, dict):
        return place
    given = told.get("input") if kind == "custom" else arguments_of(told.get("arguments"))
    return AskedCall(source=place, tool=name, arguments=given, call_id=text_or_none(held.get("id")))


def said(response: dict[str, JSON], base: str) -> Said:
    choices = sorted(objects(response.get("choices")), key=lambda pair: _place(pair[1], pair[0]))
    messages = [
        (message, f"{base}/choices/{at}/message")
        for at, choice in choices
        if isinstance(message := choice.get("message"), dict)
    ]
    held = [asked(message, source) for message, source in messages]
    notes = Notes()
    for (calls, damaged), (message, source) in zip(held, messages, strict=True):
        custom = [at for at, call in objects(message.get("tool_calls")) if isinstance(call.get("custom"), dict)]
        notes.check(calls, damaged, [f"{source}/tool_calls/{at}" for at in custom])
    first = messages[0][0] if messages else {}
    return Said(
        choices=tuple(calls for calls, _ in held),
        said=text_of(first.get("content") or first.get("refusal")),
        usage=usage_of(response.get("usage"), USAGE),
        returned_model=text_or_none(response.get("model")),
        started_at=instant(response.get("created")),
        failed=bool(response.get("error")),
        notes=tuple(notes.items),
    )


def streamed(stream: Stream) -> Streamed:
    """Deltas by the index of their choice and, inside it, of their tool call."""
    body: dict[str, JSON] = {}
    choices: dict[int, dict[str, JSON]] = {}
    error = None
    for _, chunk in stream.events:
        if chunk.get("error"):
            error = {"error": chunk["error"]}
        body.update({name: chunk[name] for name in chunk if name not in _NOT_KEPT and chunk[name] is not None})
        for at, choice in objects(chunk.get("choices")):
            _add_choice(choices.setdefault(_place(choice, at), {"message": {"role": "assistant"}}), choice)
    if body.get("object") == "chat.completion.chunk":
        body["object"] = "chat.completion"
    ended = bool(choices) and all(choice.get("finish_reason") for choice in choices.values())
    whole = [{"index": index, **joined(choices[index])} for index in sorted(choices)]
    kept = {**body, "choices": whole} if whole or error is None else body
    return Streamed(body={**kept, **(error or {})}, error=error, cut=not (error or stream.done or ended))


def _add_choice(held: dict[str, JSON], choice: dict[str, JSON]) -> None:
    for name, value in choice.items():
        if name in ("delta", "message") and isinstance(value, dict):
            merge(held["message"], value)
        elif name == "logprobs" and isinstance(value, dict):
            merge(held, {"logprobs": value})
        elif name != "index" and (value is not None or name not in held):
            held[name] = value


def _place(choice: dict[str, JSON], otherwise: int) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else otherwise


def api_version(exchange: HttpExchange) -> str | None:
    """As the query says it, else the version in the path."""
    named = exchange.query("api-version")
    parts = [part for part in exchange.path.split("/") if part[:1] == "v" and part[1:2].isdigit()]
    return named or (parts[-1] if parts else None)


_NOT_KEPT = ("choices", "obfuscation", "error")
CODEC = Codec(
    name="OpenAI Chat Completions",
    settings=SETTINGS,
    transport=TRANSPORT,
    recognises=recognises,
    sent=sent,
    streamed=streamed,
    said=said,
    api_version=api_version,
)
