"""What an importer gives to `conversation.assemble`: model calls with requests, and what was recorded by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

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


@dataclass(frozen=True, kw_only=True)
class ModelExchange:
    """One model call: `step` for the fixture, `sent` the turns of its request, and of its response the calls it `asked`
    for, in order, and what it `said`."""

    step: ModelStep
    sent: tuple[Turn, ...]
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
