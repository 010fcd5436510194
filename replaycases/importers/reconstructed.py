"""A conversation that was written down once, message by message -> model calls with requests put together.

Each answer of the model is a model call; what stands before it is what it was sent. Such requests are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.importers.conversation import Assembled, ModelExchange, Turn, assemble
from replaycases.importers.findings import refused
from replaycases.importers.neutral import ModelStep

JSON = Any
MAX_SENT = 2_000_000
"""Messages in all requests of a run together: what a conversation of 2,000 answers and 2,000 other messages holds."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """One message. `turn.raw` is what later requests hold of it; an assistant's has a `response`, as recorded."""

    turn: Turn
    response: JSON = None
    usage: JSON = None
    serving: dict[str, JSON] | None = None
    started_at: str | None = None
    ended_at: str | None = None


def reconstruct(conversation: Sequence[Said]) -> Assembled:
    """The steps of the run. Raises ImportRefused where its requests would be too large to put together."""
    turns: list[Turn] = []
    raws: list[JSON] = []
    recorded: list[ModelExchange] = []
    sent = 0
    for said in conversation:
        if said.turn.role == "assistant":
            sent += len(turns)
            if sent > MAX_SENT:
                raise _too_long(said.turn.source)
            recorded.append(_exchange(said, turns, raws))
        turns.append(said.turn)
        raws.append(said.turn.raw)
    return assemble(recorded, ending=turns)


def _exchange(said: Said, turns: list[Turn], raws: list[JSON]) -> ModelExchange:
    step = ModelStep(
        source=said.turn.source,
        started_at=said.started_at,
        ended_at=said.ended_at,
        request={"messages": list(raws)},
        response=said.response,
        usage=said.usage,
        serving=said.serving,
        reconstructed=True,
    )
    return ModelExchange(step=step, sent=tuple(turns), asked=said.turn.calls, said=said.turn.content)


def _too_long(source: str) -> Exception:
    hint = "Cut the file to the part that decided the outcome."
    return refused("too-long", source, "the requests put together from so many messages would be too large", hint)
