"""A completeness report as lines for people and as JSON for machines. Neither quotes a value of the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from replaycases.importers.completeness import Coverage, Report
from replaycases.importers.findings import Gap
from replaycases.importers.neutral import Note

_WORDS = {"replay": "can be replayed", "prefix": "can be replayed in part", "forensic": "can only be read"}


def lines(report: Report) -> Iterator[str]:
    """How far it can be replayed, each boundary, each note with its place, each gap with what it costs."""
    yield f"{report.format}: {_WORDS[report.mode]}: {report.why}"
    yield from map(_boundary, report.coverage)
    yield from map(_note, report.notes)
    yield from map(_gap, (*report.gaps, *report.record))


def as_json(report: Report) -> dict[str, Any]:
    return {
        "format": report.format,
        "mode": report.mode,
        "replayable": report.replayable,
        "why": report.why,
        "coverage": [asdict(one) for one in report.coverage],
        "notes": [asdict(note) for note in report.notes],
        "gaps": [asdict(gap) for gap in report.gaps],
        "record": [{"name": gap.name, "cost": gap.cost} for gap in report.record],
    }


def _boundary(one: Coverage) -> str:
    counted = [f"{one.recorded} whole"] if one.recorded else []
    counted += [f"{one.lacking} lacking a part"] if one.lacking else []
    counted += ["costs nothing"] if one.state == "absent" and not one.cost else []
    said = f"{one.boundary}: {one.state}" + (f" ({', '.join(counted)})" if counted else "")
    return f"{said}: {one.cost}" if one.cost else said


def _note(note: Note) -> str:
    place = f" at {note.source}" if note.source else ""
    cost = f": {note.cost}" if note.cost else ""
    return f"note: {note.kind.replace('_', ' ')}{place}: {note.text}{cost}"


def _gap(gap: Gap) -> str:
    word = "declared" if gap.declared else "missing" if gap.caps else "note"
    return f"{word}: {gap.name}: {gap.cost}"
