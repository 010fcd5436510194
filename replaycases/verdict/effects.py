"""The side effects of a run, read from the fixture by what each call was matched to, never from the implementation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.model import Accepted, Alternative, Effect, Event, Fixture, Guard
from replaycases.fixture.pointer import ABSENT, resolve
from replaycases.verdict.observation import Call, Observation


@dataclass(frozen=True, kw_only=True)
class CallEffect:
    """One effect of one observed call.

    `call` is the call's index. `key` is the canonical form of the value at the effect's key pointer in the call's own
    arguments; None if the effect declares no key or the call has nothing there: such an effect counts by itself.
    """

    call: int
    action: str
    key: bytes | None
    accepted: Accepted


@dataclass(frozen=True, kw_only=True)
class Interval:
    """How often an action took effect: at least `low`, at most `high` (None: no upper bound is known)."""

    low: int
    high: int | None

    def as_dict(self) -> dict[str, int | None]:
        return {"min": self.low, "max": self.high}


@dataclass(frozen=True, kw_only=True)
class Effects:
    """All effects of a run, in the order of its calls.

    `unbounded` is the index of a call to a tool that the fixture lacks and that nothing answered: it may have done
    anything, so no action has an upper bound.
    """

    effects: tuple[CallEffect, ...]
    unbounded: int | None

    def of(self, action: str) -> tuple[CallEffect, ...]:
        return tuple(effect for effect in self.effects if effect.action == action)

    def effects_at(self, call: int) -> tuple[CallEffect, ...]:
        return self._by_call.get(call, ())

    def count(self, action: str) -> Interval:
        """Distinct keys of accepted effects; without a key each call. `unknown` opens the interval upwards."""
        mine = [effect for effect in self.of(action) if effect.accepted is not False]
        sure = {_identity(effect) for effect in mine if effect.accepted is True}
        possible = {_identity(effect) for effect in mine}
        return Interval(low=len(sure), high=None if self.unbounded is not None else len(possible))

    @cached_property
    def _by_call(self) -> dict[int, tuple[CallEffect, ...]]:
        return {call: tuple(effects) for call, effects in groupby(self.effects, key=lambda effect: effect.call)}


def effects_of(fixture: Fixture, observation: Observation) -> Effects:
    """The effects of every observed tool call, answered or not.

    A call that was matched and answered has the effect of its event or alternative. One that was not answered (it
    crossed the horizon or ended the run) may have had every effect that its tool carries anywhere in the fixture.
    """
    carried = effects_by_tool(fixture)
    known = known_tools(fixture)
    found: list[CallEffect] = []
    unbounded: int | None = None
    for index, call in enumerate(observation.calls):
        if call.boundary != "tool":
            continue
        if is_matched(call):
            effect = matched(fixture, call).effect
            if effect is not None:
                found.append(_call_effect(index, call, effect.action, effect.key, effect.accepted))
            continue
        tool = str(call.params.get("tool"))
        if tool not in known and unbounded is None:
            unbounded = index
        for action, key in carried.get(tool, {}).items():
            found.append(_call_effect(index, call, action, key, "unknown"))
    return Effects(effects=tuple(found), unbounded=unbounded)


def action_counts(fixture: Fixture, effects: Effects) -> dict[str, dict[str, int | None]]:
    """{action: {"min", "max"}} for every action that the fixture's effects carry or a check counts."""
    return {action: effects.count(action).as_dict() for action in sorted(actions_of(fixture))}


def actions_of(fixture: Fixture) -> frozenset[str]:
    carried = {action for actions in effects_by_tool(fixture).values() for action in actions}
    counted = {str(check.spec["action"]) for check in fixture.checks if check.kind == "action_counts"}
    return frozenset(carried | counted)


def effects_by_tool(fixture: Fixture) -> dict[str, dict[str, str | None]]:
    """{tool: {action: key pointer}} over events and alternatives. Where the key pointers of one tool's action differ
    the pointer is None: each call then counts, which is the larger and so the careful number."""
    carried: dict[str, dict[str, str | None]] = {}
    for tool, effect, _ in _tool_places(fixture):
        if effect is not None:
            keys = carried.setdefault(tool, {})
            agrees = keys.get(effect.action, effect.key) == effect.key
            keys[effect.action] = effect.key if agrees else None
    return carried


def guards_by_tool(fixture: Fixture) -> dict[str, frozenset[str]]:
    """{tool: actions whose authorization a call of that tool carries}."""
    guarded: dict[str, frozenset[str]] = {}
    for tool, _, guard in _tool_places(fixture):
        if guard is not None:
            guarded[tool] = guarded.get(tool, frozenset()) | {guard.action}
    return guarded


def known_tools(fixture: Fixture) -> frozenset[str]:
    return frozenset(tool for tool, _, _ in _tool_places(fixture))


def is_matched(call: Call) -> bool:
    """True if the call got a recorded answer: only then is its event known to be what happened."""
    return call.answered and call.seq is not None


def matched(fixture: Fixture, call: Call) -> Event | Alternative:
    """The event, or the alternative of it, that answered a matched call. KeyError for a seq the fixture lacks."""
    if call.seq is None:
        raise KeyError("the call was matched to no event")
    event = fixture.events_by_seq[call.seq]
    return event if call.alternative is None else event.alternatives[call.alternative]


def _tool_places(fixture: Fixture) -> Iterator[tuple[str, Effect | None, Guard | None]]:
    for event in fixture.events:
        if event.boundary == "tool":
            yield event.tool, event.effect, event.guard
            for alternative in event.alternatives:
                yield alternative.tool, alternative.effect, None


def _call_effect(index: int, call: Call, action: str, pointer: str | None, accepted: Accepted) -> CallEffect:
    value: Any = ABSENT if pointer is None else resolve(call.params.get("arguments"), pointer)
    key = None if value is ABSENT else canonical_bytes(value)
    return CallEffect(call=index, action=action, key=key, accepted=accepted)


def _identity(effect: CallEffect) -> bytes | int:
    return effect.call if effect.key is None else effect.key
