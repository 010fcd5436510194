"""Anthropic's Messages API, at Anthropic, Bedrock and Vertex."""

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
from replaycases.importers.turns import arguments_of, text_of, turn_of, turns_of
from replaycases.importers.typed import objects, text_or_none

JSON = Any
SETTINGS = frozenset(
    {
        "max_tokens",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "tool_choice",
        "thinking",
        "service_tier",
        "output_config",
        "output_format",
        "context_management",
        "inference_geo",
        "speed",
    }
)
TRANSPORT = frozenset({"stream"})
USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cache_read_input_tokens",
}
_ENDINGS = ("/invoke", ":rawPredict", ":streamRawPredict")


def recognises(exchange: HttpExchange) -> bool:
    if exchange.method != "POST":
        return False
    request, response = exchange.request.json, exchange.response.json
    shaped = isinstance(request, dict) and isinstance(request.get("messages"), list)
    if exchange.path.endswith("/messages"):
        return shaped or (exchange.request.fault != "" and not exchange.request.empty)
    if not shaped:
        return False
    versioned = exchange.path.endswith(_ENDINGS) and isinstance(request.get("anthropic_version"), str)
    return versioned or (
        isinstance(response, dict) and response.get("type") == "message" and response.get("role") == "assistant"
    )


def sent(request: dict[str, JSON], base: str) -> tuple[Turn, ...]:
    system = request.get("system")
    first = [Turn(role="system", raw={"role": "system", "content": system}, content=text_of(system))] if system else []
    return (*first, *turns_of(request.get("messages"), f"{base}/messages"))


def said(response: dict[str, JSON], base: str) -> Said:
    content = response.get("content")
    turn = turn_of({"role": "assistant", "content": content}, base)
    notes = Notes()
    notes.check(turn.calls, turn.unread)
    for at, block in objects(content):
        _note_block(notes, block, f"{base}/content/{at}")
    if response.get("stop_reason") == "pause_turn":
        text = "the provider paused its turn: the next call goes on with it"
        notes.server_side(f"{base}/stop_reason", text, boundary="model")
    texts = [block["text"] for _, block in objects(content) if isinstance(block.get("text"), str)]
    return Said(
        choices=(turn.calls,),
        said="".join(texts) or None,
        usage=usage_of(response.get("usage"), USAGE),
        returned_model=text_or_none(response.get("model")),
        failed=response.get("type") == "error",
        notes=tuple(notes.items),
    )


def _note_block(notes: Notes, block: dict[str, JSON], source: str) -> None:
    kind = str(block.get("type"))
    caller = block.get("caller")
    if kind in ("server_tool_use", "mcp_tool_use"):
        notes.server_side(source, "the provider ran a tool itself: its call stands in the model's response")
    elif kind.endswith("_tool_result"):
        notes.server_side(source, "what a tool of the provider answered stands in the model's response")
    elif kind == "tool_use" and isinstance(caller, dict) and caller.get("type") != "direct":
        notes.server_side(source, "code that the provider ran called this tool of the workflow")


def streamed(stream: Stream) -> Streamed:
    """Blocks by their index; texts, inputs and signatures piece by piece, and byte for byte as they were sent."""
    message: dict[str, JSON] = {}
    blocks: dict[int, dict[str, JSON]] = {}
    error, ended = None, False
    for name, event in stream.events:
        kind = event.get("type", name)
        if kind == "message_start" and isinstance(event.get("message"), dict):
            message = dict(event["message"])
            blocks = {at: dict(block) for at, block in objects(message.get("content"))}
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[_index(event)] = dict(event["content_block"])
        elif kind == "content_block_delta" and isinstance(event.get("delta"), dict):
            _add_delta(blocks.setdefault(_index(event), {}), event["delta"])
        elif kind == "message_delta":
            _end_message(message, event)
        elif kind == "error":
            error = {"type": "error", "error": event.get("error")}
        ended = ended or kind == "message_stop"
    content = [_block(blocks[index]) for index in sorted(blocks)]
    body = {**message, "content": content} if message or content else {}
    return Streamed(body={**body, **(error or {})}, error=error, cut=not (ended or error))


def _index(event: dict[str, JSON]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _add_delta(block: dict[str, JSON], delta: dict[str, JSON]) -> None:
    if delta.get("type") == "citations_delta":
        if not isinstance(block.get("citations"), list):
            block["citations"] = []
        block["citations"].append(delta.get("citation"))
    elif delta.get("type") == "signature_delta":
        block["signature"] = delta.get("signature")
    else:
        merge(block, {name: value for name, value in delta.items() if name != "type"})


def _end_message(message: dict[str, JSON], event: dict[str, JSON]) -> None:
    delta, usage = event.get("delta"), event.get("usage")
    message.update(delta if isinstance(delta, dict) else {})
    if isinstance(usage, dict):
        before = message.get("usage")
        told = {name: value for name, value in usage.items() if value is not None}
        message["usage"] = {**(before if isinstance(before, dict) else {}), **told}


def _block(block: dict[str, JSON]) -> dict[str, JSON]:
    whole: dict[str, JSON] = joined(block)
    text = whole.pop("partial_json", "")
    if isinstance(text, str) and text.strip():
        whole["input"] = arguments_of(text)
    return whole


def api_version(exchange: HttpExchange) -> str | None:
    request = exchange.request.json
    named = request.get("anthropic_version") if isinstance(request, dict) else None
    return exchange.request_headers.get("anthropic-version") or text_or_none(named)


CODEC = Codec(
    name="Anthropic Messages",
    settings=SETTINGS,
    transport=TRANSPORT,
    recognises=recognises,
    sent=sent,
    streamed=streamed,
    said=said,
    api_version=api_version,
)
