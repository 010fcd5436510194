"""Checks that nothing in a recorded run could touch: they hold whatever was done, and say nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.model import Alternative, Check, Event, Fixture
from replaycases.fixture.model_request import CATALOGUE_KEYS, tool_names

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Known:
    """The tools that a run called or was offered, the actions its calls stand for, and the chunks it was given."""

    tools: frozenset[str]
    actions: frozenset[str]
    chunks: frozenset[str]


def known_in(fixture: Fixture) -> Known:
    events = fixture.events
    calls: list[Event | Alternative] = [*events, *(other for event in events for other in event.alternatives)]
    effects = {call.effect.action for call in calls if call.effect is not None}
    chunks = (chunk for event in events for chunk in event.chunks or ())
    return Known(
        tools=frozenset({call.tool for call in calls} | set(_offered(fixture))),
        actions=frozenset(effects | {event.guard.action for event in events if event.guard is not None}),
        chunks=frozenset(str(chunk["id"]) for chunk in chunks),
    )


def untouched(fixture: Fixture) -> dict[str, str]:
    """Why, by the id of the check that names what the run does not have."""
    known = known_in(fixture)
    found = {check.id: "; ".join(_strange(check, known)) for check in fixture.checks}
    return {check: why for check, why in found.items() if why}


def _offered(fixture: Fixture) -> Iterator[str]:
    """What its model requests offer. A long run was offered the same each time."""
    last: JSON = None
    for event in fixture.events:
        for key in CATALOGUE_KEYS if isinstance(event.request, dict) else ():
            catalogue = event.request.get(key)
            if catalogue is not None and catalogue != last:
                yield from tool_names(catalogue)
                last = catalogue


def _strange(check: Check, known: Known) -> Iterable[str]:
    names = _NAMES.get(check.kind)
    return names(check.spec, known) if names is not None else ()


def _tool(name: str, known: Known) -> Iterator[str]:
    if name not in known.tools:
        yield f"“{name}” is a tool that the run never offered or called"


def _action(name: str, known: Known) -> Iterator[str]:
    if name not in known.actions:
        yield f"no call of the run is said to do “{name}”"


def _sequence(spec: Mapping[str, JSON], known: Known) -> Iterator[str]:
    for tool in dict.fromkeys(spec.get("tools", ())):
        yield from _tool(tool, known)
    for rule in spec.get("forbid", ()):
        yield from _tool(rule["tool"], known)
        for part in ("after_accepted", "unless"):
            if part in rule:
                yield from _action(rule[part], known)


def _order(spec: Mapping[str, JSON], known: Known) -> Iterator[str]:
    yield from _action(spec["action"], known)
    yield from _tool(spec["after"], known)


def _citation(spec: Mapping[str, JSON], known: Known) -> Iterator[str]:
    if str(spec["chunk"]) not in known.chunks:
        yield f"no lookup of the run returned “{spec['chunk']}”"


_NAMES: Mapping[str, Callable[[Mapping[str, JSON], Known], Iterable[str]]] = {
    "tool_sequence": _sequence,
    "order": _order,
    "action_counts": lambda spec, known: _action(spec["action"], known),
    "authorization": lambda spec, known: _action(spec["action"], known),
    "citations": _citation,
}
