"""Declared leniency: what an ignore rule or a declared gap hides, and where a generated id may take another's place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.hidden import hidden_by_seq
from replaycases.fixture.model import Event, Fixture
from replaycases.fixture.pointer import ABSENT, replaced, resolve
from replaycases.replay.generated_ids import GeneratedIds
from replaycases.replay.request import BoundaryCall
from replaycases.replay.values import leaf_count
from replaycases.verdict.given_ids import Id


@dataclass(frozen=True, slots=True)
class Rules:
    """Pointers into the subject of one event: `hidden` ones are not compared, `generated` ones hold made-up ids."""

    hidden: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()

    def key(self, subject: Any) -> bytes:
        """Canonical bytes of `subject` with every hidden and generated place blanked."""
        for pointer in (*self.hidden, *self.generated):
            subject = replaced(subject, pointer, None)
        return canonical_bytes(subject)


@dataclass(slots=True)
class Adjusted:
    """The actual subject with the recording's value at every hidden place and at every place of an id that may stand
    there; `pending` are the new id pairs, `ignored` the rules that were hit, `ignored_leaves` the leaves they hid."""

    actual: Any
    pending: dict[Id, Id] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    ignored_leaves: int = 0


NONE = Rules()


class RuleBook:
    """The rules of each event of one fixture."""

    def __init__(self, fixture: Fixture) -> None:
        self._hidden = hidden_by_seq(fixture)

    def of(self, event: Event) -> Rules:
        hidden = self._hidden.get(event.seq, ())
        return Rules(hidden, event.match.generated) if hidden or event.match.generated else NONE


def compared(expected: Any, call: BoundaryCall, rules: Rules, ids: GeneratedIds) -> tuple[Adjusted, bool]:
    """The call's subject as it is to be compared with `expected`, and whether it is the same."""
    adjusted = adjust(expected, call.subject, rules, ids)
    key = call.key if adjusted.actual is call.subject else canonical_bytes(adjusted.actual)
    return adjusted, key == canonical_bytes(expected)


def adjust(expected: Any, actual: Any, rules: Rules, ids: GeneratedIds) -> Adjusted:
    """`actual` with the rules applied; neither value is changed."""
    adjusted = Adjusted(actual)
    for pointer in rules.hidden:
        recorded, received = resolve(expected, pointer), resolve(actual, pointer)
        if recorded is not ABSENT or received is not ABSENT:
            adjusted.ignored += (pointer,)
            adjusted.ignored_leaves += max(leaf_count(recorded), leaf_count(received))
            adjusted.actual = replaced(adjusted.actual, pointer, recorded)
    for pointer in rules.generated:
        recorded = resolve(expected, pointer)
        if ids.stands_for(recorded, resolve(actual, pointer), adjusted.pending):
            adjusted.actual = replaced(adjusted.actual, pointer, recorded)
    return adjusted
