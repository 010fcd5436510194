"""The runs of a file that holds several, as lines from which one is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import RunHead, boundary_of
from replaycases.importers.registry import Recording

SHOWN = 20
_LONGEST = 100


def lines(recording: Recording) -> Iterator[str]:
    """What the file calls each run, when it began, and how many calls it made; past the first ones their number."""
    for head in recording.runs[:SHOWN]:
        yield f"run {head.index}: {', '.join([*_named(head), head.started_at or 'no time', _calls(recording, head)])}"
    rest = len(recording.runs) - SHOWN
    if rest > 0:
        yield f"and {rest} more, to run {len(recording.runs) - 1}"


def _named(head: RunHead) -> list[str]:
    """What the file calls it, where that is more than its number."""
    if head.label == f"run {head.index}":
        return []
    return [head.label if len(head.label) <= _LONGEST else f"{head.label[:_LONGEST]}…"]


def _calls(recording: Recording, head: RunHead) -> str:
    try:
        made = Counter(map(boundary_of, recording.read(head.index).steps))
    except ImportRefused as refusal:
        return f"cannot be read: {refusal.finding.message}"
    return ", ".join(f"{made[kind]} {kind} call{'' if made[kind] == 1 else 's'}" for kind in ("model", "tool"))
