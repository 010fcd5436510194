"""Cases with what stands around them, as gates read it, in the query that reads the cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, JSONObject, NullIf

from replaycases.cases.json_rows import Rows, first_of, instant, written
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Control,
    Decision,
    DecisionOutcome,
    DependencyStatement,
    FixtureRevision,
    Lane,
    LaneEntry,
    LaneName,
    Proposal,
    ProposalKind,
    ProposalState,
    ReviewComment,
    StatementEdit,
)
from replaycases.cases.models.provenance import can_be_asked


@dataclass(frozen=True, kw_only=True)
class Stay:
    """The open stay in nonblocking: its entry, and which revision stands there since when."""

    entry: UUID
    revision: UUID
    since: datetime


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a dependency owner, by name, said last of the current revision: whether its authored answers are right, and
    whether the tools of which it names no effect have none."""

    name: str
    confirmed: bool
    no_effect: bool


@dataclass(frozen=True, kw_only=True)
class Approval:
    """One that stands: of a control, or of the revision of that number. `by` is the name of who gave it."""

    kind: str
    control: UUID | None
    revision: int
    content_hash: str
    fixture_hash: str
    checks_hash: str
    note: str
    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Override:
    """A confirmed proposal, by its `id`, to go on without a gate; `until` may be over. The two people are by name."""

    id: UUID
    revision: UUID
    gate: str
    reason: str
    until: datetime
    decided_at: datetime
    proposed_by: str
    decided_by: str


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The case as it stands now, with what one query can say of the rows around it. `owners` are the names of those who
    own a boundary, `owned` the boundaries with an owner who can be asked, see `CaseOwner.objects.askable`. `namesake`
    is another case of the project that stands in a lane under the same case_id ("RC-17"), "" for none. `authors` are
    as `decisions.Authors`, `waiting` the kinds of which a proposal waits for its second person; `overrides` are by when
    they were confirmed."""

    case: Case
    open_comments: int
    holds_quarantined: bool
    owners: Mapping[Boundary, str]
    owned: frozenset[Boundary]
    nonblocking: Stay | None
    dependency: Said | None
    authors: tuple[tuple[int, UUID, UUID | None], ...]
    approvals: tuple[Approval, ...]
    waiting: frozenset[ProposalKind]
    overrides: tuple[Override, ...]
    repeated_runs: int
    minimum_history: int
    namesake: str


def surrounded(cases: QuerySet[Case]) -> QuerySet[Case, Any]:
    """The cases, each with what stands around it."""
    rows = ("project", "current_revision", "provenance__affected", "provenance__fixed", "contained_by")
    return cases.select_related(*rows).annotate(**_around(connection.vendor))


@cache
def _around(dialect: str) -> dict[str, RawSQL]:
    """Of any case: who asks does not matter to it. Written once for each dialect that a process speaks."""
    here = {"case": OuterRef("pk")}
    # What is destroyed has no data key any more.
    raw = Q(payload__data_key__isnull=False) | Q(detect__data_key__isnull=False)
    raw_mutation = Q(mutation__data_key__isnull=False)
    open_comments = ReviewComment.objects.filter(revision__case=OuterRef("pk"), resolved_at=None).order_by()
    stays = LaneEntry.objects.filter(**here, lane__name=LaneName.NONBLOCKING, left_at=None)
    policy = Lane.objects.filter(project=OuterRef("project"), name=LaneName.BLOCKING)
    return written(
        Case,
        open_comments=Subquery(open_comments.values("revision__case").annotate(n=Count("pk")).values("n")),
        raw_revision=Exists(FixtureRevision.objects.filter(raw, **here)),
        raw_control=Exists(Control.objects.filter(raw | raw_mutation, revision__case=OuterRef("pk"))),
        stay=first_of(stays, entry="pk", revision="revision", since="entered_at"),
        policy=first_of(policy, repeated_runs="repeated_runs", minimum_history="minimum_history"),
        owner_rows=_owner_rows(),
        namesake=_namesake(),
        dependency=_last_said(),
        edits=_rows_of(StatementEdit.objects.filter(**here), editor="editor_id"),
        made=_rows_of(
            FixtureRevision.objects.filter(**here), number="number", by="created_by_id", behalf="on_behalf_of_id"
        ),
        approved=_approvals(),
        proposed=_proposals(),
    )


def _rows_of(rows: QuerySet[Any], **fields: Any) -> Subquery:
    """[{field: value}] of the rows of a case. One subquery for all of them: each takes far longer to plan than to
    run."""
    listed = rows.order_by().values("case").annotate(rows=Rows(JSONObject(**fields))).values("rows")
    return Subquery(listed, output_field=JSONField())


def _namesake() -> Subquery:
    """{key, number} of a case that stands in a lane under the same case_id, or NULL."""
    same = LaneEntry.objects.filter(
        left_at=None, case__project=OuterRef("project"), revision__fixture_case_id=OuterRef("case_id")
    ).exclude(case=OuterRef("pk"))
    return first_of(same.order_by("case__number"), key="case__project__key", number="case__number")


def _owner_rows() -> Subquery:
    return _rows_of(
        CaseOwner.objects.filter(case=OuterRef("pk")),
        boundary="boundary",
        name=Coalesce(NullIf("user__display_name", Value("")), "user__username", "team__name"),
        askable=ExpressionWrapper(can_be_asked(), output_field=BooleanField()),
    )


def _last_said() -> Subquery:
    """{name, confirmed, no_effect} of the newest statement of the current revision, or NULL."""
    said = DependencyStatement.objects.filter(revision=OuterRef("current_revision")).order_by("-said_at")
    return first_of(said, name=_name("said_by"), confirmed="authored_confirmed", no_effect="no_effect_confirmed")


def _approvals() -> Subquery:
    """Those that stand."""
    same = ("kind", "content_hash", "fixture_hash", "checks_hash", "note")
    return _rows_of(
        Decision.objects.filter(case=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None),
        **{name: name for name in same},
        control="control_id",
        revision="revision__number",
        by=_name("decided_by"),
        at="decided_at",
    )


def _proposals() -> Subquery:
    """Those that wait, and the overrides that were confirmed."""
    wait, stand = Q(state=ProposalState.PENDING), Q(state=ProposalState.CONFIRMED, kind=ProposalKind.OVERRIDE)
    return _rows_of(
        Proposal.objects.filter(wait | stand, case=OuterRef("pk")),
        **{name: name for name in ("id", "kind", "state", "gate", "reason", "until", "decided_at")},
        revision="revision_id",
        proposer=_name("proposed_by"),
        decider=_name("decided_by"),
    )


def _name(person: str) -> Coalesce:
    return Coalesce(NullIf(f"{person}__display_name", Value("")), f"{person}__username")


def snapshot_of(row: Any) -> Snapshot:
    """Of a case that `surrounded` gave."""
    stay, policy = row.stay, row.policy or {}
    owners = [(Boundary(owner["boundary"]), owner) for owner in row.owner_rows or ()]
    proposed = row.proposed or ()
    return Snapshot(
        case=row,
        open_comments=row.open_comments or 0,
        holds_quarantined=row.raw_revision or row.raw_control,
        owners={boundary: owner["name"] for boundary, owner in owners},
        owned=frozenset(boundary for boundary, owner in owners if owner["askable"]),
        nonblocking=Stay(entry=UUID(stay["entry"]), revision=UUID(stay["revision"]), since=instant(stay["since"]))
        if stay
        else None,
        dependency=_said(row.dependency) if row.dependency else None,
        authors=_authors(row.edits or (), row.made or ()),
        approvals=tuple(_approval(given) for given in row.approved or ()),
        waiting=frozenset(ProposalKind(one["kind"]) for one in proposed if one["state"] == ProposalState.PENDING),
        overrides=_overrides([one for one in proposed if one["state"] == ProposalState.CONFIRMED]),
        repeated_runs=policy.get("repeated_runs", Lane.repeated_runs.field.default),
        minimum_history=policy.get("minimum_history", Lane.minimum_history.field.default),
        namesake=f"{row.namesake['key']}-{row.namesake['number']}" if row.namesake else "",
    )


def _said(row: Mapping[str, Any]) -> Said:
    return Said(name=row["name"], confirmed=bool(row["confirmed"]), no_effect=bool(row["no_effect"]))


def _authors(edits: Any, made: Any) -> tuple[tuple[int, UUID, UUID | None], ...]:
    editors = sorted({UUID(edit["editor"]) for edit in edits})
    revisions = sorted(made, key=lambda one: int(one["number"]))
    return (
        *((0, editor, None) for editor in editors),
        *((int(one["number"]), UUID(one["by"]), _uuid(one["behalf"])) for one in revisions),
    )


def _approval(row: Mapping[str, Any]) -> Approval:
    return Approval(**{**row, "control": _uuid(row["control"]), "at": instant(row["at"])})


def _overrides(rows: Any) -> tuple[Override, ...]:
    found = [
        Override(
            id=UUID(row["id"]),
            revision=UUID(row["revision"]),
            gate=row["gate"],
            reason=row["reason"],
            until=instant(row["until"]),
            decided_at=instant(row["decided_at"]),
            proposed_by=row["proposer"],
            decided_by=row["decider"],
        )
        for row in rows
        if row["until"] and row["decided_at"] and row["revision"]
    ]
    return tuple(sorted(found, key=lambda override: override.decided_at))


def _uuid(said: str | None) -> UUID | None:
    return UUID(said) if said else None
