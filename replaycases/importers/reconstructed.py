"""A conversation that was written down once, message by message -> model calls with requests put together.

Each answer of the model is a model call; what stands before it is what it was sent. Such requests are marked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from replaycases.importers.conversation import Assembled, assemble
from replaycases.importers.exchanges import ModelExchange, Turn
from replaycases.importers.findings import refused
from replaycases.importers.neutral import ModelStep

JSON = Any
MAX_SENT = 2_000_000
"""Messages in all requests of a run together: what a conversation of 2,000 answers and 2,000 other messages holds."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """One message. `turn.raw` is what later requests hold of it; an assistant's has a `response`, as recorded.

    `gap`: something is missing before it, so that from here on nobody knows what the model was sent. `fresh`: the
    conversation starts anew with it, and what stood before is sent no more.
    """

    turn: Turn
    response: JSON = None
    gap: bool = False
    fresh: bool = False
    usage: JSON = None
    serving: dict[str, JSON] | None = None
    started_at: str | None = None
    ended_at: str | None = None


def reconstruct(conversation: Iterable[Said]) -> Assembled:
    """The steps of the run; its input is what was said before the first answer, besides the system text. Raises
    ImportRefused where its requests would be too large to put together."""
    turns: list[Turn] = []
    raws: list[JSON] = []
    opening: list[JSON] = []
    recorded: list[ModelExchange] = []
    sent, known = 0, True
    for said in conversation:
        if said.fresh:
            turns, raws, known = [], [], True
        known = known and not said.gap
        if said.turn.role == "assistant":
            sent += len(turns)
            if sent > MAX_SENT:
                raise _too_long(said.turn.source)
            recorded.append(_exchange(said, turns, raws if known else None))
        elif said.turn.role != "system" and not recorded:
            opening.append(said.turn.raw)
        turns.append(said.turn)
        raws.append(said.turn.raw)
    return replace(assemble(recorded, ending=turns), input={"messages": opening})


def _exchange(said: Said, turns: list[Turn], raws: list[JSON] | None) -> ModelExchange:
    step = ModelStep(
        source=said.turn.source,
        started_at=said.started_at,
        ended_at=said.ended_at,
        request={} if raws is None else {"messages": list(raws)},
        response=said.response,
        usage=said.usage,
        serving=said.serving,
        reconstructed=True,
    )
    return ModelExchange(step=step, sent=tuple(turns), asked=said.turn.calls, said=said.turn.content)


def _too_long(source: str) -> Exception:
    hint = "Cut the file to the part that decided the outcome."
    return refused("too-long", source, "the requests put together from so many messages would be too large", hint)
