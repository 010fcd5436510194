"""Where a redacted document differs from its source: spans of both, side by side, and no text of either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from replaycases.redaction.leaves import Address
from replaycases.redaction.overlaps import RANK, Value
from replaycases.redaction.places import Certainty, Kind
from replaycases.redaction.views.edits import Edit

FOLLOWS = "digest"
"""The detector of a seam where no value was found, and a digest follows the text that it is of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seam:
    """One replaced span: `start` to `end` of the source leaf's raw text became `new_start` to `new_end` of the redacted
    leaf's. Kind, detector, certainty and decode path are those of the value there, of the most telling one where a
    block holds several."""

    start: int
    end: int
    new_start: int
    new_end: int
    kind: Kind
    detector: str
    certainty: Certainty
    path: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One leaf that changed: its `pointer` in the redacted document and `source` in the source document, of the member
    whose name it is with `in_key`. A member that a person left out has no `pointer` and no seams."""

    pointer: str | None
    source: str
    in_key: bool = False
    seams: tuple[Seam, ...] = ()


def seams(edits: Sequence[Edit], values: Sequence[Value]) -> tuple[Seam, ...]:
    """The seams of one leaf, in order."""
    return tuple(_seams(edits, values))


def _seams(edits: Sequence[Edit], values: Sequence[Value]) -> Iterator[Seam]:
    shift = 0
    for edit in edits:
        found = min((values[index].found for index in edit.of), key=lambda one: RANK[one.hit.kind], default=None)
        end = edit.start + shift + len(edit.replacement)
        yield Seam(
            start=edit.start,
            end=edit.end,
            new_start=edit.start + shift,
            new_end=end,
            kind=found.hit.kind if found else "opaque_id",
            detector=found.hit.detector if found else FOLLOWS,
            certainty=found.hit.certainty if found else "certain",
            path=found.view.path if found else (),
        )
        shift = end - edit.end


def in_order(changes: Sequence[Change], dropped: Sequence[str], order: Mapping[Address, int]) -> tuple[Change, ...]:
    """The changes and the members that were left out, in the order of the source document."""
    gone = [Change(pointer=None, source=pointer) for pointer in dropped]
    if not gone:
        return tuple(changes)
    return tuple(
        sorted((*changes, *gone), key=lambda change: order[change.source, change.in_key or change.pointer is None])
    )
