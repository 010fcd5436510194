"""Numbers in place of numbers, in the same order: ids that grow go on growing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from replaycases.redaction.surrogates.draws import Draw

_NUMBERED = re.compile(r"(.*?)([0-9]+)\Z", re.DOTALL)


def by_rank(key: bytes, ids: Iterable[str], *, attempt: int = 0) -> Mapping[str, str]:
    """A surrogate for each id that ends in digits: the same start and width, another number, the order kept.

    Ids are compared within one start and width. Where so many ids share a width that few numbers are left, fewer
    differ from their originals: the caller looks at what comes back.
    """
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    for text in sorted(set(ids)):
        start, digits = _parts(text)
        groups[start, len(digits)].append(text)
    ranked: dict[str, str] = {}
    for (start, width), members in groups.items():
        draw = Draw(key, "rank", start, width, attempt, *members)
        numbers = _numbers(draw, width, len(members), {int(_parts(member)[1]) for member in members}, members)
        ranked |= {member: f"{start}{number:0{width}}" for member, number in zip(members, numbers, strict=True)}
    return ranked


def ends_in_digits(text: str) -> bool:
    """Whether `text` can be ranked among others of its start and width."""
    return _NUMBERED.match(text) is not None


def _parts(text: str) -> tuple[str, str]:
    match = _NUMBERED.match(text)
    assert match is not None
    return match[1], match[2]


def _numbers(draw: Draw, width: int, count: int, avoid: set[int], members: list[str]) -> list[int]:
    """`count` sorted numbers of `width` digits, none of `avoid` as long as others are left."""
    padded = any(_parts(member)[1].startswith("0") for member in members)
    low = 0 if padded or width == 1 else 10 ** (width - 1)
    space = 10**width - low
    if space <= 4 * (count + len(avoid)):
        free = [number for number in range(low, 10**width) if number not in avoid]
        free += sorted(avoid)[: max(count - len(free), 0)]
        return sorted(_some(draw, free, count))
    chosen: set[int] = set()
    while len(chosen) < count:
        number = low + draw.below(space)
        if number not in avoid:
            chosen.add(number)
    return sorted(chosen)


def _some(draw: Draw, pool: list[int], count: int) -> list[int]:
    for place in range(count):
        other = place + draw.below(len(pool) - place)
        pool[place], pool[other] = pool[other], pool[place]
    return pool[:count]
