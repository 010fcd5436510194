"""A value of a foreign file, if it is of the type that is looked for."""

from __future__ import annotations

from typing import Any

JSON = Any


def text_or_none(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None


def object_or_empty(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}


def objects(value: JSON) -> list[tuple[int, dict[str, JSON]]]:
    """The objects of a list with their places."""
    items = value if isinstance(value, list) else ()
    return [(at, item) for at, item in enumerate(items) if isinstance(item, dict)]
