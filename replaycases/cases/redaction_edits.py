"""A redaction that somebody edited by hand, held against the relations of the raw revision behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from replaycases.accounts.models import Project
from replaycases.cases import evidence, redaction_descent, redaction_scans
from replaycases.cases.models import Case, Redaction
from replaycases.cases.redaction_scans import Look
from replaycases.fixture.strict_json import parse
from replaycases.redaction.edited import relations
from replaycases.redaction.places import Place
from replaycases.redaction.record import Open, Record
from replaycases.redaction.residual import DIGITS, ORIGINAL

NOT_COMPARED = "blind:relations not compared"
"""What is open where the raw revision is destroyed: nobody can tell any more whether a relation was lost."""


def look_at(project: Project, case: Case | None, fixture: bytes, detect: bytes | None) -> Look:
    """As `redaction_scans.look_at`, with the relations of the redaction that it was edited from."""
    look = redaction_scans.look_at(project, case, fixture, detect)
    if case is None or case.current_revision is None or _is_raw(look):
        return look
    number = case.current_revision.number
    return replace(look, record=with_relations(look.record, case=case, number=number, document=parse(fixture)))


def with_relations(record: Record, *, case: Case, number: int, document: Any) -> Record:
    """The record of a document that is revision `number`, or was edited from it, with the relations of the redaction
    behind that: none where nothing was redacted on the way to it."""
    made = redaction_descent.Descents(redaction_descent.looks_at([case.pk])).redaction_of(number)
    if made is None or made.source is None:
        return record
    if any(evidence.is_gone(payload) for payload in (made.record, made.revision.payload, made.source.payload)):
        return record if _is_same(made, document) else _not_compared(record)
    raw, redacted = (parse(evidence.read(payload)) for payload in (made.source.payload, made.revision.payload))
    changes = redaction_scans.record_of(made).changes
    return record.with_relations(*relations(changes, raw=raw, redacted=redacted, edited=document))


def _is_raw(look: Look) -> bool:
    """Whether it is evidence of its own: values stand in it that were replaced, or, where those are not known any more,
    anything that must go."""
    if look.key_from is None:
        return bool(look.record.open)
    return any(one.detector in (ORIGINAL, DIGITS) for one in look.record.open)


def _is_same(made: Redaction, document: Any) -> bool:
    """Whether nothing but what is expected was edited."""
    if evidence.is_gone(made.revision.payload):
        return False
    redacted = parse(evidence.read(made.revision.payload))
    return {**redacted, "expected": None} == {**document, "expected": None}


def _not_compared(record: Record) -> Record:
    place = Place(pointer="", start=0, end=0)
    told = Open(kind="blind", detector=NOT_COMPARED, certainty="certain", place=place, length=0, fits="")
    return record.with_open([*record.open, told])
