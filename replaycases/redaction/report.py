"""What is said of a redaction: places, kinds and counts, and never a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import Any

from replaycases.fixture.pointer import join, split
from replaycases.redaction.places import Finding, Place
from replaycases.redaction.redact import Redaction

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_-]{0,40}|[A-Za-z_][A-Za-z0-9_-]{0,15}|[0-9]{1,9}")
HIDDEN = "…"
"""In place of a member's name that may be a value itself."""


def place_of(place: Place, *, named: Collection[str] = ()) -> str:
    """Where a finding stands. A name of a member that is no plain word, or that holds the finding, is not shown; nor is
    that of a member whose pointer is in `named`: it was found to be a value."""
    where = pointer_of(place.pointer, named=(*named, place.pointer) if place.in_key else named) or "/"
    through = "".join(f" > {re.split('[:@]', name)[0]}" for name in place.path)
    return f"{'the key ' if place.in_key else ''}{where}{through} [{place.start}:{place.end}]"


def pointer_of(pointer: str, *, named: Collection[str] = ()) -> str:
    """A pointer without names that may be values: those that are no plain words, and those of the pointers `named`."""
    shown, reached = [], ""
    for step in split(pointer):
        reached = join(reached, step)
        shown.append(step if _PLAIN_NAME.fullmatch(step) and reached not in named else HIDDEN)
    return join("", *shown)


def line_of(finding: Finding) -> str:
    """One line for a person or a log."""
    return f"{finding.kind} at {place_of(finding.place)}: {finding.detector}"


def row_of(finding: Finding) -> dict[str, Any]:
    """The same for a machine."""
    return {
        "kind": finding.kind,
        "detector": finding.detector,
        "certainty": finding.certainty,
        "place": place_of(finding.place),
        "length": len(finding.value),
    }


def as_json(redaction: Redaction) -> dict[str, Any]:
    """The report of a redaction."""
    return {
        "replaced": [row_of(one.finding) for one in redaction.replaced],
        "open": [row_of(finding) for finding in redaction.open],
        "kept": [{**row_of(finding), "why": why} for finding, why in redaction.kept],
        "relations_kept": len(redaction.facts) - len(redaction.lost),
        "relations_lost": [{"relation": fact.relation, "kind": fact.kind} for fact in redaction.lost],
    }


def counts(redaction: Redaction) -> str:
    """How many values of each kind were replaced, most first."""
    kinds = Counter(one.finding.kind for one in redaction.replaced)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "nothing"
