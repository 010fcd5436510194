"""What stands beside a case, in one query: who owns what, which approvals stand, where it runs, what was noted.

Rows of nine tables as one union of plain columns: the page shows few of each, and asking for each apart would take
nine queries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import CharField, DateTimeField, F, IntegerField, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast, Coalesce, NullIf
from django.utils import timezone

from replaycases.cases.models import (
    AuditEvent,
    Case,
    CaseOwner,
    ClosingItem,
    Decision,
    DecisionOutcome,
    DependencyStatement,
    GraderFinding,
    LaneEntry,
    Proposal,
    ProposalKind,
    ProposalState,
    ReviewFlag,
    Stage,
)

# Events that move a case to another stage carry it in `after`.
MOVES = (
    "case.submitted",
    "redaction.approved",
    "case.reproduced",
    "case.sent_back",
    "case.back_in_review",
    "case.back_to_redaction_approved",
    "case.non_replayable",
    "case.reopened",
    "case.retired",
)

CLOSINGS = ("case.non_replayable", "case.retired")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """`key` names it within its kind: a boundary, a step, a lane, a kind of decision, an id. `person` is who it is
    about, by `person_id`; `other` a second person; `texts` what is said, depending on the kind."""

    kind: str
    key: str
    texts: tuple[str, str, str, str]
    person: str
    person_id: str
    other: str
    number: int | None
    at: datetime | None

    @property
    def uuid(self) -> UUID:
        """The key as an id: SQLite gives it without dashes."""
        return UUID(self.key)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """By kind, in the order in which they came to be."""

    rows: tuple[Fact, ...]

    def of(self, kind: str) -> list[Fact]:
        return [fact for fact in self.rows if fact.kind == kind]

    def by_key(self, kind: str) -> dict[str, Fact]:
        return {fact.key: fact for fact in self.of(kind)}

    def entered(self) -> dict[str, datetime]:
        """When the case last came into each stage."""
        found: dict[str, datetime] = {}
        for move in self.of("move"):
            stage = json.loads(move.texts[0]).get("stage", "")
            if stage in Stage.values and move.at is not None:
                found[stage] = move.at
        return found

    def why_closed(self) -> dict[str, str]:
        """What was said when the case was closed: "reason" and, where it cannot be replayed, "missing"."""
        said = [move for move in self.of("move") if move.key in CLOSINGS]
        return json.loads(said[-1].texts[0]) if said else {}


def facts_of(case: Case) -> Facts:
    """One query."""
    first, *rest = _parts(case)
    rows = first.union(*rest, all=True)
    made = [
        Fact(kind=kind, key=key, texts=(a, b, c, d), person=person, person_id=pid, other=other, number=number, at=at)
        for kind, key, a, b, c, d, person, pid, other, number, at in rows
    ]
    return Facts(rows=tuple(sorted(made, key=lambda fact: fact.at or case.created_at)))


def _parts(case: Case) -> Iterable[QuerySet[Any, Any]]:
    now = timezone.now()
    yield _rows(
        GraderFinding.objects.filter(case=case),
        "grader",
        key=Cast("pk", CharField()),
        texts=("grader", "version", "label", "result"),
        person="recorded_by",
        other="confirmed_by",
        at=F("recorded_at"),
    )
    yield _rows(
        DependencyStatement.objects.filter(case=case),
        "dependency",
        key=F("acceptance"),
        texts=("note", "confirms"),
        person="said_by",
        number=F("revision__number"),
        at=F("said_at"),
        confirms=models.Case(When(authored_confirmed=True, then=Value("yes")), default=Value("")),
    )
    yield _rows(CaseOwner.objects.filter(case=case), "owner", key=F("boundary"), texts=("team__name",), person="user")
    yield _rows(
        ClosingItem.objects.filter(case=case),
        "closing",
        key=F("step"),
        texts=("note",),
        person="done_by",
        at=F("done_at"),
    )
    yield _rows(
        LaneEntry.objects.filter(case=case, left_at=None),
        "lane",
        key=F("lane__name"),
        texts=("demotion__reason",),
        person="entered_by",
        number=F("revision__number"),
        at=F("entered_at"),
    )
    yield _rows(
        LaneEntry.objects.filter(case=case, left_at=None, demotion__isnull=False),
        "demotion",
        key=F("lane__name"),
        texts=("demotion__reason", "demotion__owner_team__name"),
        person="demotion__owner",
        other="demotion__decided_by",
        at=F("demotion__until"),
    )
    yield _rows(
        Decision.objects.filter(case=case, outcome=DecisionOutcome.APPROVED, voided_at=None, control=None),
        "approval",
        key=F("kind"),
        texts=("fixture_hash", "note"),
        person="decided_by",
        number=F("revision__number"),
        at=F("decided_at"),
    )
    yield _rows(
        ReviewFlag.objects.filter(case=case, cleared_at=None),
        "flag",
        key=F("reason"),
        texts=("detail",),
        person="raised_by",
        at=F("raised_at"),
    )
    yield _rows(
        Proposal.objects.filter(
            Q(state=ProposalState.PENDING)
            | Q(kind=ProposalKind.OVERRIDE, state=ProposalState.CONFIRMED, until__gt=now)
            & Q(revision=case.current_revision_id),
            case=case,
        ),
        "proposal",
        key=F("kind"),
        texts=("reason", "state", "gate"),
        person="proposed_by",
        other="decided_by",
        at=F("until"),
    )
    yield _rows(
        AuditEvent.objects.filter(case=case, action__in=MOVES), "move", key=F("action"), texts=("after",), at=F("at")
    )


def _rows(
    rows: QuerySet[Any],
    kind: str,
    *,
    key: Any,
    texts: tuple[str, ...] = (),
    person: str = "",
    other: str = "",
    number: Any = None,
    at: Any = None,
    **more: Any,
) -> QuerySet[Any, Any]:
    said = {f"t{n}": _text(F(texts[n])) if n < len(texts) else _text(Value("")) for n in range(4)}
    columns = {
        "f_kind": _text(Value(kind)),
        "f_key": _text(key),
        **said,
        "f_person": _name(person),
        "f_person_id": _text(F(f"{person}_id")) if person else _text(Value("")),
        "f_other": _name(other),
        "f_number": Cast(number if number is not None else Value(None), IntegerField()),
        "f_at": at if at is not None else Cast(Value(None), DateTimeField()),
    }
    found: QuerySet[Any, Any] = rows.order_by().annotate(**more).annotate(**columns).values_list(*columns)
    return found


def _text(value: Any) -> Coalesce:
    return Coalesce(Cast(value, TextField()), Value(""), output_field=TextField())


def _name(person: str) -> Coalesce:
    """What pages call a person."""
    if not person:
        return _text(Value(""))
    return Coalesce(
        NullIf(F(f"{person}__display_name"), Value("")), F(f"{person}__username"), Value(""), output_field=TextField()
    )
