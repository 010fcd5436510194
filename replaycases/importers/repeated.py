"""Requests of one conversation, each of which repeats the one before it: what is made of a message is made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from replaycases.fixture.model_request import MESSAGE_KEYS

JSON = Any
T = TypeVar("T")


class Repeated(Generic[T]):
    """`make(key, place, message)` for each message of the requests that are asked for one after the other."""

    def __init__(self, make: Callable[[str, int, JSON], T]) -> None:
        self._make = make
        self._before: dict[str, tuple[list[JSON], list[T]]] = {}

    def of(self, request: JSON) -> dict[str, list[T]]:
        """What was made of the messages under each of their usual names."""
        found = {key: request[key] for key in MESSAGE_KEYS if isinstance(request.get(key), list)}
        return {key: self._made(key, messages) for key, messages in found.items()}

    def _made(self, key: str, messages: list[JSON]) -> list[T]:
        before, made = self._before.get(key, ([], []))
        begin = len(before) if messages[: len(before)] == before else 0
        made = [*made[:begin], *(self._make(key, at, messages[at]) for at in range(begin, len(messages)))]
        self._before[key] = messages, made
        return made
