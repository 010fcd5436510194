"""Lists and objects that were flattened into attribute names: PREFIX.0.a.b -> [{a: {b: …}}]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JSON = Any
_MAX_PARTS = 24


def unflatten(attributes: Mapping[str, JSON], prefix: str) -> list[tuple[int, dict[str, JSON]]]:
    """(place of its first attribute, object) of each entry below the prefix, in the order of the numbers; names
    that do not fit are left."""
    found: dict[int, tuple[int, dict[str, JSON]]] = {}
    for at, (key, value) in enumerate(attributes.items()):
        if key.startswith(prefix):
            number, _, rest = key[len(prefix) :].partition(".")
            if _is_number(number) and rest:
                _put(found.setdefault(int(number), (at, {}))[1], rest.split(".", _MAX_PARTS), value)
    return [found[number] for number in sorted(found)]


def listed(value: JSON) -> list[JSON]:
    """An object whose keys are numbers, as a list in their order."""
    if not isinstance(value, dict):
        return []
    return [value[key] for key in sorted((key for key in value if _is_number(key)), key=int)]


def _put(holder: dict[str, JSON], parts: list[str], value: JSON) -> None:
    for part in parts[:-1]:
        inner = holder.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        holder = inner
    if not isinstance(holder.get(parts[-1]), dict):
        holder[parts[-1]] = value


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= 9
