"""What a span tells of one model call, whatever dialect it is in, and the exchange made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.conversation import unread_call
from replaycases.importers.exchanges import ModelExchange, Turn
from replaycases.importers.neutral import ModelStep
from replaycases.importers.otlp.chat_messages import Turns, lacks_words
from replaycases.importers.otlp.instants import ended_at, started_at
from replaycases.importers.otlp.site import Notes, Site

JSON = Any
_NO_CONTENT = "no content of this model call stands under a name that is read: it can be listed, and not be replayed"
_NO_REQUEST = "what this model call was sent is not in the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One answer of the model: its message, and why it ended where the file says so."""

    message: JSON
    source: str
    finish: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """`sent` are (message, pointer), None where the file has none; `outputs` likewise. `request` and `response` are the
    bodies themselves, where the file holds them. Both messages may be of a chat or in parts. `partial`: some of what
    was sent or answered is known to be missing."""

    sent: list[tuple[JSON, str]] | None = None
    outputs: list[Output] | None = None
    tools: list[JSON] | None = None
    serving: dict[str, JSON] = field(default_factory=dict)
    usage: dict[str, JSON] | None = None
    request: dict[str, JSON] | None = None
    response: JSON = ABSENT
    partial: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether there is not even a message without its words."""
        return self.sent is None and self.outputs is None and self.request is None and self.response is ABSENT

    @property
    def holds_content(self) -> bool:
        return self.knows_request or self.answered

    @property
    def knows_request(self) -> bool:
        if self.request is not None:
            return True
        return self.sent is not None and not any(lacks_words(message) for message, _ in self.sent)

    @property
    def answered(self) -> bool:
        first = self.outputs[0].message if self.outputs else None
        return self.response is not ABSENT or (first is not None and not lacks_words(first))


def error_of(site: Site) -> dict[str, str] | None:
    """{kind, message} of a span that ended with an error."""
    span = site.span
    thrown = next((item.fields for item in reversed(site.happenings) if item.name == "exception"), {})
    if span.status != "error" and not site.text("error.type"):
        return None
    kind = site.text("error.type") or str(thrown.get("exception.type") or "error")
    message = span.status_message or thrown.get("exception.message") or site.text("error.message")
    return {"kind": kind, "message": message if isinstance(message, str) and message else "no message was recorded"}


def exchange_of(site: Site, told: Telling, turns: Turns, notes: Notes) -> ModelExchange:
    span = site.span
    sent = [turn for message, source in told.sent or () for turn in turns.of(message, source)]
    answers = [turns.of(output.message, output.source)[-1] for output in told.outputs or ()]
    failure = None if told.answered else error_of(site)
    _note_what_lacks(site, told, failure, notes)
    for answer in answers[:1]:
        for place in answer.unread:
            notes.each("content_lost", place, unread_call(place).text, boundary="tool")
    step = ModelStep(
        source=span.source,
        started_at=started_at(span),
        ended_at=ended_at(span),
        request=_request(told, sent, turns),
        response=_response(told, answers, failure),
        answered=told.answered or failure is not None,
        usage=told.usage,
        serving=told.serving or None,
        reconstructed=told.request is None or told.tools is not None,
        partial=told.partial,
    )
    first = answers[0] if answers else None
    return ModelExchange(
        step=step,
        sent=tuple(sent),
        asked=first.calls if first else (),
        said=first.content if first else None,
    )


def _request(told: Telling, sent: list[Turn], turns: Turns) -> dict[str, JSON]:
    tools = {} if told.tools is None else {"tools": told.tools}
    if told.request is not None:
        return {**tools, **{key: turns.same(value) for key, value in told.request.items()}}
    return {"messages": [turn.raw for turn in sent], **tools} if told.knows_request else {}


def _response(told: Telling, answers: list[Turn], failure: dict[str, str] | None) -> JSON:
    if told.response is not ABSENT:
        return told.response
    if failure is not None:
        return {"error": {"type": failure["kind"], "message": failure["message"]}}
    if not told.answered:
        return None
    choices = [
        {"message": turn.raw, **({"finish_reason": output.finish} if output.finish else {})}
        for turn, output in zip(answers, told.outputs or (), strict=True)
    ]
    if len(choices) > 1:
        return {"choices": [{"index": at, **choice} for at, choice in enumerate(choices)]}
    return choices[0] if choices else None


def _note_what_lacks(site: Site, told: Telling, failure: dict[str, str] | None, notes: Notes) -> None:
    source = site.span.source
    if failure is not None:
        notes.each("failed_call", source, "a model call ended with an error", boundary="model")
    if not told.holds_content and failure is None:
        notes.add("content_lost", source, _NO_CONTENT, cost="only what comes before can be replayed", boundary="model")
    elif not told.knows_request:
        notes.add("content_lost", source, _NO_REQUEST, cost="it cannot be compared with a replay", boundary="model")
    if len(told.outputs or ()) > 1:
        notes.add("branch", source, "a model call has several choices; the first was followed", boundary="model")


def settings_of(attributes: Mapping[str, JSON], prefixes: Iterable[str], skip: frozenset[str]) -> dict[str, JSON]:
    """What was asked for besides model and content: attributes by what follows one of the prefixes."""
    found: dict[str, JSON] = {}
    for key, value in attributes.items():
        for prefix in prefixes:
            if key.startswith(prefix) and key[len(prefix) :] not in skip and value is not None:
                found.setdefault(key[len(prefix) :], value)
    return found


def serving_of(provider: JSON, requested: JSON, returned: JSON, settings: dict[str, JSON], version: JSON = None) -> Any:
    texts = {"provider": provider, "requested_model": requested, "returned_model": returned, "api_version": version}
    known: dict[str, JSON] = {name: text for name, text in texts.items() if isinstance(text, str) and text}
    return {**known, "settings": settings} if settings else known


def usage_of(site: Site, names: Mapping[str, tuple[str, ...]], cost: tuple[str, ...] = ()) -> dict[str, JSON] | None:
    """Counts by the fixture's names; what is no count is left out."""
    found: dict[str, JSON] = {}
    for name, keys in names.items():
        count = site.first(*keys)
        if isinstance(count, int | float) and not isinstance(count, bool) and count >= 0 and count == int(count):
            found[name] = int(count)
    price = site.first(*cost)
    if isinstance(price, int | float) and not isinstance(price, bool) and price >= 0:
        found["cost"] = price
    return found or None
