"""The first divergence: where a run left the recording, or, if neither did, where new parts from old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.verdict.alignment import Row, align, outcome_differences
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.observation import Difference, Divergence, DivergenceKind

_KINDS: Mapping[str, DivergenceKind] = {
    "tool": "arguments",
    "model": "prompt_delta",
    "retrieval": "retrieval",
    "human": "human",
}


def from_manifest(document: Mapping[str, Any] | None) -> Divergence | None:
    """A manifest's `first_divergence` as the object it was written from."""
    if document is None:
        return None
    found = tuple(Difference(**difference) for difference in document["differences"])
    return Divergence(**{**document, "differences": found})


def first_divergence(fixture: Fixture, old: Manifest, new: Manifest) -> Divergence | None:
    """New's own divergence from the recording, else old's, else where new parts from old: first in the calls, then in
    what they reported. None if nothing tells them apart."""
    for run in (new, old):
        own = from_manifest(run["first_divergence"])
        if own is not None:
            return own
    return between(fixture, old, new)


def between(fixture: Fixture, old: Manifest, new: Manifest) -> Divergence | None:
    """Where two runs part, with old as expected and new as actual."""
    rows = align(fixture, old, new)
    for place, row in enumerate(rows):
        if not row.same:
            return _of_calls(rows[place:], old["calls"], new["calls"])
    found = outcome_differences(old, new)
    if not found:
        return None
    return Divergence(
        kind="finish",
        boundary="finish",
        pointer=found[0].pointer,
        expected=found[0].expected,
        actual=found[0].actual,
        differences=found,
        message=f"the calls are the same; the reported outcome differs at {found[0].pointer}",
        remedy="Compare the two reported outcomes.",
    )


def _of_calls(rows: Sequence[Row], old: Sequence[Any], new: Sequence[Any]) -> Divergence:
    """The first row that differs. Old's next and new's next call are named also where they were matched to different
    events: old went on with the one, new with the other."""
    left = next((row.old for row in rows if row.old is not None), None)
    right = next((row.new for row in rows if row.new is not None), None)
    row = rows[0]
    index = row.new if row.new is not None else right
    mine = old[left]["params"] if left is not None else None
    theirs = new[right]["params"] if right is not None else None
    first = row.differences[0] if row.differences else None
    kind = _kind(row, mine, theirs)
    return Divergence(
        kind=kind,
        boundary=row.boundary,
        seq=row.seq,
        call=index,
        pointer=first.pointer if first is not None else "",
        expected=first.expected if first is not None else mine,
        actual=first.actual if first is not None else theirs,
        differences=row.differences,
        message=_message(row, kind),
        remedy="Review whether the other path is meant.",
    )


def _kind(row: Row, mine: Any, theirs: Any) -> DivergenceKind:
    if mine is None:
        return "extra_call"
    if theirs is None:
        return "unconsumed"
    if mine.get("tool") != theirs.get("tool"):
        return "unexpected_tool"
    return _KINDS[row.boundary]


def _message(row: Row, kind: DivergenceKind) -> str:
    if row.cut and not row.differences:
        return f"the {row.boundary} calls are too large to be compared to the end"
    if kind == "extra_call":
        return "new goes on where old stopped"
    if kind == "unconsumed":
        return "new stops where old went on"
    if row.old is None or row.new is None:
        return "old and new went on with different calls"
    return f"the {row.boundary} calls differ"
