"""OpenAI's Responses API, and what speaks it."""

from __future__ import annotations

from typing import Any

from replaycases.importers.exchanges import AskedCall, Turn
from replaycases.importers.http.codec import (
    Codec,
    Notes,
    Said,
    Streamed,
    usage_of,
)
from replaycases.importers.http.deltas import joined, merge
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.http.openai_chat import api_version
from replaycases.importers.http.responses_items import note_item, said_of, turns
from replaycases.importers.http.sse import Stream
from replaycases.importers.times import instant_of
from replaycases.importers.turns import called_in
from replaycases.importers.typed import objects, text_or_none

JSON = Any
SETTINGS = frozenset(
    {
        "temperature",
        "top_p",
        "max_output_tokens",
        "max_tool_calls",
        "tool_choice",
        "parallel_tool_calls",
        "reasoning",
        "text",
        "truncation",
        "service_tier",
        "top_logprobs",
        "seed",
    }
)
TRANSPORT = frozenset({"stream", "stream_options", "background"})
USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "total_tokens": "total_tokens",
    "cached_tokens": "input_tokens_details.cached_tokens",
    "reasoning_tokens": "output_tokens_details.reasoning_tokens",
}
_ENDS = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")


def recognises(exchange: HttpExchange) -> bool:
    if exchange.method != "POST":
        return False
    request, response = exchange.request.json, exchange.response.json
    if exchange.path.endswith("/responses"):
        return True
    return (
        isinstance(request, dict)
        and "input" in request
        and isinstance(response, dict)
        and response.get("object") == "response"
    )


def polls(exchange: HttpExchange) -> str | None:
    """The id of the response that is fetched or cancelled."""
    parts = exchange.path.split("/")
    if exchange.method == "POST" and parts[-1:] == ["cancel"]:
        parts = parts[:-1]
    elif exchange.method != "GET":
        return None
    return parts[-1] or None if parts[-2:-1] == ["responses"] else None


def sent(request: dict[str, JSON], base: str) -> tuple[Turn, ...]:
    told, given = request.get("instructions"), request.get("input")
    first = [Turn(role="system", raw={"role": "system", "content": told}, content=told)] if told else []
    if isinstance(given, str):
        return (*first, Turn(role="user", raw={"role": "user", "content": given}, content=given))
    return (*first, *turns(given if isinstance(given, list) else [], f"{base}/input"))


def said(response: dict[str, JSON], base: str) -> Said:
    items = objects(response.get("output"))
    held = [call for at, item in items if (call := called_in(item, f"{base}/output/{at}")) is not None]
    calls = tuple(call for call in held if isinstance(call, AskedCall))
    notes = Notes()
    texts = [f"{base}/output/{at}" for at, item in items if item.get("type") != "function_call"]
    notes.check(calls, [place for place in held if isinstance(place, str)], texts)
    for at, item in items:
        note_item(notes, item, f"{base}/output/{at}")
    return Said(
        choices=(calls,),
        said=said_of([item for _, item in items]),
        usage=usage_of(response.get("usage"), USAGE),
        returned_model=text_or_none(response.get("model")),
        started_at=instant_of(response.get("created_at")),
        ended_at=instant_of(response.get("completed_at")),
        failed=bool(response.get("error")) or response.get("status") in ("failed", "cancelled"),
        notes=tuple(notes.items),
    )


def previous(request: dict[str, JSON]) -> str | None:
    """The answer, or the conversation, that the server is asked to go on from."""
    return text_or_none(request.get("previous_response_id")) or conversation(request)


def conversation(request: dict[str, JSON]) -> str | None:
    held = request.get("conversation")
    return text_or_none(held.get("id") if isinstance(held, dict) else held)


def pending(response: dict[str, JSON]) -> bool:
    return response.get("status") in ("queued", "in_progress")


def streamed(stream: Stream) -> Streamed:
    """The response that the last event holds; else what its items came to before the stream broke off."""
    base: dict[str, JSON] = {}
    items: dict[int, dict[str, JSON]] = {}
    error, ended = None, False
    for name, event in stream.events:
        kind = str(event.get("type", name))
        if isinstance(event.get("response"), dict):
            base = event["response"]
            ended = ended or kind in _ENDS
        elif kind == "error":
            told = event.get("error")
            error = {"error": told if isinstance(told, dict) else _without_frame(event)}
        elif isinstance(event.get("item"), dict):
            items[_index(event, "output_index")] = dict(event["item"])
        elif kind.endswith(".delta"):
            _add_delta(items, kind, event)
    if not base.get("output") and items:
        base = {**base, "output": [_item(items[index]) for index in sorted(items)]}
    body = base if ended or not error else {**base, **error}
    return Streamed(body=body, error=None if ended else error, cut=not (ended or error))


def _add_delta(items: dict[int, dict[str, JSON]], kind: str, event: dict[str, JSON]) -> None:
    item, delta = items.setdefault(_index(event, "output_index"), {}), event.get("delta")
    if not isinstance(delta, str):
        return
    if kind.startswith("response.output_text"):
        part = {"index": _index(event, "content_index"), "type": "output_text", "text": delta}
        merge(item, {"content": [part]})
    elif "arguments" in kind:
        merge(item, {"arguments": delta})
    elif "_input" in kind:
        merge(item, {"input": delta})


def _item(item: dict[str, JSON]) -> dict[str, JSON]:
    whole: dict[str, JSON] = joined(item)
    return whole


def _index(event: dict[str, JSON], name: str) -> int:
    index = event.get(name)
    return index if isinstance(index, int) else 0


def _without_frame(event: dict[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in event.items() if name not in ("type", "sequence_number")}


CODEC = Codec(
    name="OpenAI Responses",
    settings=SETTINGS,
    transport=TRANSPORT,
    recognises=recognises,
    sent=sent,
    streamed=streamed,
    said=said,
    api_version=api_version,
    previous=previous,
    conversation=conversation,
    answer_id=lambda response: text_or_none(response.get("id")),
    pending=pending,
    polls=polls,
)
