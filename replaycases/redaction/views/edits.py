"""Replacements found in any view of a string, written back into the string itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from replaycases.redaction.views.view import View


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """The span `start` to `end` (not empty) of a view's text becomes `replacement`."""

    start: int
    end: int
    replacement: str


def edited(root: View, edits: Iterable[tuple[View, Edit]]) -> str:
    """The raw text of `root` with every edit in place, whatever view it was found in.

    Of edits that overlap the longest one wins and grows over what it overlaps: no part of a value that was to be
    replaced stays. The order in which edits are given does not matter.
    """
    by_view: dict[View, list[Edit]] = defaultdict(list)
    for view, edit in edits:
        by_view[view].append(edit)
        while view.parent is not None and view.parent not in by_view:
            view = view.parent
            by_view[view] = []
    return _apply(root.text, _settled(root, by_view))


def _settled(view: View, by_view: Mapping[View, list[Edit]]) -> list[Edit]:
    """The edits of the view's text that stand for its own and for those of the views below, apart and in order."""
    if view not in by_view:
        return []
    edits = list(by_view[view])
    for child in view.children:
        edits += _in_parent(child, _settled(child, by_view))
    return _apart(edits)


def _in_parent(child: View, edits: list[Edit]) -> Iterable[Edit]:
    assert child.parent is not None
    assert child.encode is not None
    source = child.parent.text
    if not edits:
        return
    if child.units is None:
        replacement = child.encode(_apply(child.text, edits), source[child.start : child.end])
        yield Edit(start=child.start, end=child.end, replacement=replacement)
        return
    for edit in edits:
        start, end = child.in_parent(edit.start, edit.end)
        yield Edit(start=start, end=end, replacement=child.encode(edit.replacement, source[start:end]))


def _apart(edits: list[Edit]) -> list[Edit]:
    """Groups of edits that overlap, each as its longest one grown over the group."""
    settled: list[Edit] = []
    group: list[Edit] = []
    reach = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if group and edit.start >= reach:
            settled.append(_longest(group, reach))
            group = []
        group.append(edit)
        reach = max(reach if len(group) > 1 else 0, edit.end)
    if group:
        settled.append(_longest(group, reach))
    return settled


def _longest(group: list[Edit], reach: int) -> Edit:
    chosen = max(group, key=lambda edit: (edit.end - edit.start, -edit.start, edit.replacement))
    return Edit(start=group[0].start, end=reach, replacement=chosen.replacement)


def _apply(text: str, edits: list[Edit]) -> str:
    pieces: list[str] = []
    read = 0
    for edit in edits:
        pieces += (text[read : edit.start], edit.replacement)
        read = edit.end
    pieces.append(text[read:])
    return "".join(pieces)
