"""Numbers in place of numbers, in the same order: ids that grow go on growing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from replaycases.redaction.surrogates.draws import Draw
from replaycases.redaction.surrogates.ids import split


def by_rank(key: bytes, ids: Iterable[str], *, attempt: int = 0) -> Mapping[str, str]:
    """For each id that ends in digits others in their place: as many, and in the order of the originals.

    Ids are compared within one start and width. No number is that of an original of the width, whatever its start.
    Where so many ids share a width that few numbers are left, some keep theirs: the caller looks at what comes back.
    """
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    taken: dict[int, set[int]] = defaultdict(set)
    for text in sorted(set(ids)):
        start, digits = split(text)
        groups[start, len(digits)].append(text)
        taken[len(digits)].add(int(digits))
    ranked: dict[str, str] = {}
    for (start, width), members in groups.items():
        draw = Draw(key, "rank", start, width, attempt, *members)
        numbers = _numbers(draw, width, len(members), taken[width], members)
        ranked |= {member: f"{number:0{width}}" for member, number in zip(members, numbers, strict=True)}
    return ranked


def _numbers(draw: Draw, width: int, count: int, avoid: set[int], members: list[str]) -> list[int]:
    """`count` sorted numbers of `width` digits, none of `avoid` as long as others are left."""
    padded = any(split(member)[1].startswith("0") for member in members)
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
