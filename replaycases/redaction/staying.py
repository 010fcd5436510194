"""What was found and stays in the document: it has to do with what is replaced, as much as that with each other."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from replaycases.redaction.detectors.fields import BYTE_EXACT
from replaycases.redaction.first_look import FirstLook, is_own
from replaycases.redaction.overlaps import Value, grounds, on_ground
from replaycases.redaction.places import Kind
from replaycases.redaction.policy import Policy
from replaycases.redaction.scan import Detectors, Found, Scan, is_within, scan
from replaycases.redaction.views.view import View

NAMING: frozenset[Kind] = frozenset({"person", "email", "username", "id"})
"""Kinds whose values may hold the same words."""


def staying(first: FirstLook, policy: Policy, kinds: Iterable[Kind]) -> list[Found]:
    """The hits that the policy, a person or a finding that is still open leaves as they stand, of the `kinds` that are
    replaced and of those that may share words with them.

    What is no value by its form (masked, too short, a word) is none of them, nor is what the frame is made of.
    """
    wanted = set(kinds)
    if wanted & NAMING:
        wanted |= NAMING
    if not wanted:
        return []
    left = [
        *(one for one in first.scan.kept if not one.hit.kept),
        *_in_kept_fields(first, policy),
        *first.by_hand,
        *(one for one in first.standing if not is_own(one, first.frame)),
    ]
    taken = _Taken(first.values)
    return [one for one in left if one.hit.kind in wanted and not taken.meets(one)]


def _in_kept_fields(first: FirstLook, policy: Policy) -> Iterator[Found]:
    """What would have been found in the fields that the policy keeps."""
    whole = [one for one in first.scan.kept if one.hit.kind == "text" and one.hit.kept not in ("", BYTE_EXACT)]
    if not whole:
        return
    views = {one.view for one in whole}
    leaves = {one.leaf.address for one in whole}
    policy = replace(policy, fields=tuple(rule for rule in policy.fields if rule.kind != "keep"))
    read = (source for source in first.read if source.leaf.address in leaves)
    found: Scan = scan(read, Detectors(policy), policy)
    for one in (*found.found, *found.kept):
        if not one.hit.kept and is_within(one.view, views):
            yield one


class _Taken:
    """The characters that are replaced, in the text that they were found in and in those further out."""

    def __init__(self, values: Sequence[Value]) -> None:
        spans: dict[View, list[tuple[int, int]]] = defaultdict(list)
        blocks: dict[View, set[tuple[int, int]]] = defaultdict(set)
        for value in values:
            (ground, *_), *outer = grounds(value.found.view, value.found.hit.start, value.found.hit.end)
            places = [on_ground(one.view, one.hit.start, one.hit.end)[1:] for one in (value.found, *value.covered)]
            spans[ground].append((min(start for start, _ in places), max(end for _, end in places)))
            for view, start, end in outer:
                blocks[view].add((start, end))
        self._spans = {view: sorted(rows) for view, rows in spans.items()}
        self._blocks = {view: sorted(rows) for view, rows in blocks.items()}

    def meets(self, one: Found) -> bool:
        """Whether characters of the hit are replaced. That others of its block are takes nothing from it."""
        (ground, start, end), *outer = grounds(one.view, one.hit.start, one.hit.end)
        return _meet(self._blocks.get(ground, ()), start, end) or any(
            _meet(self._spans.get(view, ()), first, last) for view, first, last in ((ground, start, end), *outer)
        )


def _meet(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """`spans` are sorted and lie apart."""
    at = bisect_left(spans, (end, 0))
    return at > 0 and start < spans[at - 1][1]
