"""Comparing JSON values. Equality is that of `fixture.canonical`: two values are the same exactly when their canonical
bytes are, so 1 is 1.0, true is not 1, keys have no order, arrays do, strings are compared as they are.
"""

from __future__ import annotations

from typing import Any

from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.pointer import ABSENT


def same(left: Any, right: Any) -> bool:
    """Whether two valid JSON values are equal. ABSENT is equal only to itself."""
    if left is ABSENT or right is ABSENT:
        return left is right
    return canonical_bytes(left) == canonical_bytes(right)


def leaf_count(value: Any) -> int:
    """How many leaves `value` has: scalars, empty objects and empty arrays. ABSENT has none."""
    if isinstance(value, dict) and value:
        return sum(map(leaf_count, value.values()))
    if isinstance(value, list) and value:
        return sum(map(leaf_count, value))
    return 0 if value is ABSENT else 1
