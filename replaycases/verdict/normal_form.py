"""What was observed, in the form in which two runs of one deterministic implementation are equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replaycases.fixture.canonical import digest
from replaycases.fixture.hidden import hidden_by_seq
from replaycases.fixture.model import SUBJECT, Event, Fixture
from replaycases.fixture.pointer import replaced, resolve
from replaycases.verdict.effects import matched
from replaycases.verdict.given_ids import GivenIds, Id, is_id
from replaycases.verdict.observation import Call, Observation


def observation_hash(fixture: Fixture, observation: Observation) -> str:
    """Digest of status, calls, reads, outcome and what was left over, without what rules and declared gaps hide, and
    with generated ids renamed.

    Times, run ids, host, standard error and exit status are left out, and so is `call_id`, which is transport. Of the
    outcome only `structured` can repeat a generated id: whatever the run says to a person counts as it stands, or a run
    could say something else each time by passing its message for an id.
    """
    names = _Names(fixture)
    hidden = hidden_by_seq(fixture)
    calls = [_normal_call(call, fixture, hidden, names) for call in observation.calls]
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
    """Generated ids by order of first appearance. An id that was given is not generated and keeps its own value."""

    def __init__(self, fixture: Fixture) -> None:
        self.given = GivenIds(fixture)
        self._names: dict[Id, dict[str, int]] = {}

    def name(self, value: Id) -> Any:
        """What stands for an id found at a place of generated ids, now and from now on."""
        if value in self.given and value not in self._names:
            return value
        return self._names.setdefault(value, {"generated": len(self._names) + 1})

    def renamed(self, value: Any) -> Any:
        """`value` with every text that is a generated id replaced by its name. A number that is an id at its own place
        is an amount elsewhere, and stays."""
        if not self._names:
            return value
        if isinstance(value, dict):
            return {key: self.renamed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.renamed(item) for item in value]
        return self._names.get(value, value) if isinstance(value, str) else value


def _normal_outcome(outcome: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    return {name: names.renamed(value) if name == "structured" else value for name, value in outcome.items()}


def _normal_call(call: Call, fixture: Fixture, hidden: Mapping[int, tuple[str, ...]], names: _Names) -> dict[str, Any]:
    event = fixture.events_by_seq.get(call.seq) if call.seq is not None else None
    params: Any = {name: value for name, value in call.params.items() if name != "call_id"}
    if event is not None and call.alternative is None:
        for pointer in hidden.get(event.seq, ()):
            params = replaced(params, _absolute(call, pointer), None)
    places = [_absolute(call, pointer) for pointer in event.match.generated] if event is not None else []
    named = {place: names.name(value) for place in places if is_id(value := resolve(params, place))}
    normal = names.renamed(params)
    for place, name in named.items():
        normal = replaced(normal, place, name)
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
