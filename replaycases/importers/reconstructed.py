"""A conversation that was written down once, message by message -> model calls with requests put together.

Each answer of the model is a model call; what stands before it is what it was sent. Such requests are marked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from replaycases.importers.conversation import Assembled, assemble
from replaycases.importers.exchanges import ModelExchange, Shared, Turn
from replaycases.importers.neutral import ModelStep, Note

JSON = Any
MAX_SENT = 2_000_000
"""Messages in all requests of a run together: what a conversation of 2,000 answers and 2,000 other messages holds. They
are shared and never copied; past it requests are not put together any more."""


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
    """The steps of the run; its input is what was said before the first answer, besides the system text."""
    opening: list[JSON] = []
    notes: list[Note] = []
    recorded: list[ModelExchange] = []
    turns: list[Turn] = []
    raws: list[JSON] = []
    since, room, known = 0, MAX_SENT, True
    for said in conversation:
        if said.fresh:
            turns, raws, since, known = [], [], 0, True
        known = known and not said.gap
        if said.turn.role == "assistant":
            if room >= 0 > room - len(turns):
                notes.append(_too_long(said.turn.source))
            room -= len(turns)
            recorded.append(_exchange(said, Shared(turns, since), list(raws) if known and room >= 0 else None))
            since = len(turns)
        elif said.turn.role != "system" and not recorded:
            opening.append(said.turn.raw)
        turns.append(said.turn)
        raws.append(said.turn.raw)
    assembled = assemble(recorded, ending=Shared(turns, since))
    return replace(assembled, input={"messages": opening}, notes=(*assembled.notes, *notes))


def _exchange(said: Said, sent: Shared, raws: list[JSON] | None) -> ModelExchange:
    step = ModelStep(
        source=said.turn.source,
        started_at=said.started_at,
        ended_at=said.ended_at,
        request={} if raws is None else {"messages": raws},
        response=said.response,
        usage=said.usage,
        serving=said.serving,
        reconstructed=True,
    )
    return ModelExchange(step=step, sent=sent, asked=said.turn.calls, said=said.turn.content)


def _too_long(source: str) -> Note:
    text = "from here on requests are not put together: each would repeat too long a conversation"
    cost = "only what comes before it can be replayed"
    return Note(kind="left_out", source=source, text=text, cost=cost, boundary="model")
