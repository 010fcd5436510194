"""How far a model request moved from the recorded one, for the request layouts of `fixture.model_request`.

System text and tool catalogue compare exactly, the catalogue with its order. Every other member of the request, such as
a temperature, compares exactly too, and so does a request of any other layout.

Other messages are measured leaf by leaf. The delta of a text is its word-level edit distance over the longer side's
word count (a word carries the white space before it, so no change measures 0); of any other leaf 0 or 1. What an
assistant message repeats of a tool call compares exactly: there one word can be an amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from rapidfuzz.distance import Levenshtein

from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.model_request import CATALOGUE_KEYS, MESSAGE_KEYS, SYSTEM_KEYS, is_system_message
from replaycases.fixture.pointer import ABSENT, join
from replaycases.replay.values import same
from replaycases.verdict.differences import difference, each_difference
from replaycases.verdict.observation import Difference

CALL_KEYS = ("tool_calls", "function_call", "functionCall")
CALL_TYPES = ("tool_use", "server_tool_use", "function_call", "custom_tool_call")
MEASURED_WORDS = 20_000
"""Texts whose differing middle is longer than this on both sides count as wholly different: measuring them would cost
seconds."""

_WORD = re.compile(r"\s*\S+|\s+")


@dataclass(slots=True)
class PromptDelta:
    """What moved, by the weight that matching gives it.

    `system` (system text) and `catalogue` make a run stale. `request` is what differs elsewhere in the request.
    `structure` holds messages added, removed or reordered; `over` the leaves above the tolerance. `largest` is the
    largest delta of a leaf, 1.0 with a change of structure, and counts what is within the tolerance too.
    """

    system: list[Difference] = field(default_factory=list)
    catalogue: list[Difference] = field(default_factory=list)
    request: list[Difference] = field(default_factory=list)
    structure: list[Difference] = field(default_factory=list)
    over: list[Difference] = field(default_factory=list)
    largest: float = 0.0

    @property
    def allowed(self) -> bool:
        return not (self.system or self.catalogue or self.request or self.structure or self.over)

    @property
    def differences(self) -> tuple[Difference, ...]:
        return (*self.system, *self.catalogue, *self.request, *self.structure, *self.over)


@dataclass(frozen=True, slots=True)
class _Message:
    pointer: str
    body: Any
    key: bytes


def measure(expected: Any, actual: Any, tolerance: float) -> PromptDelta:
    """Compare a received request with the recorded one; `tolerance` is the largest delta of a leaf that is let pass."""
    delta = PromptDelta()
    if not (isinstance(expected, dict) and isinstance(actual, dict)):
        delta.request.extend(each_difference(expected, actual))
        return delta
    for key in dict.fromkeys((*expected, *actual)):
        left, right = expected.get(key, ABSENT), actual.get(key, ABSENT)
        if same(left, right):
            continue
        if key in MESSAGE_KEYS and _is_messages(left) and _is_messages(right):
            _measure_messages(delta, key, left, right, tolerance)
        else:
            _exact_part(delta, key).extend(each_difference(left, right, join("", key)))
    return delta


def word_delta(expected: str, actual: str) -> float:
    """Word-level edit distance over the longer text's word count: 0.0 (the same text) to 1.0."""
    if expected == actual:
        return 0.0
    left, right = _WORD.findall(expected), _WORD.findall(actual)
    start, end = _common_ends(left, right)
    left_middle, right_middle = left[start : len(left) - end], right[start : len(right) - end]
    if min(len(left_middle), len(right_middle)) > MEASURED_WORDS:
        return 1.0
    return float(Levenshtein.distance(left_middle, right_middle) / max(len(left), len(right)))


def _common_ends(left: Sequence[object], right: Sequence[object]) -> tuple[int, int]:
    """How many items both sides share at the start and, of the rest, at the end."""
    shortest = min(len(left), len(right))
    start = next((i for i in range(shortest) if left[i] != right[i]), shortest)
    end = next((i for i in range(shortest - start) if left[-1 - i] != right[-1 - i]), shortest - start)
    return start, end


