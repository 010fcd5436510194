"""One model call over HTTP: what was sent, what came back, by the codec of its API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from replaycases.importers.exchanges import Turn
from replaycases.importers.http.codec import Codec, Said
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.http.serving import KEYS, serving_of
from replaycases.importers.http.sse import is_stream, read_stream
from replaycases.importers.neutral import ModelStep, Note

JSON = Any
_LOST = "it cannot be replayed past this call"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back. `body` is the provider's, assembled if it was streamed; not `whole` where the file does not hold
    all of it, `failed` where it is an error."""

    body: JSON = None
    whole: bool = True
    failed: bool = False
    notes: tuple[Note, ...] = ()


@dataclass
class Call:
    """A model call while the file is read: a later exchange may fetch its answer. `follows` is the call whose answer
    the server was told to go on from, `said` what its own answer holds once everything was read."""

    exchange: HttpExchange
    codec: Codec
    answer: Answer
    request: dict[str, JSON] = field(init=False)
    answer_source: str = field(init=False)
    follows: Call | None = None
    said: Said = field(default_factory=Said)
    notes: list[Note] = field(default_factory=list)
    echoes: dict[str | None, Turn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sent = self.exchange.request.json
        self.request = sent if isinstance(sent, dict) else {}
        self.answer_source = self.exchange.response_source
        if not isinstance(sent, dict):
            text, cost = "what the model was asked is not in the file", _LOST
            self.notes.append(_note("content_lost", self.exchange.request_source, text, cost))

    def finished(self) -> Said:
        """What the answer says. One that is still being made, although no later exchange fetches it, is not whole."""
        body = self.answer.body
        if isinstance(body, dict):
            self.said = self.codec.said(body, self.answer_source)
        if isinstance(body, dict) and self.codec.pending(body) and self.answer.whole:
            text = "the answer was still being made when it was fetched last"
            lost = _note("content_lost", self.answer_source, text, _LOST)
            self.answer = Answer(body=body, whole=False, notes=(*self.answer.notes, lost))
        return self.said

    def sent(self) -> tuple[Turn, ...]:
        """The turns of the request, after the answer that it goes on from."""
        turns = self.codec.sent(self.request, self.exchange.request_source)
        if self.follows is None:
            return turns
        before = self.follows.echo(self.codec.previous(self.request))
        told = sum(turn.role == "system" for turn in turns[:1])
        return (*turns[:told], before, *turns[told:])

    def echo(self, named: str | None) -> Turn:
        """The turn that its answer is in a request which goes on from it: one and the same for all that do."""
        if named not in self.echoes:
            calls = self.said.choices[0] if self.said.choices else ()
            raw = {"previous_response_id": named}
            self.echoes[named] = Turn(role="assistant", raw=raw, content=self.said.said, calls=calls)
        return self.echoes[named]

    def step(self, said: Said) -> ModelStep:
        kept = {
            name: value
            for name, value in self.request.items()
            if name not in KEYS and name not in self.codec.settings and name not in self.codec.transport
        }
        return ModelStep(
            source=self.exchange.source,
            started_at=said.started_at,
            ended_at=said.ended_at or self.exchange.recorded_at,
            request=kept,
            response=self.answer.body,
            answered=self.answer.whole,
            usage=said.usage,
            serving=serving_of(self.exchange, self.codec, self.request, said.returned_model),
        )

    def transport(self) -> list[str]:
        source = self.exchange.request_source
        return [f"{source}/{name}" for name in self.request if name in self.codec.transport]


def answer_of(exchange: HttpExchange, codec: Codec) -> Answer:
    """What an exchange holds of the answer to a call."""
    source = exchange.response_source
    if not exchange.answered:
        text = "no answer came to a model call, or none was recorded"
        return Answer(whole=False, failed=True, notes=(_note("failed_call", source, text, _LOST),))
    lost = [_note("content_lost", source, exchange.response.fault, _LOST)] if exchange.response.fault else []
    if not exchange.succeeded:
        body = exchange.response.json
        told = body if isinstance(body, dict | list) else exchange.response.text
        failed = _note("failed_call", source, f"a model call was answered with HTTP status {exchange.status}")
        return Answer(body=told, whole=not lost, failed=True, notes=(failed, *lost))
    if isinstance(exchange.response.json, dict):
        return _of_body(exchange.response.json, codec, source)
    if is_stream(exchange.response.data, exchange.content_type):
        return _of_stream(exchange, codec, lost)
    text = "the answer of a model call is not JSON, or not in the file"
    return Answer(whole=False, notes=tuple(lost or [_note("content_lost", source, text, _LOST)]))


def _of_body(body: dict[str, JSON], codec: Codec, source: str) -> Answer:
    if not codec.said(body, source).failed:
        return Answer(body=body)
    return Answer(
        body=body, failed=True, notes=(_note("failed_call", source, "a model call was answered with an error"),)
    )


def _of_stream(exchange: HttpExchange, codec: Codec, lost: list[Note]) -> Answer:
    source = exchange.response_source
    stream = read_stream(exchange.response.data)
    whole = codec.streamed(stream)
    if whole.error is not None or codec.said(whole.body, source).failed:
        text = "a streamed answer ended with an error event"
        return Answer(body=whole.body, failed=True, notes=(_note("failed_call", source, text),))
    if not stream.events:
        lost.append(_note("content_lost", source, "a streamed answer was not captured", _LOST))
    elif whole.cut:
        lost.append(_note("content_lost", source, "a streamed answer breaks off", _LOST))
    elif stream.spoilt:
        lost.append(_note("content_lost", source, "an event of a streamed answer is no JSON object", _LOST))
    return Answer(body=whole.body or None, whole=not lost, notes=tuple(lost))


def _note(kind: Any, source: str, text: str, cost: str = "") -> Note:
    return Note(kind=kind, source=source, text=text, cost=cost, boundary="model")
