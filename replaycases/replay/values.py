"""Comparing and editing JSON values. Equality is that of `fixture.canonical`: two values are the same exactly when
their canonical bytes are, so 1 is 1.0, true is not 1, keys have no order, arrays do, strings are compared as they are.
"""

from __future__ import annotations

from typing import Any

from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.pointer import ABSENT, split


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


def replaced(document: Any, pointer: str, value: Any) -> Any:
    """`document` with `value` at `pointer`; only the path to it is copied. ABSENT removes a member or a last item.

    Where the parent of `pointer` does not exist, or an item would leave a hole, the document stays as it is.
    """
    return _put(document, split(pointer), 0, value)


def _put(node: Any, tokens: list[str], depth: int, value: Any) -> Any:
    if depth == len(tokens):
        return value
    if isinstance(node, dict):
        return _put_member(node, tokens, depth, value)
    if isinstance(node, list) and tokens[depth].isdecimal():
        return _put_item(node, tokens, depth, value)
    return node


def _put_member(node: dict[str, Any], tokens: list[str], depth: int, value: Any) -> dict[str, Any]:
    child = _put(node.get(tokens[depth], ABSENT), tokens, depth + 1, value)
    copy = dict(node)
    if child is ABSENT:
        copy.pop(tokens[depth], None)
    else:
        copy[tokens[depth]] = child
    return copy


def _put_item(node: list[Any], tokens: list[str], depth: int, value: Any) -> list[Any]:
    index = int(tokens[depth])
    if index > len(node):
        return node
    child = _put(node[index] if index < len(node) else ABSENT, tokens, depth + 1, value)
    if child is not ABSENT:
        return [*node[:index], child, *node[index + 1 :]]
    return node[:index] if index == len(node) - 1 else node