def _is_messages(value: Any) -> bool:
    return value is ABSENT or isinstance(value, str | list)


def _exact_part(delta: PromptDelta, key: str) -> list[Difference]:
    if key in SYSTEM_KEYS:
        return delta.system
    return delta.catalogue if key in CATALOGUE_KEYS else delta.request


def _measure_messages(delta: PromptDelta, key: str, expected: Any, actual: Any, tolerance: float) -> None:
    left, right = _messages(key, expected), _messages(key, actual)
    old_system, new_system = (
        [message for message in side if is_system_message(message.body)] for side in (left, right)
    )
    for old, new in zip_longest(old_system, new_system):
        if old is None or new is None or old.key != new.key:
            delta.system.extend(_between(old, new))
    if delta.system:
        return
    moved = _structure(left, right)
    delta.structure.extend(moved)
    if moved:
        delta.largest = 1.0
        return
    for old, new in zip(left, right, strict=True):
        if old.key != new.key:
            _measure_leaves(delta, old.body, new.body, old.pointer, tolerance)


def _messages(key: str, value: Any) -> list[_Message]:
    if value is ABSENT:
        return []
    if isinstance(value, str):
        return [_Message(join("", key), value, canonical_bytes(value))]
    return [_Message(join("", key, index), body, canonical_bytes(body)) for index, body in enumerate(value)]


def _between(old: _Message | None, new: _Message | None) -> Iterator[Difference]:
    if old is not None and new is not None:
        return each_difference(old.body, new.body, old.pointer)
    return iter([_lone(old, new)])


def _lone(old: _Message | None, new: _Message | None) -> Difference:
    if old is None:
        assert new is not None
        return difference(new.pointer, ABSENT, new.body)
    return difference(old.pointer, old.body, ABSENT)


def _structure(left: list[_Message], right: list[_Message]) -> list[Difference]:
    """Messages added, removed or reordered; empty where each message stands for the one at its index."""
    if len(left) != len(right):
        return list(_unaligned(left, right))
    displaced = [(old, new) for old, new in zip(left, right, strict=True) if old.key != new.key]
    elsewhere = {old.key for old, _ in displaced}
    if not any(new.key in elsewhere for _, new in displaced):
        return []
    return [difference(old.pointer, old.body, new.body) for old, new in displaced]


def _unaligned(left: list[_Message], right: list[_Message]) -> Iterator[Difference]:
    """What one side has between the messages that both have at the start and at the end."""
    old_keys, new_keys = [m.key for m in left], [m.key for m in right]
    start, end = _common_ends(old_keys, new_keys)
    yield from (_lone(old, None) for old in left[start : len(left) - end])
    yield from (_lone(None, new) for new in right[start : len(right) - end])


def _measure_leaves(delta: PromptDelta, old: Any, new: Any, pointer: str, tolerance: float) -> None:
    for found in _leaf_deltas(old, new, pointer, exact=False):
        delta.largest = max(delta.largest, found.size)
        if found.size > tolerance:
            delta.over.append(found.difference)


@dataclass(frozen=True, slots=True)
class _LeafDelta:
    difference: Difference
    size: float


def _leaf_deltas(old: Any, new: Any, pointer: str, *, exact: bool) -> Iterator[_LeafDelta]:
    if isinstance(old, dict) and isinstance(new, dict):
        inside_call = exact or old.get("type") in CALL_TYPES
        for key in dict.fromkeys((*old, *new)):
            member = old.get(key, ABSENT), new.get(key, ABSENT)
            yield from _leaf_deltas(*member, join(pointer, key), exact=inside_call or key in CALL_KEYS)
    elif isinstance(old, list) and isinstance(new, list):
        for index, (left, right) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from _leaf_deltas(left, right, join(pointer, index), exact=exact)
    elif not same(old, new):
        measurable = not exact and isinstance(old, str) and isinstance(new, str)
        yield _LeafDelta(difference(pointer, old, new), word_delta(old, new) if measurable else 1.0)
