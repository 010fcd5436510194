"""Ids that a workflow makes up itself, such as idempotency keys: compared by order of first appearance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.fixture.pointer import leaves

Id = str | int | float
_WORD = re.compile(r"[\w-]+")


class GeneratedIds:
    """Which id of this run stands for which recorded one.

    A recorded id that first appears in a call is generated: the run's own id takes its place, one for one, for the rest
    of the run, so that "the same id" and "another id" stay true. An id that input, identity or an earlier answer held
    before (as a value of its own or as a word of a text), on either side, is not generated and is compared exactly.
    Recorded clock reads and random draws count as seen from the start: when they are read must not change a verdict.
    """

    def __init__(self, fixture: Fixture) -> None:
        self._watching = any(event.match.generated for event in fixture.events)
        self._seen: set[Id] = set()
        self._actual: dict[Id, Id] = {}
        self._recorded: dict[Id, Id] = {}
        for value in (fixture.input, fixture.identity, *(event.now or event.value for event in fixture.events)):
            self.see(value)

    def see(self, answer: Any) -> None:
        """Note the ids of what the implementation was told. Costs nothing where no event declares generated ids."""
        if self._watching:
            self._seen.update(_ids(answer))

    def stands_for(self, recorded: Any, actual: Any, pending: dict[Id, Id]) -> bool:
        """Whether `actual` may stand where `recorded` stood. A new pair goes into `pending` until the call is bound."""
        if not _is_id(recorded) or not _is_id(actual) or isinstance(recorded, str) is not isinstance(actual, str):
            return False
        known = self._actual.get(recorded, pending.get(recorded))
        if known is not None:
            return bool(known == actual)
        if recorded in self._seen or actual in self._seen:
            return bool(recorded == actual)
        if actual in self._recorded or actual in pending.values():
            return False
        pending[recorded] = actual
        return True

    def bind(self, pending: dict[Id, Id]) -> None:
        """Keep the pairs of a call that was selected and approved."""
        for recorded, actual in pending.items():
            self._actual[recorded] = actual
            self._recorded[actual] = recorded


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _ids(value: Any) -> Iterator[Id]:
    for _, leaf in leaves(value):
        if _is_id(leaf):
            yield leaf
        if isinstance(leaf, str):
            yield from _WORD.findall(leaf)
