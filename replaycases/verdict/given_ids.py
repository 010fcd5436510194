"""Which ids a run was given, so that none of them passes for one that the run made up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.fixture.pointer import leaves

Id = str | int | float
_WORD = re.compile(r"[\w-]+")


class GivenIds:
    """The ids that input, identity and the answers so far held, as a value of their own or as a word of a text.

    Recorded clock reads and random draws count from the start: when they are read must not change a verdict. Where no
    event declares generated ids nothing is kept, and it costs nothing.
    """

    def __init__(self, fixture: Fixture) -> None:
        self._watching = any(event.match.generated for event in fixture.events)
        self._seen: set[Id] = set()
        for value in (fixture.input, fixture.identity, *(event.now or event.value for event in fixture.events)):
            self.see(value)

    def see(self, answer: Any) -> None:
        if self._watching:
            self._seen.update(_ids(answer))

    def __contains__(self, value: Id) -> bool:
        return value in self._seen


def is_id(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _ids(value: Any) -> Iterator[Id]:
    for _, leaf in leaves(value):
        if is_id(leaf):
            yield leaf
        if isinstance(leaf, str):
            yield from _WORD.findall(leaf)
