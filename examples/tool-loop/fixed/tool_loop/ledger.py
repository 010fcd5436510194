"""What has happened so far: tools that answered, and what the person was told and said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Done:
    """One answered call. `answer` is the text as it came, `result` what it holds if it is JSON, else None."""

    tool: str
    arguments: Any
    answer: Any
    result: Any


@dataclass
class Ledger:
    done: list[Done] = field(default_factory=list)
    talk: list[tuple[Any, Any]] = field(default_factory=list)

    def called(self, tool: str, arguments: Any, answer: Any) -> None:
        self.done.append(Done(tool, arguments, answer, _parsed(answer)))

    def spoke(self, told: Any, said: Any) -> None:
        self.talk.append((told, said))

    def records(self) -> Iterator[dict[str, Any]]:
        """Every object in every result, newest call first; what it does not say itself is filled in from the call
        that asked for it (a search's results often leave out the day that was searched for)."""
        for done in reversed(self.done):
            asked = done.arguments if isinstance(done.arguments, dict) else {}
            for record in _objects(done.result):
                yield {**asked, **record}


def values_at(document: Any, path: str) -> list[Any]:
    """Values at a path such as /flights/*/price; [] where nothing is."""
    found = [document]
    for step in path.split("/")[1:]:
        found = [child for value in found for child in _children(value, step)]
    return found


def value_at(document: Any, path: str) -> Any:
    found = values_at(document, path)
    return found[0] if found else None


def _children(value: Any, step: str) -> list[Any]:
    if step == "*" and isinstance(value, list):
        return value
    if isinstance(value, dict) and step in value:
        return [value[step]]
    return []


def _parsed(answer: Any) -> Any:
    if not isinstance(answer, str):
        return answer
    try:
        return json.loads(answer)
    except ValueError:
        return None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _objects(child)
