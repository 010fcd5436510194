"""Answers of a provider by themselves, whole or as chunks: no request stands beside them, so that what the model was
asked is unknown. They can be read, and nothing of them can be replayed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replaycases.importers.findings import refused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.http import anthropic_messages, openai_chat, openai_responses
from replaycases.importers.http.bodies import Body
from replaycases.importers.http.codec import Codec
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.http.run import run_of_answers
from replaycases.importers.http.sse import is_stream, pieces, read_stream
from replaycases.importers.neutral import NeutralRun, RunHead

JSON = Any
NAME = "provider-response"
_OBJECTS = {
    "response": openai_responses.CODEC,
    "chat.completion": openai_chat.CODEC,
    "chat.completion.chunk": openai_chat.CODEC,
}
_FIRST = {
    "message_start": anthropic_messages.CODEC,
    "response.created": openai_responses.CODEC,
    "response.queued": openai_responses.CODEC,
}


def sniff(file: ForeignFile) -> bool:
    if isinstance(file.json, dict):
        return _codec_of(file.json) is not None
    if not is_stream(file.head):
        return False
    events = read_stream(file.head).events
    return bool(events) and _codec_of(events[0][1]) is not None


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    many = len(_answers(file))
    return (RunHead(index=0, label="1 answer" if many == 1 else f"{many} answers", source=""),)


def read(file: ForeignFile, run: int) -> NeutralRun:
    """The run, without a request of any of its calls. Raises ImportRefused."""
    return run_of_answers(_answers(file), format=NAME)


def _answers(file: ForeignFile) -> list[tuple[HttpExchange, Codec]]:
    if isinstance(file.json, dict):
        return [_answer("", Body(data=file.data), _codec_of(file.json))]
    return [
        _answer(f"/{at}", Body(data=b"".join(b"data: " + text + b"\n\n" for text in texts)), codec)
        for at, texts, codec in _streams(file.data)
    ]


def _answer(source: str, body: Body, codec: Codec | None) -> tuple[HttpExchange, Codec]:
    if codec is None:
        raise refused("unknown-format", source, "an answer is of no API that is known", "Export it with its request.")
    exchange = HttpExchange(
        source=source, request_source=source, response_source=source, method="POST", url="", status=200, response=body
    )
    return exchange, codec


def _streams(data: bytes) -> Iterator[tuple[int, list[bytes], Codec | None]]:
    """(number of the first event, events, API) of each answer in a file of events."""
    first, held, codec, known = 0, list[bytes](), None, ""
    for at, (_, text) in enumerate(pieces(data)):
        events = read_stream(b"data: " + text + b"\n\n").events
        event = events[0][1] if events else {}
        kind = str(event.get("type"))
        named = kind if kind in _FIRST else f"{event.get('id') or known}"
        starts = _codec_of(event) is not None and (kind in _FIRST or named != known)
        if starts and held:
            yield first, held, codec
            first, held = at, []
        if starts:
            codec, known = _codec_of(event), named
        held.append(text)
    if held:
        yield first, held, codec


def _codec_of(value: dict[str, JSON]) -> Codec | None:
    """By the marks that the three APIs put on an answer or on the first event of one."""
    if value.get("type") == "message" and value.get("role") == "assistant" and "stop_reason" in value:
        return anthropic_messages.CODEC
    named, kind = value.get("object"), value.get("type")
    if isinstance(named, str):
        return _OBJECTS.get(named)
    return _FIRST.get(kind) if isinstance(kind, str) else None


FORMAT = Format(
    name=NAME,
    title="answers of a model provider, without requests",
    sniff=sniff,
    heads=heads,
    read=read,
    reads_bytes=True,
)
