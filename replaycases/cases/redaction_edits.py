"""A redaction that somebody edited by hand, held against the relations of the raw revision behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from replaycases.accounts.models import Project
from replaycases.cases import decisions, evidence, redaction_descent, redaction_scans
from replaycases.cases.models import Case, DecisionKind
from replaycases.cases.redaction_descent import NOT_COMPARED
from replaycases.cases.redaction_scans import Look
from replaycases.fixture.canonical import digests_with_and_without
from replaycases.fixture.strict_json import parse
from replaycases.redaction.edited import relations
from replaycases.redaction.places import Place
from replaycases.redaction.record import Open


def look_at(project: Project, case: Case | None, fixture: bytes, detect: bytes | None, *, again: bool = False) -> Look:
    """As `redaction_scans.look_at`, with the relations of the redaction that it was edited from. `again` where the
    document is the current revision and not one that comes after it."""
    look = redaction_scans.look_at(project, case, fixture, detect)
    if case is None or case.current_revision is None:
        return look
    return with_relations(look, case=case, number=case.current_revision.number, document=parse(fixture), itself=again)


def with_relations(look: Look, *, case: Case, number: int, document: Any, itself: bool = False) -> Look:
    """The look at a document that is revision `number`, where `itself`, or was made of that, with the relations of the
    redaction behind it: none where nothing was redacted on the way to it."""
    made = redaction_descent.Descents(redaction_descent.looks_at([case.pk])).redaction_of(number, itself=itself)
    if made is None or made.source is None:
        return look
    if any(evidence.is_gone(payload) for payload in (made.record, made.revision.payload, made.source.payload)):
        _, content_hash = digests_with_and_without(document, "expected")
        return look if made.revision.content_hash == content_hash else _not_compared(look, case, content_hash)
    raw, redacted = (parse(evidence.read(payload)) for payload in (made.source.payload, made.revision.payload))
    changes = redaction_scans.record_of(made).changes
    found = relations(changes, raw=raw, redacted=redacted, edited=document)
    return replace(look, record=look.record.with_relations(*found))


def _not_compared(look: Look, case: Case, content_hash: str) -> Look:
    """With that open, but where this content is approved: it was compared then. If it was not, and two people let it
    stand, it is open under the name by which they did."""
    place = Place(pointer="", start=0, end=0)
    told = Open(kind="blind", detector=NOT_COMPARED, certainty="certain", place=place, length=0, fits="")
    waived = {}
    given = decisions.standing(case).get(DecisionKind.REDACTION)
    if given is not None and given.redaction is not None and given.content_hash == content_hash:
        names = [one["finding"] for one in given.redaction.open if one["detector"] == NOT_COMPARED]
        if not names:
            return look
        waived = {redaction_scans.finding_of(look.case_key.key, told): name for name in names}
    record = look.record.with_open([told, *look.record.open])  # First: of too many, the last are told together.
    return replace(look, record=record, waived={**look.waived, **waived})
