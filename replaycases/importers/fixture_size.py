"""How large a fixture becomes, told before it is written: each of its model requests repeats what was said so far."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from replaycases.fixture.strict_json import LIMITS
from replaycases.importers.findings import Gap, refused
from replaycases.importers.repeated import Repeated

JSON = Any
MAX_BYTES = LIMITS.max_bytes


def written(document: JSON, *, indent: int | None = None) -> bytes:
    """As JSON text; without `indent` in the shortest form."""
    separators = (",", ":") if indent is None else None
    return (json.dumps(document, ensure_ascii=False, indent=indent, separators=separators) + "\n").encode(
        "utf-8", "surrogatepass"
    )


def size_gap(events: Sequence[Mapping[str, JSON]]) -> Gap | None:
    """For events that have no room in a fixture: how large they are, and how many of them, from the first on, do."""
    total = fitting = 0
    for size in sizes_of(events):
        total += size
        fitting += total <= MAX_BYTES
    if total <= MAX_BYTES:
        return None
    most = f"the most is {_megabytes(MAX_BYTES)}" + (f", which events 1 to {fitting} take" if fitting else "")
    cost = f"the fixture would have {_megabytes(total)}, since each model call repeats the conversation so far; {most}"
    return Gap(name="size", pointers=("/events",), caps=False, cost=cost)


def require_room(gaps: Sequence[Gap]) -> None:
    """Raises ImportRefused for a fixture that would be too large, with what makes it smaller."""
    found = next((gap for gap in gaps if gap.name == "size"), None)
    if found is not None:
        hint = "End it earlier (horizon_after), or leave out model calls that decided nothing."
        raise refused("too-long", "", found.cost, hint)


def sizes_of(events: Sequence[Mapping[str, JSON]]) -> Iterator[int]:
    """Bytes of each event in the shortest form, with the comma after it."""
    messages = Repeated(lambda key, at, message: _length(message) + 1)
    for event in events:
        request = event.get("request", {})
        held = messages.of(request)
        bare = {**event, "request": {**request, **{key: [] for key in held}}} if held else event
        yield _length(bare) + 1 + sum(sum(sizes) - bool(sizes) for sizes in held.values())


def _length(value: JSON) -> int:
    """In the shortest form. The fast writer has no place for every whole number and half of a pair."""
    try:
        return len(orjson.dumps(value))
    except orjson.JSONEncodeError:
        return len(written(value)) - 1


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MiB"
