"""Lists and objects that were flattened into attribute names: PREFIX.0.a.b -> [{a: {b: …}}]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.importers.neutral import Boundary
from replaycases.importers.otlp.site import Notes, Site

JSON = Any
_MAX_PARTS = 24
_LOST_PARTS = "a message has fewer parts than their numbers say"
_LOST_PARTS_COST = "a part of what was sent or answered may be missing"
_HOLE = "entries of a flattened list are not in the file: their numbers are left out"
_HOLE_COST = "a part of what was sent or answered is missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """`entries` are (place of its first attribute, object) in the order of their numbers. Not `whole`: one with a
    lower number than the last is not there."""

    entries: Sequence[tuple[int, dict[str, JSON]]]
    whole: bool = True


EMPTY = Flat(entries=())


def lacks_entries(site: Site, flats: Iterable[Flat], notes: Notes, *, boundary: Boundary) -> bool:
    """Whether entries of what a span holds under flat names are missing: numbers are left out, which is noted, or the
    recorder dropped attributes, of which nobody knows which they were."""
    read = [flat for flat in flats if flat.entries]
    whole = all(flat.whole for flat in read)
    if not whole:
        notes.each("content_lost", site.span.source, _HOLE, cost=_HOLE_COST, boundary=boundary)
    return not whole or bool(read and site.span.dropped.attributes)


def note_lost_parts(site: Site, messages: Iterable[JSON], notes: Notes) -> None:
    """A part of a message that is not there is a note: not every recorder writes every block."""
    if any(isinstance(message, dict) and _lacks_parts(message) for message in messages):
        notes.each("content_lost", site.span.source, _LOST_PARTS, cost=_LOST_PARTS_COST, boundary="model")


def _lacks_parts(message: dict[str, JSON]) -> bool:
    """Whether fewer parts and calls are there than their numbers say: these count the blocks of a message together, or
    each their own."""
    (parts, highest), (calls, last) = _counted(message.get("contents")), _counted(message.get("tool_calls"))
    return parts + calls + (message.get("content") is not None) < max(highest, last)


def _counted(value: JSON) -> tuple[int, int]:
    """(how many entries, how many there must be by the highest number) of an object whose keys are numbers."""
    numbers = {int(key) for key in value if _is_number(key)} if isinstance(value, dict) else set()
    return len(numbers), max(numbers, default=-1) + 1


def unflatten(attributes: Mapping[str, JSON], prefix: str) -> Flat:
    """Each entry below the prefix; names that do not fit are left."""
    found: dict[int, tuple[int, dict[str, JSON]]] = {}
    for at, (key, value) in enumerate(attributes.items()):
        if key.startswith(prefix):
            number, _, rest = key[len(prefix) :].partition(".")
            if _is_number(number) and rest:
                _put(found.setdefault(int(number), (at, {}))[1], rest.split(".", _MAX_PARTS), value)
    return Flat(entries=[found[number] for number in sorted(found)], whole=not found or max(found) < len(found))


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
