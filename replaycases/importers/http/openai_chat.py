"""OpenAI's Chat Completions API, and what speaks it."""

from __future__ import annotations

from typing import Any

from replaycases.importers.exchanges import Turn
from replaycases.importers.http.codec import (
    Codec,
    Notes,
    Said,
    Streamed,
    usage_of,
)
from replaycases.importers.http.deltas import joined, merge
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.http.sse import Stream
from replaycases.importers.times import instant_of
from replaycases.importers.turns import text_of, turn_of, turns_of
from replaycases.importers.typed import objects, text_or_none

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
    return turns_of(request.get("messages"), f"{base}/messages")


def said(response: dict[str, JSON], base: str) -> Said:
    choices = sorted(objects(response.get("choices")), key=lambda pair: _place(pair[1], pair[0]))
    messages = [
        (message, f"{base}/choices/{at}/message")
        for at, choice in choices
        if isinstance(message := choice.get("message"), dict)
    ]
    turns = [turn_of(message, source) for message, source in messages]
    notes = Notes()
    for turn, (message, source) in zip(turns, messages, strict=True):
        custom = [at for at, call in objects(message.get("tool_calls")) if isinstance(call.get("custom"), dict)]
        notes.check(turn.calls, turn.unread, [f"{source}/tool_calls/{at}" for at in custom])
    first = messages[0][0] if messages else {}
    return Said(
        choices=tuple(turn.calls for turn in turns),
        said=text_of(first.get("content") or first.get("refusal")),
        usage=usage_of(response.get("usage"), USAGE),
        returned_model=text_or_none(response.get("model")),
        started_at=instant_of(response.get("created")),
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
