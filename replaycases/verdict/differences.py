"""Path-level differences between two JSON values, bounded."""

from __future__ import annotations

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
    """Where two JSON values differ: at most MOST_DIFFERENCES, after looking at no more than MOST_PLACES places.

    1 equals 1.0 and true is not 1. ABSENT stands for a side that has nothing there.
    """
    found: list[Difference] = []
    stack: list[tuple[str, Any, Any]] = [(base, expected, actual)]
    places = 0
    while stack:
        places += 1
        if places > MOST_PLACES or len(found) > MOST_DIFFERENCES:
            return Differences(found=tuple(found[:MOST_DIFFERENCES]), cut=True)
        pointer, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            keys = [*left, *(key for key in right if key not in left)]
            stack.extend((join(pointer, k), left.get(k, ABSENT), right.get(k, ABSENT)) for k in reversed(keys))
        elif isinstance(left, list) and isinstance(right, list):
            longest = max(len(left), len(right))
            stack.extend((f"{pointer}/{i}", _item(left, i), _item(right, i)) for i in range(longest - 1, -1, -1))
        elif not _same(left, right):
            found.append(_difference(pointer, left, right))
    return Differences(found=tuple(found), cut=False)


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else ABSENT


def _same(left: Any, right: Any) -> bool:
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def _difference(pointer: str, left: Any, right: Any) -> Difference:
    if left is ABSENT:
        return Difference(pointer=pointer, actual=right, only="actual")
    if right is ABSENT:
        return Difference(pointer=pointer, expected=left, only="expected")
    return Difference(pointer=pointer, expected=left, actual=right)
