"""Numbers in place of numbers, in the same order: ids that grow go on growing."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from replaycases.redaction.surrogates.draws import Draw
from replaycases.redaction.surrogates.ids import split


def by_rank(key: bytes, ids: Iterable[str], staying: Iterable[str] = (), *, attempt: int = 0) -> Mapping[str, str]:
    """For each id that ends in digits others in their place: as many, and in the order of the originals.

    Ids are compared within one start and width. No number is that of an original of the width, whatever its start.
    `staying` are ids that are not replaced: a number lies between the same two of them as that of its original, where
    there is room. Where so many ids share a width that few numbers are left, some keep theirs: the caller looks at what
    comes back.
    """
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    taken: dict[int, set[int]] = defaultdict(set)
    for text in sorted(set(ids)):
        start, digits = split(text)
        groups[start, len(digits)].append(text)
        taken[len(digits)].add(int(digits))
    fixed: dict[tuple[str, int], set[int]] = defaultdict(set)
    for text in staying:
        start, digits = split(text)
        if (start, len(digits)) in groups:
            fixed[start, len(digits)].add(int(digits))
    avoided = {width: sorted(numbers) for width, numbers in taken.items()}
    ranked: dict[str, str] = {}
    for (start, width), members in groups.items():
        draw = Draw(key, "rank", start, width, attempt, *members)
        numbers = _numbers(draw, width, members, avoided[width], sorted(fixed[start, width]))
        ranked |= {member: f"{number:0{width}}" for member, number in zip(members, numbers, strict=True)}
    return ranked


def _numbers(draw: Draw, width: int, members: list[str], avoid: Sequence[int], fixed: Sequence[int]) -> list[int]:
    """A sorted number of `width` digits for each member."""
    digits = [split(member)[1] for member in members]
    padded = any(one.startswith("0") for one in digits)
    low, high = 0 if padded or width == 1 else 10 ** (width - 1), 10**width
    if not fixed:
        return _drawn(draw, low, high, len(members), avoid)
    counts = [0] * (len(fixed) + 1)
    for one in digits:
        counts[bisect_left(fixed, int(one))] += 1
    ends = [low - 1, *fixed, high]
    numbers: list[int] = []
    for place, count in enumerate(counts):
        first, last = max(ends[place] + 1, low), ends[place + 1]
        if count > last - first:  # No room between those that stay: the order is lost, and told so.
            return _drawn(draw, low, high, len(members), avoid)
        numbers += _drawn(draw, first, last, count, avoid)
    return numbers


def _drawn(draw: Draw, low: int, high: int, count: int, every: Sequence[int]) -> list[int]:
    """`count` sorted numbers from `low` to below `high`, none of `every` as long as others are left."""
    avoid = set(every[bisect_left(every, low) : bisect_left(every, high)])
    space = high - low
    if space <= 4 * (count + len(avoid)):
        free = [number for number in range(low, high) if number not in avoid]
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
