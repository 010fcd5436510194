"""Path-level differences between two JSON values.

1 equals 1.0 and true is not 1: two values differ nowhere exactly when their canonical forms are the same. ABSENT stands
for a side that has nothing at a place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.pointer import ABSENT, join
from replaycases.verdict.observation import Difference

MOST_DIFFERENCES = 200
MOST_PLACES = 100_000


@dataclass(frozen=True, kw_only=True)
class Differences:
    """`found` in document order. `cut` says that the values were too large to be compared to the end: what is not
    listed is then not known to be equal."""

    found: tuple[Difference, ...]
    cut: bool


def differences(expected: Any, actual: Any, *, base: str = "") -> Differences:
    """Where two JSON values differ: at most MOST_DIFFERENCES, after looking at no more than MOST_PLACES places."""
    found: list[Difference] = []
    for place, (pointer, left, right) in enumerate(_leaf_pairs(expected, actual, base)):
        if place == MOST_PLACES:
            return Differences(found=tuple(found), cut=True)
        if not _same_leaf(left, right):
            if len(found) == MOST_DIFFERENCES:
                return Differences(found=tuple(found), cut=True)
            found.append(difference(pointer, left, right))
    return Differences(found=tuple(found), cut=False)


def each_difference(expected: Any, actual: Any, base: str = "") -> Iterator[Difference]:
    """Every place where two JSON values differ, in document order, however many there are."""
    for pointer, left, right in _leaf_pairs(expected, actual, base):
        if not _same_leaf(left, right):
            yield difference(pointer, left, right)


def difference(pointer: str, expected: Any, actual: Any) -> Difference:
    """One difference; an ABSENT side is written as `only` the other one."""
    if expected is ABSENT:
        return Difference(pointer=pointer, actual=actual, only="actual")
    if actual is ABSENT:
        return Difference(pointer=pointer, expected=expected, only="expected")
    return Difference(pointer=pointer, expected=expected, actual=actual)


def _leaf_pairs(expected: Any, actual: Any, base: str) -> Iterator[tuple[str, Any, Any]]:
    """(pointer, left, right) as deep as both sides are objects or both are arrays, equal or not."""
    stack: list[tuple[str, Any, Any]] = [(base, expected, actual)]
    while stack:
        pointer, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            keys = [*left, *(key for key in right if key not in left)]
            stack.extend((join(pointer, k), left.get(k, ABSENT), right.get(k, ABSENT)) for k in reversed(keys))
        elif isinstance(left, list) and isinstance(right, list):
            longest = max(len(left), len(right))
            stack.extend((f"{pointer}/{i}", _item(left, i), _item(right, i)) for i in range(longest - 1, -1, -1))
        else:
            yield pointer, left, right


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else ABSENT


def _same_leaf(left: Any, right: Any) -> bool:
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)
