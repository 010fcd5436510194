"""What an importer gives to `conversation.assemble`: model calls with requests, and what was recorded by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from replaycases.importers.neutral import HumanStep, ModelStep, RetrievalStep, ToolStep

JSON = Any
Role = Literal["system", "user", "assistant", "tool"]
AGENT_AS_TOOL = "a tool that holds model calls is code of the workflow: what it called stands in its place"


@dataclass(frozen=True, kw_only=True)
class AskedCall:
    """A tool call as a model asked for it. `arguments` is the object; text that holds one is parsed by the importer.
    None where the call was recorded without them."""

    source: str
    tool: str
    arguments: JSON
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """What a request says that a tool answered. `error` is {kind, message} where the format marks a failure; not
    `answered` where the message was recorded without what the tool said."""

    source: str
    value: JSON = None
    error: dict[str, str] | None = None
    call_id: str | None = None
    tool: str | None = None
    answered: bool = True


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message of a request. `raw` is it as recorded, `content` what was said; an assistant turn has `calls`, a turn
    that brings back what tools answered has `answers`, whatever role the provider gives it. `source` is its pointer if
    it has one of its own; `unread` are pointers to what should be a call and is none."""

    role: Role
    raw: JSON
    content: JSON = None
    calls: tuple[AskedCall, ...] = ()
    answers: tuple[GivenAnswer, ...] = ()
    source: str = ""
    unread: tuple[str, ...] = ()


class Shared(Sequence[Turn]):
    """A conversation as it stood when it was sent: the first turns of one list that is only ever added to. `since` is
    how many the request before it held, so that nobody has to look at these again."""

    def __init__(self, turns: list[Turn], since: int = 0) -> None:
        self.turns, self.since, self._length = turns, since, len(turns)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> Turn: ...
    @overload
    def __getitem__(self, at: slice) -> list[Turn]: ...
    def __getitem__(self, at: int | slice) -> Turn | list[Turn]:
        if isinstance(at, slice):
            return [self.turns[n] for n in range(*at.indices(self._length))]
        if not -self._length <= at < self._length:
            raise IndexError(at)
        return self.turns[at % self._length]


def since(sent: Sequence[Turn]) -> int:
    """From where on a request holds what no earlier one of the same conversation does, as far as it is known."""
    return sent.since if isinstance(sent, Shared) else 0


@dataclass(frozen=True, kw_only=True)
class ModelExchange:
    """One model call: `step` for the fixture, `sent` the turns of its request, and of its response the calls it `asked`
    for, in order, and what it `said`."""

    step: ModelStep
    sent: Sequence[Turn]
    asked: tuple[AskedCall, ...] = ()
    said: JSON = None


@dataclass(frozen=True, kw_only=True)
class AgentTool:
    """A tool run that holds model calls of its own: code of the workflow and no boundary. It claims its call, so that
    what is inside stands in the run in its place."""

    source: str
    tool: str
    arguments: JSON = None
    call_id: str | None = None


Recorded = ModelExchange | ToolStep | RetrievalStep | HumanStep | AgentTool


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The conversation as it stood at the end, where no model call was made any more."""

    sent: Sequence[Turn]
