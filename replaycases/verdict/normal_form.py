"""What was observed, in the form in which two runs of one deterministic implementation are equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from replaycases.fixture.canonical import digest
from replaycases.fixture.model import SUBJECT, Event, Fixture
from replaycases.fixture.pointer import ABSENT, join, leaves, resolve, split
from replaycases.verdict.effects import matched
from replaycases.verdict.given_ids import GivenIds
from replaycases.verdict.observation import Call, Observation


def observation_hash(fixture: Fixture, observation: Observation) -> str:
    """Digest of status, calls, reads, outcome and what was left over, after ignore rules and renaming of generated ids.

    Times, run ids, host, standard error and exit status are left out, and so is `call_id`, which is transport. Of the
    outcome only `structured` can repeat a generated id: whatever the run says to a person counts as it stands, or a run
    could say something else each time by passing its message for an id.
    """
    names = _Names(fixture)
    calls = [_normal_call(call, fixture, names) for call in observation.calls]
    return digest(
        {
            "status": observation.status,
            "calls": calls,
            "reads": dict(observation.reads),
            "outcome": None if observation.outcome is None else _normal_outcome(observation.outcome, names),
            "unconsumed": list(observation.unconsumed),
            "optional_skipped": list(observation.optional_skipped),
            "serving": None if observation.serving is None else dict(observation.serving),
            "clock": observation.clock,
        }
    )


class _Names:
    """Generated ids by order of first appearance; only texts: a number that is an id is an amount elsewhere. An id that
    was given is not generated and keeps its own value."""

    def __init__(self, fixture: Fixture) -> None:
        self.given = GivenIds(fixture)
        self._numbers: dict[str, int] = {}

    def number(self, value: str) -> None:
        if value not in self.given:
            self._numbers.setdefault(value, len(self._numbers) + 1)

    def renamed(self, value: Any) -> Any:
        """`value` with every string that is a generated id replaced by {"generated": its number}."""
        if not self._numbers:
            return value
        if isinstance(value, dict):
            return {key: self.renamed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.renamed(item) for item in value]
        if isinstance(value, str) and value in self._numbers:
            return {"generated": self._numbers[value]}
        return value


def _normal_outcome(outcome: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    return {name: names.renamed(value) if name == "structured" else value for name, value in outcome.items()}


def _normal_call(call: Call, fixture: Fixture, names: _Names) -> dict[str, Any]:
    event = fixture.events_by_seq.get(call.seq) if call.seq is not None else None
    params = {name: value for name, value in call.params.items() if name != "call_id"}
    if event is not None and call.alternative is None and event.match.ignore:
        params = _without(params, [_absolute(call, pointer) for pointer in event.match.ignore])
    generated = event.match.generated if event is not None else ()
    for pointer in generated:
        for text in _strings(resolve(params, _absolute(call, pointer))):
            names.number(text)
    normal = names.renamed(params)
    if event is not None and call.answered:
        names.given.see(_answer(call, fixture))
    return {
        "boundary": call.boundary,
        "params": normal,
        "seq": call.seq,
        "alternative": call.alternative,
        "answered": call.answered,
        "crossing": call.crossing,
    }


def _absolute(call: Call, pointer: str) -> str:
    """A match rule's pointer is into the payload; calls hold it one level down."""
    subject = SUBJECT.get(call.boundary)
    return pointer if subject is None else f"/{subject}{pointer}"


def _answer(call: Call, fixture: Fixture) -> list[Any]:
    place = matched(fixture, call)
    answer = [place.outcome.value] if place.outcome is not None else []
    return [*answer, place.response, place.chunks, place.decision] if isinstance(place, Event) else answer


def _without(params: dict[str, Any], pointers: list[str]) -> dict[str, Any]:
    """A copy in which nothing stands at the pointers. An array element becomes null, so that its neighbours stay."""
    copy = deepcopy(params)
    for pointer in pointers:
        *parents, last = split(pointer)
        holder = resolve(copy, join("", *parents))
        if isinstance(holder, dict):
            holder.pop(last, None)
        elif isinstance(holder, list) and resolve(holder, join("", last)) is not ABSENT:
            holder[int(last)] = None
    return copy


def _strings(value: Any) -> Iterator[str]:
    return (leaf for _, leaf in leaves(value) if isinstance(leaf, str))
