"""Where the answer to a call stands: in a record of the tool's own run, or in a later request of the model."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from replaycases.importers.exchanges import AgentTool, AskedCall, Ending, GivenAnswer, ModelExchange, Recorded, Turn
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
            for place, turn in enumerate(self._sent(at)):
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
    for turn in sent[at + 1 :]:
        if not turn.answers:
            return
        yield from turn.answers


def key_of(value: JSON) -> str:
    return hash_of(json.dumps(value, sort_keys=True, default=str))


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
