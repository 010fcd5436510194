"""Replacements found in any view of a string, written back into the string itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from replaycases.redaction.views.view import View


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """The span `start` to `end` (not empty) of a view's text becomes `replacement`; `of` are whoever asked for it."""

    start: int
    end: int
    replacement: str
    of: tuple[int, ...] = ()


def edited(root: View, edits: Iterable[tuple[View, Edit]]) -> str:
    """The raw text of `root` with every edit in place, whatever view it was found in."""
    return applied(root.text, settled(root, edits))


def settled(root: View, edits: Iterable[tuple[View, Edit]]) -> list[Edit]:
    """The edits of the raw text that all these come to, apart and in order, whatever view each was found in.

    Of edits that overlap the longest one wins and grows over what it overlaps: no part of a value that was to be
    replaced stays. The order in which edits are given does not matter.
    """
    by_view: dict[View, list[Edit]] = defaultdict(list)
    for view, edit in edits:
        by_view[view].append(edit)
        while view.parent is not None and view.parent not in by_view:
            view = view.parent
            by_view[view] = []
    return _settled(root, by_view)


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
        replacement = child.encode(applied(child.text, edits), source[child.start : child.end])
        yield Edit(start=child.start, end=child.end, replacement=replacement, of=_all_of(edits))
        return
    for edit in edits:
        start, end = child.in_parent(edit.start, edit.end)
        yield Edit(start=start, end=end, replacement=child.encode(edit.replacement, source[start:end]), of=edit.of)


def _apart(edits: list[Edit]) -> list[Edit]:
    """Groups of edits that overlap, each as its longest one grown over the group."""
    apart: list[Edit] = []
    group: list[Edit] = []
    reach = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if group and edit.start >= reach:
            apart.append(_longest(group, reach))
            group = []
        group.append(edit)
        reach = max(reach if len(group) > 1 else 0, edit.end)
    if group:
        apart.append(_longest(group, reach))
    return apart


def _longest(group: list[Edit], reach: int) -> Edit:
    if len(group) == 1:
        return group[0]
    chosen = max(group, key=lambda edit: (edit.end - edit.start, -edit.start, edit.replacement))
    return Edit(start=group[0].start, end=reach, replacement=chosen.replacement, of=_all_of(group))


def _all_of(edits: Iterable[Edit]) -> tuple[int, ...]:
    return tuple(sorted({one for edit in edits for one in edit.of}))


def applied(text: str, edits: Sequence[Edit]) -> str:
    """`text` with edits that are apart and in order."""
    pieces: list[str] = []
    read = 0
    for edit in edits:
        pieces += (text[read : edit.start], edit.replacement)
        read = edit.end
    pieces.append(text[read:])
    return "".join(pieces)
