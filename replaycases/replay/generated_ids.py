"""Ids that a workflow makes up itself, such as idempotency keys: compared by order of first appearance."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.verdict.given_ids import GivenIds, Id, is_id


class GeneratedIds:
    """Which id of this run stands for which recorded one.

    A recorded id that first appears in a call is generated: the run's own id takes its place, one for one, for the rest
    of the run, so that "the same id" and "another id" stay true. An id that was given before, on either side, is not
    generated and is compared exactly.
    """

    def __init__(self, fixture: Fixture) -> None:
        self._given = GivenIds(fixture)
        self._actual: dict[Id, Id] = {}
        self._recorded: dict[Id, Id] = {}

    def see(self, answer: Any) -> None:
        """Note the ids of what the implementation was told."""
        self._given.see(answer)

    def stands_for(self, recorded: Any, actual: Any, pending: dict[Id, Id]) -> bool:
        """Whether `actual` may stand where `recorded` stood. A new pair goes into `pending` until the call is bound."""
        if not is_id(recorded) or not is_id(actual) or isinstance(recorded, str) is not isinstance(actual, str):
            return False
        known = self._actual.get(recorded, pending.get(recorded))
        if known is not None:
            return bool(known == actual)
        if recorded in self._given or actual in self._given:
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
