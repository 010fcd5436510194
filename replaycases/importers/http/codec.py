"""What a provider's API says in its bodies, in the same terms for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replaycases.importers.conversation import unread_call
from replaycases.importers.exchanges import AskedCall, Turn
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.http.sse import Stream
from replaycases.importers.neutral import Note

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """A streamed answer as the body that the same call without streaming would have had. `cut`: the stream breaks off
    before its end. `error` is the error body that came in the stream."""

    body: dict[str, JSON]
    cut: bool = False
    error: JSON = None


@dataclass(frozen=True, kw_only=True)
class Said:
    """What an answer holds. `choices` are the calls that it asks for, one tuple a choice; `said` is the first choice's
    text or what stands for it. `failed`: the body itself says that the call failed."""

    choices: tuple[tuple[AskedCall, ...], ...] = ()
    said: JSON = None
    usage: dict[str, int] | None = None
    returned_model: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    failed: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Codec:
    """One API. `recognises` goes by method, path and shape, never by host.

    `settings` are the request's keys that belong to serving, `transport` those that say how the answer travels. The
    functions take a body and the pointer to it and never raise. `previous` names the answer or the conversation on the
    server that a request goes on from, `conversation` the latter alone; `answer_id` is what a later request calls this
    answer; `pending` says that the answer is still being made; `polls` names the answer that an exchange fetches.
    """

    name: str
    settings: frozenset[str]
    transport: frozenset[str]
    recognises: Callable[[HttpExchange], bool]
    sent: Callable[[dict[str, JSON], str], tuple[Turn, ...]]
    streamed: Callable[[Stream], Streamed]
    said: Callable[[dict[str, JSON], str], Said]
    api_version: Callable[[HttpExchange], str | None]
    previous: Callable[[dict[str, JSON]], str | None] = lambda request: None
    conversation: Callable[[dict[str, JSON]], str | None] = lambda request: None
    answer_id: Callable[[dict[str, JSON]], str | None] = lambda response: None
    pending: Callable[[dict[str, JSON]], bool] = lambda response: False
    polls: Callable[[HttpExchange], str | None] = lambda exchange: None


def usage_of(counts: JSON, names: Mapping[str, str]) -> dict[str, int] | None:
    """Token counts under the fixture's names: `names` maps each to a pointer-like path in the provider's."""
    found: dict[str, int] = {}
    for name, path in names.items():
        value = counts
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            found[name] = value
    return found or None


@dataclass
class Notes:
    """Notes of one body, as they come."""

    items: list[Note] = field(default_factory=list)

    def server_side(self, source: str, text: str, *, boundary: Any = "tool", cost: str = "") -> None:
        self.items.append(Note(kind="server_side", source=source, text=text, cost=cost, boundary=boundary))

    def check(self, calls: Iterable[AskedCall], damaged: Iterable[str] = (), texts: Iterable[str] = ()) -> None:
        """Of calls whose arguments are no object, and of `damaged` places where a call should be and is none. The calls
        at `texts` are made with text."""
        meant = set(texts)
        self.items += [unread_call(place) for place in damaged]
        text = "the arguments of a tool call are no JSON object and stand as the text that they were"
        self.items += [
            Note(kind="content_lost", source=call.source, text=text, boundary="tool")
            for call in calls
            if isinstance(call.arguments, str) and call.source not in meant
        ]
