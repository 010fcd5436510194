"""HTTP exchanges in their order -> one run."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from replaycases.importers.agreement import serving_of, tools_of
from replaycases.importers.conversation import assemble
from replaycases.importers.exchanges import AskedCall, ModelExchange, Recorded
from replaycases.importers.findings import refused
from replaycases.importers.http import anthropic_messages, openai_chat, openai_responses, retrievals
from replaycases.importers.http.calls import Call, answer_of
from replaycases.importers.http.codec import Codec, Said
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.http.others import Other, other_of
from replaycases.importers.neutral import Boundary, NeutralRun, Note, NoteKind, Part, RetrievalStep
from replaycases.importers.run_record import host_of, of_trace

JSON = Any
_REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id")
# The first that recognises an exchange reads it: by its path, or by the shape of both bodies.
CODECS: tuple[Codec, ...] = (openai_chat.CODEC, openai_responses.CODEC, anthropic_messages.CODEC)


def run_of(exchanges: Iterable[HttpExchange], *, format: str, notes: Sequence[Note] = ()) -> NeutralRun:
    """The run. `notes` are what the importer met before. Raises ImportRefused where no exchange is a call of a known
    API."""
    reader = _Reader()
    for exchange in exchanges:
        reader.take(exchange)
    reader.check()
    return reader.run(format, notes)


def run_of_answers(answers: Iterable[tuple[HttpExchange, Codec]], *, format: str) -> NeutralRun:
    """The run of answers that stand without their requests, each with the API that it is of."""
    reader = _Reader()
    for exchange, codec in answers:
        reader.take_call(exchange, codec)
    reader.check()
    return reader.run(format, ())


@dataclass
class _Reader:
    items: list[Call | RetrievalStep] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    others: Counter[Other] = field(default_factory=Counter)
    firsts: dict[Other, str] = field(default_factory=dict)
    answers: dict[str, Call] = field(default_factory=dict)
    times: list[tuple[str, datetime]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    traces: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)

    @property
    def calls(self) -> list[Call]:
        return [item for item in self.items if isinstance(item, Call)]

    def take(self, exchange: HttpExchange) -> None:
        self._time(exchange)
        for codec in CODECS:
            id = codec.polls(exchange)
            if id is not None:
                return self._poll(exchange, codec, id)
        found = next((codec for codec in CODECS if codec.recognises(exchange)), None)
        if found is not None:
            return self.take_call(exchange, found)
        if retrievals.recognises(exchange):
            step, notes = retrievals.read(exchange)
            self.items.append(step)
            self.notes += notes
            return None
        return self._leave_out(exchange)

    def take_call(self, exchange: HttpExchange, codec: Codec) -> None:
        call = Call(exchange=exchange, codec=codec, answer=answer_of(exchange, codec))
        self._link(call)
        self._repeated(call)
        self.items.append(call)
        self.left_out += call.transport()
        self._trace(exchange)
        self._answered(call)

    def _link(self, call: Call) -> None:
        """To the answer on the server that the request goes on from."""
        named = call.codec.previous(call.request)
        if named is None:
            return
        call.follows = self.answers.get(named)
        if call.follows is None and named not in self.fresh:
            text = "the request goes on from a conversation on the server that is not in the file"
            cost = "what the model was told before is not in the file"
            source = call.exchange.request_source
            call.notes.append(Note(kind="unresolved_reference", source=source, text=text, cost=cost, boundary="model"))

    def _answered(self, call: Call) -> None:
        body = call.answer.body
        if not isinstance(body, dict):
            return
        named = call.codec.answer_id(body)
        if named is not None:
            self.answers[named] = call
        conversation = call.codec.conversation(call.request)
        if conversation is not None:
            self.answers[conversation] = call

    def _repeated(self, call: Call) -> None:
        """The same request once more: a retry, or the same recorded twice."""
        asked = json.dumps([call.exchange.path, call.request], sort_keys=True)
        name = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
        if call.request and name in self.seen:
            text = "the same request was sent before: a retry, or a second run in the same file"
            call.notes.append(Note(kind="branch", source=call.exchange.source, text=text, boundary="model"))
        self.seen.add(name)

    def _poll(self, exchange: HttpExchange, codec: Codec, id: str) -> None:
        """A later exchange that fetches an answer belongs to its call."""
        call = self.answers.get(id)
        if call is None:
            text, cost = "an answer is fetched whose request is not in the file", "one model call is not in the case"
            self.notes.append(
                Note(kind="unresolved_reference", source=exchange.source, text=text, cost=cost, boundary="model")
            )
        elif exchange.succeeded:
            answer = answer_of(exchange, codec)
            if isinstance(answer.body, dict) and (answer.whole or not call.answer.whole):
                call.answer, call.answer_source = answer, exchange.response_source
                return
        self.left_out.append(exchange.source)

    def _leave_out(self, exchange: HttpExchange) -> None:
        other = other_of(exchange)
        made = exchange.response.json if exchange.path.endswith("/conversations") else None
        if isinstance(made, dict) and isinstance(made.get("id"), str):
            self.fresh.add(made["id"])
        self.others[other] += 1
        self.firsts.setdefault(other, exchange.source)
        self.left_out.append(exchange.source)

    def _time(self, exchange: HttpExchange) -> None:
        moment = exchange.answered_at
        if moment is not None:
            self.times.append((exchange.source, datetime.fromisoformat(moment)))

    def _trace(self, exchange: HttpExchange) -> None:
        parts = exchange.request_headers.get("traceparent", "").split("-")
        if len(parts) >= 3 and len(parts[1]) == 32:
            self.traces.add(parts[1])

    def check(self) -> None:
        if self.items:
            return
        lost = next((other for other in self.others if other.cost), None)
        if lost is not None:
            hint = "Record the run through OpenTelemetry, or with an API whose answers are plain JSON or text streams."
            raise refused(
                "not-supported", self.firsts[lost], f"the file holds {lost.name}, which is not read yet", hint
            )
        known = ", ".join(codec.name for codec in CODECS)
        hint = f"Known APIs: {known}. Record the calls to the model."
        raise refused("no-model-calls", "", "no exchange in the file is a model call of a known API", hint)

    def run(self, format: str, notes: Sequence[Note]) -> NeutralRun:
        read = [(call, call.finished()) for call in self.calls]
        exchanges = _exchanges(read)
        recorded: list[Recorded] = [exchanges[id(item)] if isinstance(item, Call) else item for item in self.items]
        assembled = assemble(recorded)
        steps = [exchanges[id(call)].step for call, _ in read]
        serving, differing = serving_of(steps)
        return NeutralRun(
            format=format,
            input={"messages": _flat(assembled.input["messages"])},
            steps=assembled.steps,
            system=assembled.system,
            serving=serving,
            tools=tools_of(steps),
            absent=self._absent(read, serving),
            notes=(*notes, *self._notes(read), *differing, *assembled.notes),
            ends_on_answer=assembled.ends_on_answer,
            left_out=tuple(self.left_out),
            started_at=self._started(read),
            trace_id=next(iter(self.traces)) if len(self.traces) == 1 else None,
            record=self._record(),
        )

    def _record(self) -> dict[str, str]:
        exchanges = [call.exchange for call in self.calls]
        return of_trace(
            endpoint=[host_of(exchange.url) for exchange in exchanges],
            request_ids=[exchange.response_headers.get(key) for exchange in exchanges for key in _REQUEST_IDS],
        )

    def _notes(self, read: list[tuple[Call, Said]]) -> list[Note]:
        notes = list(self.notes)
        for call, said in read:
            notes += [*call.notes, *call.answer.notes, *said.notes]
        for other, count in self.others.items():
            times = "" if count == 1 else f"; there are {count}"
            text = f"{other.name} is left out{times}"
            boundary: Boundary | None = "model" if other.cost else None
            source = self.firsts[other]
            notes.append(Note(kind="left_out", source=source, text=text, cost=other.cost, boundary=boundary))
        for (_, before), (source, after) in zip(self.times, self.times[1:], strict=False):
            if after < before:
                text = "an exchange is dated before the one that stands before it"
                notes.append(Note(kind="clock_contradiction", source=source, text=text))
        return notes

    def _absent(self, read: list[tuple[Call, Said]], serving: JSON) -> tuple[Part, ...]:
        lacking: list[Part] = ["identity", "clock", "random"]
        if not any(isinstance(item, RetrievalStep) for item in self.items):
            lacking.append("retrieval")
        if not any(said.usage for _, said in read):
            lacking.append("usage")
        if serving is None:
            lacking.append("serving")
        if read and not any(call.request for call, _ in read):
            lacking += ["tools", "system"]
        return tuple(lacking)

    def _started(self, read: list[tuple[Call, Said]]) -> str | None:
        """When the first thing that has a time happened, as near as the file tells."""
        made = next((said.started_at for _, said in read[:1] if said.started_at), None)
        return made or (self.times[0][1].isoformat() if self.times else None)


def _exchanges(read: list[tuple[Call, Said]]) -> dict[int, ModelExchange]:
    """The call as the conversation sees it. Of several choices that ask for tools the one that a later request holds
    was followed; the first, if none is."""
    sent = {id(call): call.sent() for call, _ in read}
    several = any(sum(bool(choice) for choice in said.choices) > 1 for _, said in read)
    held = {_name(turn.calls) for turns in sent.values() for turn in turns if turn.calls} if several else set()
    return {
        id(call): ModelExchange(
            step=call.step(said), sent=sent[id(call)], asked=_asked(call, said, held), said=said.said
        )
        for call, said in read
    }


def _asked(call: Call, said: Said, held: set[str]) -> tuple[AskedCall, ...]:
    choices = [choice for choice in said.choices if choice]
    if call.answer.failed:
        chosen: tuple[AskedCall, ...] = ()
        text = "a tool call stands in an answer that ended with an error"
    else:
        first = choices[0] if choices else ()
        chosen = next((choice for choice in choices if _name(choice) in held), first)
        text = "a tool call stands in a choice of the answer that was not followed"
    kind: NoteKind = "call_without_result" if call.answer.failed else "branch"
    for asked in (asked for choice in choices if choice is not chosen for asked in choice):
        call.notes.append(Note(kind=kind, source=asked.source, text=text, boundary="tool"))
    return chosen


def _name(calls: Sequence[AskedCall]) -> str:
    return json.dumps([[call.tool, call.arguments] for call in calls], sort_keys=True)


def _flat(messages: Sequence[JSON]) -> list[JSON]:
    """Items that make one turn stand by themselves, as they were sent."""
    return [item for raw in messages for item in (raw if isinstance(raw, list) else [raw])]
