"""What a reviewer reads of a redaction: both documents, line by line, and where in them what was found stands."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from replaycases.cases import evidence, redaction_scans
from replaycases.cases.models import Case, FixtureRevision, Redaction
from replaycases.cases.policies import InvalidTransition
from replaycases.redaction.record import Record
from replaycases.web.redactions import lines, spans
from replaycases.web.redactions.lines import Lines
from replaycases.web.redactions.spans import Spans
from replaycases.web.scope import user_of

OUTRUN = "Somebody redacted the case in the meantime, or looked at it again. Open the review again."


@dataclass(frozen=True, kw_only=True)
class Sides:
    """A revision and the raw one that it was made of, None where it was made by hand or where that one is destroyed,
    which `gone` says then."""

    revision: FixtureRevision
    raw: FixtureRevision | None
    gone: str = ""

    @property
    def both(self) -> Sequence[FixtureRevision]:
        return (self.revision, self.raw) if self.raw is not None else (self.revision,)


@dataclass(frozen=True, kw_only=True)
class Read:
    """It is open to the reader. `lost` says why there is no record of what was found, "" if there is one."""

    sides: Sides
    document: Any = field(repr=False)
    record: Record = field(repr=False)
    lines: Lines = field(repr=False)
    spans: Spans = field(repr=False)
    lost: str = ""


def current(case: Case) -> FixtureRevision:
    revisions = FixtureRevision.objects.select_related("case__project", "payload", "detect", "created_by")
    return revisions.filter(case=case).order_by("-number")[0]


def sides_of(revision: FixtureRevision) -> Sides:
    """The raw side stays known when somebody looked at the redacted revision again."""
    made = Redaction.objects.filter(revision=revision, source__isnull=False).exclude(source=revision)
    newest = made.select_related("source__case__project", "source__payload", "source__detect").first()
    raw = newest.source if newest is not None else None
    if raw is not None and evidence.is_gone(raw.payload):
        return Sides(revision=revision, raw=None, gone="The raw revision that it was made of is destroyed.")
    return Sides(revision=revision, raw=raw)


def read(sides: Sides, redaction: Redaction | None) -> Read:
    """Raises EvidenceDestroyed, EvidenceDamaged."""
    with _uncollected():
        record, lost = _record(redaction)
        placed = spans.of(record, _key(redaction, record))
        document = _document(sides.revision)
        renamed = placed.renamed()
        if sides.raw is None:
            found = lines.of_one(document, renamed.shown)
        else:
            found = lines.side_by_side(_document(sides.raw), document, renamed)
        placed = replace(placed, pieces=spans.pieces(record, found, redaction.spans if redaction is not None else 0))
    return Read(sides=sides, document=document, record=record, lines=found, spans=placed, lost=lost)


def redaction_or_404(request: HttpRequest, case: Case, pk: UUID) -> Redaction:
    rows = Redaction.objects.visible_to(user_of(request)).select_related("revision__case__project", "source")
    return get_object_or_404(rows, revision__case=case, pk=pk)


def require_newest(redaction: Redaction, newest: Redaction | None, case: Case) -> None:
    """Raise InvalidTransition where what was pointed at is not what counts now."""
    if newest is None or newest.pk != redaction.pk or redaction.revision_id != case.current_revision_id:
        raise InvalidTransition(OUTRUN)


def _record(redaction: Redaction | None) -> tuple[Record, str]:
    if redaction is None:
        return Record(), ""
    try:
        return redaction_scans.record_of(redaction), ""
    except evidence.EvidenceDestroyed:
        return Record(), "What was found is destroyed with the raw evidence: no place is marked here any more."


def _key(redaction: Redaction | None, record: Record) -> bytes:
    """Of the findings that stand beside what was replaced; b"" where there is none, or where it is destroyed."""
    if redaction is None or not record.open or not record.changes:
        return b""
    try:
        return redaction_scans.opened(redaction.mapping).key
    except evidence.EvidenceDestroyed:
        return b""


def _document(revision: FixtureRevision) -> Any:
    """It was parsed strictly when it came in."""
    return json.loads(evidence.read(revision.payload))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Of a long case hundreds of thousands of objects are made at once and none of them is garbage: without looking for
    some among them it takes half the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
