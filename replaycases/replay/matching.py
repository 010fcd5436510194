"""Which recorded event answers a call: selected by place, then approved.

The recorded events (clock and random have queues elsewhere) stand in blocks: a run of neighbours with one `group` is a
block, any other event is one by itself. A call is offered to the block at its place and, where only optional events are
left there, to the next. Only tool events have a group; inside one the key (tool, canonical arguments) selects, like a
multiset. Nothing is guessed: a call that is not approved where it stands is a miss, and what explains a miss never
picks an answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.model import OWN_QUEUE, Alternative, Event, Fixture
from replaycases.replay.generated_ids import GeneratedIds
from replaycases.replay.prompt_delta import measure
from replaycases.replay.request import BoundaryCall
from replaycases.replay.rules import NONE, RuleBook, Rules, compared
from replaycases.replay.values import leaf_count
from replaycases.verdict.given_ids import Id

LEFT, CONSUMED, SKIPPED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Approval:
    """That one event (or its alternative number `alternative`) answers the call, and what the comparison counted."""

    compared: int
    alternative: int | None = None
    pending: dict[Id, Id] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    ignored_leaves: int = 0
    prompt_delta: float | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """The event at `index` that answers the call."""

    index: int
    event: Event
    approval: Approval


@dataclass(frozen=True, slots=True)
class Miss:
    """No answer. `at` holds the indexes of the required events left at the place, in order; empty past the end."""

    at: tuple[int, ...]


def subject(event: Event) -> Any:
    """What of an event is compared with a call's subject."""
    if event.boundary == "tool":
        return event.arguments
    if event.boundary == "model":
        return event.request
    if event.boundary == "human":
        return event.question
    return {"query": event.query, "parameters": event.parameters}


class Script:
    """The ordered events of one fixture and how far one run has come in them."""

    def __init__(self, fixture: Fixture) -> None:
        self.events: Sequence[Event] = [e for e in fixture.events if e.boundary not in OWN_QUEUE]
        self.state = bytearray(len(self.events))
        self.ids = GeneratedIds(fixture)
        self.rules = RuleBook(fixture)
        self._place = 0
        self._group: _Group | None = None

    def select(self, call: BoundaryCall) -> Selection | Miss:
        """The event that answers `call`, consumed; or a miss. Optional events that are passed over are skipped."""
        while self._place < len(self.events):
            group = self._entered_group()
            found = group.find(call) if group else self._at_place(call)
            if found is not None:
                self._consume(found, group)
                return found
            left = group.members() if group else [self._place]
            required = tuple(index for index in left if not self.events[index].optional)
            if required:
                return Miss(required)
            self._leave(left, group)
        return Miss(())

    def standing_seq(self) -> int | None:
        """The seq of the event at the place, None past the end."""
        return self.events[self._place].seq if self._place < len(self.events) else None

    def left_over(self, *, optional: bool) -> tuple[int, ...]:
        """The seqs of the events nobody asked for: the required ones, or the optional ones (passed over or not)."""
        states = zip(self.events, self.state, strict=True)
        return tuple(event.seq for event, state in states if state != CONSUMED and event.optional is optional)

    def passed_over(self) -> tuple[int, ...]:
        """The seqs of the optional events that a later call passed over."""
        return tuple(event.seq for event, state in zip(self.events, self.state, strict=True) if state == SKIPPED)

    def approve(self, event: Event, call: BoundaryCall) -> Approval | None:
        """Whether the event itself, and failing that one of its alternatives, answers the call."""
        if event.boundary != call.boundary:
            return None
        approval = self._approve_recorded(event, call) if event.tool == call.name else None
        if approval is not None or not event.alternatives:
            return approval
        approvals = (self._approve_alternative(event, number, call) for number in range(len(event.alternatives)))
        return next((found for found in approvals if found is not None), None)

    def _approve_recorded(self, event: Event, call: BoundaryCall) -> Approval | None:
        expected = subject(event)
        adjusted, equal = compared(expected, call, self.rules.of(event), self.ids)
        delta = 0.0
        if not equal:
            if call.boundary != "model":
                return None
            measured = measure(expected, adjusted.actual, event.match.tolerance)
            if not measured.allowed:
                return None
            delta = measured.largest
        return Approval(
            compared=max(leaf_count(expected) - adjusted.ignored_leaves, 0),
            pending=adjusted.pending,
            ignored=adjusted.ignored,
            ignored_leaves=adjusted.ignored_leaves,
            prompt_delta=delta if call.boundary == "model" else None,
        )

    def _approve_alternative(self, event: Event, number: int, call: BoundaryCall) -> Approval | None:
        """An alternative matches exactly, ignore rules or not, after renaming of the event's generated ids."""
        other: Alternative = event.alternatives[number]
        if other.tool != call.name:
            return None
        adjusted, equal = compared(other.arguments, call, Rules((), event.match.generated), self.ids)
        if not equal:
            return None
        return Approval(leaf_count(other.arguments), alternative=number, pending=adjusted.pending)

    def _at_place(self, call: BoundaryCall) -> Selection | None:
        event = self.events[self._place]
        approval = self.approve(event, call)
        return None if approval is None else Selection(self._place, event, approval)

    def _entered_group(self) -> _Group | None:
        if self._group is None and self.events[self._place].group is not None:
            self._group = _Group(self, self._place)
        return self._group

    def _consume(self, found: Selection, group: _Group | None) -> None:
        self.state[found.index] = CONSUMED
        self.ids.bind(found.approval.pending)
        if group is None:
            self._place += 1
        elif not group.count_down():
            self._leave([], group)

    def _leave(self, skipped: list[int], group: _Group | None) -> None:
        for index in skipped:
            self.state[index] = SKIPPED
        self._place = group.stop if group else self._place + 1
        self._group = None


