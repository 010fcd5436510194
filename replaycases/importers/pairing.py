"""Where the answer to a call stands: in a record of the tool's own run, or in a later request of the model."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from replaycases.importers.exchanges import (
    AgentTool,
    AskedCall,
    Ending,
    GivenAnswer,
    ModelExchange,
    Recorded,
    Shared,
    Turn,
    since,
)
from replaycases.importers.neutral import ToolStep

JSON = Any


class RanTools:
    """The tool runs that were recorded by themselves, to be found from a call that asked for one: by id, else the next
    of this tool with these arguments, else of this tool. A run that has another id is another call's."""

    def __init__(self, recorded: Sequence[Recorded | Ending]) -> None:
        self.named: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.same: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.any: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.keys: dict[int, list[list[int]]] = {}
        for at, item in enumerate(recorded):
            if isinstance(item, ToolStep | AgentTool):
                self._file(at, item)

    def _file(self, at: int, item: ToolStep | AgentTool) -> None:
        lists = []
        if item.call_id is not None:
            lists.append(self.named[item.tool, item.call_id])
        for whose in ("all", *(() if item.call_id is not None else ("nameless",))):
            lists += [self.same[item.tool, whose, key_of(item.arguments)], self.any[item.tool, whose]]
        for places in lists:
            places.append(at)
        self.keys[at] = lists

    def of(self, at: int, call: AskedCall) -> tuple[int | None, bool]:
        """Its place after `at`, and whether it was guessed among several."""
        whose = "all" if call.call_id is None else "nameless"
        named = () if call.call_id is None else self.named.get((call.tool, call.call_id), ())
        same = self.same.get((call.tool, whose, key_of(call.arguments)), ())
        anyone = self.any.get((call.tool, whose), ())
        for places in (named, same, anyone):
            first = bisect_right(places, at)
            if first < len(places):
                found = places[first]
                guessed = places is not named and len(anyone) - bisect_right(anyone, at) > 1
                self._forget(found)
                return found, guessed
        return None, False

    def _forget(self, at: int) -> None:
        for places in self.keys.pop(at):
            del places[bisect_left(places, at)]


class ToldAnswers:
    """Where each set of calls stands in the requests. A turn that several requests share is filed once, for the first:
    a call is asked for before a request brings it back. Each place answers one exchange: where the same request was
    sent again, the one with the ids of the calls there, else the last before it."""

    def __init__(self, recorded: Sequence[Recorded | Ending]) -> None:
        self.recorded = recorded
        self.places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.askers: dict[str, list[int]] = defaultdict(list)
        filed: set[int] = set()
        for at, item in enumerate(recorded):
            sent = self._sent(at)
            for place in range(since(sent), len(sent)):
                turn = sent[place]
                if turn.calls and id(turn) not in filed:
                    filed.add(id(turn))
                    self.places[_of_calls(turn.calls)].append((at, place))
            if isinstance(item, ModelExchange) and item.asked:
                self.askers[_of_calls(item.asked)].append(at)

    def after(self, at: int, calls: tuple[AskedCall, ...], *, by_id: bool = False) -> list[GivenAnswer] | None:
        """The answers right after the last assistant turn with exactly these calls, in the first later request that
        has such a turn; None if none has. A turn that the exchange was itself told of is not its own."""
        name = _of_calls(calls)
        places = self.places.get(name, [])
        low = bisect_left(places, (at + 1, 0))
        for _ in range(_FAR):
            if low == len(places):
                return None
            high = bisect_left(places, (places[low][0] + 1, 0))
            for request, place in reversed(places[low:high]):
                same = _ids(self._sent(request)[place].calls) == _ids(calls)
                if self._is_own(at, request, place, name) and (same or not by_id):
                    return list(following(self._sent(request), place))
            low = high
        return None

    def _is_own(self, at: int, request: int, place: int, name: str) -> bool:
        turn = self._sent(request)[place]
        if self._was_told(at, turn, place):
            return False
        asked = self.askers.get(name, [])
        near = asked[: bisect_left(asked, request)][-_NEAR:]
        askers = [asker for asker in near if asker == at or not self._was_told(asker, turn, place)]
        meant = [asker for asker in askers if _ids(self._asked(asker)) == _ids(turn.calls)]
        return (meant or askers or [at])[-1] == at

    def _was_told(self, at: int, turn: Turn, place: int) -> bool:
        """Whether the turn stood at the same place of the request that this exchange answers."""
        sent = self._sent(at)
        return place < len(sent) and (sent[place] is turn or sent[place].raw == turn.raw)

    def _sent(self, at: int) -> Sequence[Turn]:
        item = self.recorded[at]
        return item.sent if isinstance(item, ModelExchange | Ending) else ()

    def _asked(self, at: int) -> tuple[AskedCall, ...]:
        item = self.recorded[at]
        return item.asked if isinstance(item, ModelExchange) else ()


_FAR, _NEAR = 100, 10
"""How many later requests are looked through for an answer, and how many exchanges that asked for the same may claim
it: what is further away belongs to something else."""


def _ids(calls: tuple[AskedCall, ...]) -> list[str | None]:
    return [call.call_id for call in calls]


def _of_calls(calls: tuple[AskedCall, ...]) -> str:
    return key_of([[call.tool, call.arguments] for call in calls])


def following(sent: Sequence[Turn], at: int) -> Iterator[GivenAnswer]:
    """The answers right after a turn."""
    for place in range(at + 1, len(sent)):
        if not sent[place].answers:
            return
        yield from sent[place].answers


def uncalled(sent: Sequence[Turn]) -> Iterator[GivenAnswer]:
    """The answers that stand after no assistant turn with calls, in what a request adds to the one before it."""
    begin = since(sent)
    called = _is_called(sent, begin)
    for place in range(begin, len(sent)):
        turn = sent[place]
        if turn.answers and not called:
            yield from turn.answers
        called = bool(turn.calls) or (called and bool(turn.answers))


def _is_called(sent: Sequence[Turn], at: int) -> bool:
    """Whether an answer at this place has its call before it, with nothing but answers between."""
    before = next(
        (sent[place] for place in range(at - 1, -1, -1) if sent[place].calls or not sent[place].answers), None
    )
    return before is not None and bool(before.calls)


class Names:
    """A name for a conversation up to each of its turns: equal beginnings have equal names. A turn that several
    requests share is looked at once, and so is what a growing conversation held before."""

    def __init__(self) -> None:
        self.turns: dict[int, str] = {}
        self.grown: dict[int, list[str]] = {}

    def of(self, sent: Sequence[Turn]) -> list[str]:
        names = self.grown.setdefault(id(sent.turns), []) if isinstance(sent, Shared) else []
        for place in range(len(names), len(sent)):
            turn = sent[place]
            if id(turn) not in self.turns:
                self.turns[id(turn)] = key_of(turn.raw)
            names.append(hash_of((names[-1] if names else "") + self.turns[id(turn)]))
        return names


def key_of(value: JSON) -> str:
    return hash_of(json.dumps(value, sort_keys=True, default=str))


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
