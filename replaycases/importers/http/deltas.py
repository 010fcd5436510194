"""Fragments of a streamed answer put together, in time that grows with their number.

Texts are gathered and joined once at the end. Entries of a list are told apart by their `index`.
"""

from __future__ import annotations

from typing import Any

JSON = Any
_WHOLE = frozenset({"id", "type", "role", "index", "object", "call_id"})


class _Text(list[str]):
    """The pieces of a text."""


class _Entries(dict[int, dict[str, JSON]]):
    """The entries of a list by their place. `places` says where the fragments with an index belong: some servers give
    every call the same index, and then a new id is a new entry."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[int, int] = {}
        self.last = -1

    def of(self, fragment: dict[str, JSON]) -> dict[str, JSON]:
        index: int = fragment["index"] if "index" in fragment else max(self.last, 0)
        place = self.places.get(index, index)
        known, id = self.get(place, {}).get("id"), fragment.get("id")
        if known and id and id != known:
            place = self.last + 1
        self.places[index], self.last = place, max(self.last, place)
        return self.setdefault(place, {})


def merge(held: dict[str, JSON], delta: dict[str, JSON]) -> None:
    """Add what `delta` says to `held`, in place."""
    for name, value in delta.items():
        before = held.get(name)
        if isinstance(value, str):
            _add_text(held, name, before, value)
        elif isinstance(value, dict):
            inner = before if isinstance(before, dict) and not isinstance(before, _Entries) else {}
            held[name] = inner
            merge(inner, value)
        elif isinstance(value, list):
            _add_list(held, name, before, value)
        elif value is not None or name not in held:
            held[name] = value


def joined(held: JSON) -> JSON:
    """The value that was put together."""
    if isinstance(held, _Text):
        return "".join(held)
    if isinstance(held, _Entries):
        entries = (joined(held[index]) for index in sorted(held))
        return [{name: value for name, value in entry.items() if name != "index"} for entry in entries]
    if isinstance(held, dict):
        return {name: joined(value) for name, value in held.items()}
    return held


def _add_text(held: dict[str, JSON], name: str, before: JSON, value: str) -> None:
    if name in _WHOLE:
        if value or name not in held:
            held[name] = value
    elif isinstance(before, _Text):
        if not (name == "name" and before == [value]):  # some servers repeat a tool's name in every fragment
            before.append(value)
    else:
        held[name] = _Text([before, value] if isinstance(before, str) else [value])


def _add_list(held: dict[str, JSON], name: str, before: JSON, value: list[JSON]) -> None:
    if value and all(isinstance(entry, dict) and _names_entry(entry) for entry in value):
        if not isinstance(before, _Entries):
            before = held[name] = _Entries()
        for entry in value:
            merge(before.of(entry), entry)
    elif isinstance(before, list) and not isinstance(before, _Text):
        before.extend(value)
    elif not isinstance(before, _Entries):
        held[name] = list(value)


def _names_entry(entry: dict[str, JSON]) -> bool:
    index = entry.get("index", 0 if "function" in entry else None)
    return isinstance(index, int) and not isinstance(index, bool)