class _Group:
    """Parallel calls: members in any order, each once. The barrier is the script's: it moves on when none is left."""

    def __init__(self, script: Script, start: int) -> None:
        self._script, self._start = script, start
        name, events = script.events[start].group, script.events
        self.stop = next((i for i in range(start, len(events)) if events[i].group != name), len(events))
        self._left = self.stop - start
        self._by_key: dict[tuple[Rules, str, bytes], deque[int]] = {}
        members = [(script.rules.of(events[index]), index) for index in range(start, self.stop)]
        # Strict events first, and the exact key before a lenient one: a call must not use up the only event that fits
        # another.
        members.sort(key=lambda member: len(member[0].hidden + member[0].generated))
        self._rules = tuple(dict.fromkeys((NONE, *(rules for rules, _ in members))))
        for own, index in members:
            for rules in dict.fromkeys((NONE, own)):
                key = (rules, events[index].tool, rules.key(subject(events[index])))
                self._by_key.setdefault(key, deque()).append(index)

    def members(self) -> list[int]:
        """The indexes of the members not consumed, in recorded order."""
        return [index for index in range(self._start, self.stop) if self._script.state[index] == LEFT]

    def count_down(self) -> int:
        """One member was consumed; how many are left."""
        self._left -= 1
        return self._left

    def find(self, call: BoundaryCall) -> Selection | None:
        for index in self._candidates(call):
            event = self._script.events[index]
            approval = self._script.approve(event, call)
            if approval is not None:
                return Selection(index, event, approval)
        return None

    def _candidates(self, call: BoundaryCall) -> Iterator[int]:
        """By exact key; then, since a key of the recorded calls finds no other, the members with alternatives."""
        if call.boundary != "tool":
            return
        for rules in self._rules:
            bucket = self._by_key.get((rules, call.name, rules.key(call.subject)))
            yield from self._still_left(bucket) if bucket else ()
        yield from (index for index in self.members() if self._script.events[index].alternatives)

    def _still_left(self, bucket: deque[int]) -> Iterator[int]:
        while bucket and self._script.state[bucket[0]] != LEFT:
            bucket.popleft()
        yield from (index for index in bucket if self._script.state[index] == LEFT)
