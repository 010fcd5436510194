"""What the gates of one or many cases are computed from. Each kind of fact is one query for all cases, asked when the
first gate needs it; everything is read again at that moment, so that a gate decides on what is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Any, TypeVar
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
from django.utils import timezone

from replaycases.cases import gate_queries, kept_queries
from replaycases.cases.json_rows import Rows, first_of, instant, written
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Comparison,
    Control,
    Decision,
    DependencyStatement,
    FixtureRevision,
    Implementation,
    Lane,
    LaneEntry,
    LaneName,
    Proposal,
    ProposalKind,
    ProposalState,
    Provenance,
    ReviewComment,
    Run,
    RunSet,
    StatementEdit,
)
from replaycases.cases.models.provenance import can_be_asked
from replaycases.cases.redaction_facts import RedactionFacts

K = TypeVar("K")
V = TypeVar("V")


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
class Snapshot:
    """The case as it stands now, with what one query can say of the rows around it. `owners` are the names of those who
    own a boundary, `owned` the boundaries with an owner who can be asked, see `CaseOwner.objects.askable`. `namesake`
    is another case of the project that stands in a lane under the same case_id ("RC-17"), "" for none. `restated_by`
    are those whose work the case is by an edit of its statement, or because they captured or drafted its run."""

    case: Case
    open_comments: int
    holds_quarantined: bool
    owners: Mapping[Boundary, str]
    owned: frozenset[Boundary]
    nonblocking: Stay | None
    dependency: Said | None
    restated_by: tuple[UUID, ...]
    repeated_runs: int
    minimum_history: int
    namesake: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of one case; `bundle` holds them for all that were asked for together."""

    bundle: Bundle
    key: UUID

    @property
    def snapshot(self) -> Snapshot:
        return self.bundle.snapshots[self.key]

    @property
    def case(self) -> Case:
        return self.snapshot.case

    @property
    def revision(self) -> FixtureRevision | None:
        return self.case.current_revision

    @property
    def provenance(self) -> Provenance:
        """The case's provenance; an empty one where nothing is recorded yet."""
        return getattr(self.case, "provenance", None) or Provenance(case=self.case)

    @property
    def affected(self) -> Implementation | None:
        return self.provenance.affected

    @property
    def fixed(self) -> Implementation | None:
        return self.provenance.fixed

    @property
    def controls(self) -> list[Control]:
        return self.bundle.controls[self.case.current_revision_id]

    @property
    def unplayed_controls(self) -> list[Control]:
        """Those that the fixed version was never asked about, or only in sets that were voided."""
        return [control for control in self.controls if control.pk not in self.bundle.replayed_controls]

    @property
    def approvals(self) -> Mapping[str, Decision]:
        """By kind; those of controls apart."""
        return {str(given.kind): given for given in self.bundle.decisions[self.key] if given.control_id is None}

    @property
    def approved_controls(self) -> Mapping[UUID, Decision]:
        return {given.control_id: given for given in self.bundle.decisions[self.key] if given.control_id is not None}

    @property
    def comparisons(self) -> list[Comparison]:
        """Those of the current revision, newest first."""
        return self.bundle.comparisons[self.case.current_revision_id]

    @property
    def every_revision(self) -> Sequence[FixtureRevision]:
        """Oldest first, with who made it and for whom."""
        return self.bundle.every_revision[self.key]

    @property
    def authors(self) -> list[tuple[int, UUID, UUID | None]]:
        """As `decisions.Authors`."""
        revisions = [(one.number, one.created_by_id, one.on_behalf_of_id) for one in self.every_revision]
        return [*((0, editor, None) for editor in self.snapshot.restated_by), *revisions]

    def runs_of(self, implementation: Implementation) -> list[Run]:
        """Every run of that code on this fixture, those of voided sets too, in the order of their numbers."""
        revision = self.revision
        if revision is None:
            return []
        hashes = (self.case.project_id, revision.fixture_hash, revision.checks_hash)
        return [run for run in self.bundle.runs[hashes] if run.run_set.implementation.digest == implementation.digest]

    @property
    def voided(self) -> list[RunSet]:
        """The sets that somebody took out: those of the affected and the fixed code on this fixture, and those on the
        revision's controls."""
        sides = [side for side in (self.affected, self.fixed) if side]
        runs = [run for side in sides for run in self.runs_of(side)]
        beside = (run for found in self.bundle.runs.values() for run in found if run.run_set.control_id)
        controls = {control.pk for control in self.controls}
        runs += [run for run in beside if run.run_set.control_id in controls]
        return list({run.run_set_id: run.run_set for run in runs if run.run_set.voided_at}.values())

    def runs_in(self, stay: LaneEntry) -> list[Run]:
        """Every run of a stay that the bundle was asked for, in the order of their numbers."""
        found = (run for runs in self.bundle.runs.values() for run in runs if run.run_set.lane_entry_id == stay.pk)
        return sorted(found, key=lambda run: run.number)

    def override(self, gate: str) -> Proposal | None:
        """The confirmed override of exactly this gate for the current revision that has not ended."""
        return self.bundle.overrides.get((self.key, self.case.current_revision_id, gate))


class Bundle:
    """The facts of many cases together."""

    def __init__(self, cases: Iterable[Case], stays: Iterable[LaneEntry] = ()) -> None:
        """`stays` are those whose every run is wanted too: see `Facts.runs_in`."""
        self._keys = [case.pk for case in cases]
        self._stays = [entry.pk for entry in stays]

    @classmethod
    def of_surrounded(cls, cases: Sequence[Case], stays: Iterable[LaneEntry] = ()) -> Bundle:
        """The same for cases that were loaded through `surrounded` just now: they are not asked for again."""
        made = cls(cases, stays)
        made.snapshots = {case.pk: _snapshot(case) for case in cases}
        return made

    def facts(self) -> list[Facts]:
        """In the order of the cases."""
        return [Facts(bundle=self, key=key) for key in self._keys]

    @cached_property
    def snapshots(self) -> dict[UUID, Snapshot]:
        return {row.pk: _snapshot(row) for row in surrounded(Case.objects.filter(pk__in=self._keys))}

    @cached_property
    def _revisions(self) -> list[FixtureRevision]:
        return [found.case.current_revision for found in self.snapshots.values() if found.case.current_revision]

    @cached_property
    def redactions(self) -> RedactionFacts:
        return RedactionFacts([found.case for found in self.snapshots.values()])

    @cached_property
    def decisions(self) -> Mapping[UUID, list[Decision]]:
        found = kept_queries.about(gate_queries.decisions, self._keys)
        return _grouped((given.case_id, given) for given in found)

    @cached_property
    def controls(self) -> Mapping[UUID | None, list[Control]]:
        return _grouped((control.revision_id, control) for control in self._controls)

    @cached_property
    def replayed_controls(self) -> frozenset[UUID]:
        """Those with a set of the fixed version that stands, whatever became of its runs."""
        return frozenset(control.pk for control in self._controls if control.replayed)

    @cached_property
    def _controls(self) -> list[Any]:
        return kept_queries.about(gate_queries.controls, [revision.pk for revision in self._revisions])

    @cached_property
    def comparisons(self) -> Mapping[UUID | None, list[Comparison]]:
        found = kept_queries.about(gate_queries.comparisons, [revision.pk for revision in self._revisions])
        return _grouped((comparison.revision_id, comparison) for comparison in found)

    @cached_property
    def runs(self) -> Mapping[tuple[UUID, str, str], list[Run]]:
        provenances = [Facts(bundle=self, key=key).provenance for key in self._keys]
        wanted = Q(
            run_set__project__in={found.case.project_id for found in self.snapshots.values()},
            run_set__fixture_hash__in={revision.fixture_hash for revision in self._revisions},
            run_set__implementation__digest__in={
                side.digest for provenance in provenances for side in (provenance.affected, provenance.fixed) if side
            },
        )
        wanted |= Q(run_set__revision__in=self._revisions, run_set__voided_at__isnull=False)
        if self._stays:
            wanted |= Q(run_set__lane_entry__in=self._stays)
        return _grouped(
            ((run.project_id, run.run_set.fixture_hash, run.run_set.checks_hash), run) for run in runs_where(wanted)
        )

    @cached_property
    def proposals(self) -> Mapping[UUID, list[Proposal]]:
        """Every one, whatever became of it, the newest first."""
        found = kept_queries.about(gate_queries.proposals, self._keys)
        return _grouped((proposal.case_id, proposal) for proposal in found)

    @cached_property
    def overrides(self) -> dict[tuple[UUID, UUID | None, str], Proposal]:
        """The confirmed ones that have not ended, by case, revision and gate; the one confirmed last holds."""
        now = timezone.now()
        holding = [
            (proposal.decided_at, proposal)
            for key in self._keys
            for proposal in self.proposals[key]
            if proposal.kind == ProposalKind.OVERRIDE and proposal.state == ProposalState.CONFIRMED
            if proposal.until is not None and proposal.until > now and proposal.decided_at is not None
        ]
        in_order = [proposal for _, proposal in sorted(holding, key=lambda pair: pair[0])]
        return {(proposal.case_id, proposal.revision_id, proposal.gate): proposal for proposal in in_order}

    @cached_property
    def every_revision(self) -> Mapping[UUID, list[FixtureRevision]]:
        found = kept_queries.about(gate_queries.revisions, self._keys)
        return _grouped((revision.case_id, revision) for revision in found)


def runs_where(wanted: Q) -> QuerySet[Run]:
    """The chosen runs by number, with their sets and implementations, without what they said. One query."""
    every = Run.objects.filter(wanted).select_related("run_set__implementation", "run_set__voided_by")
    return every.order_by("number").defer("progress", "run_set__implementation__spec")


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
        restated=_restated(),
    )


def _namesake() -> Subquery:
    """{key, number} of a case that stands in a lane under the same case_id, or NULL."""
    same = LaneEntry.objects.filter(
        left_at=None, case__project=OuterRef("project"), revision__fixture_case_id=OuterRef("case_id")
    ).exclude(case=OuterRef("pk"))
    return first_of(same.order_by("case__number"), key="case__project__key", number="case__number")


def _owner_rows() -> Subquery:
    """[{boundary, name, askable}] of a case, in one subquery: five of them take far longer to plan than to run."""
    owners = CaseOwner.objects.filter(case=OuterRef("pk")).values("case")
    row = JSONObject(
        boundary="boundary",
        name=Coalesce(NullIf("user__display_name", Value("")), "user__username", "team__name"),
        askable=ExpressionWrapper(can_be_asked(), output_field=BooleanField()),
    )
    return Subquery(owners.annotate(rows=Rows(row)).values("rows"), output_field=JSONField())


def _restated() -> Subquery:
    """[{editor}] of a case."""
    edits = StatementEdit.objects.filter(case=OuterRef("pk")).order_by().values("case")
    return Subquery(edits.annotate(rows=Rows(JSONObject(editor="editor_id"))).values("rows"), output_field=JSONField())


def _last_said() -> Subquery:
    """{name, confirmed, no_effect} of the newest statement of the current revision, or NULL."""
    said = DependencyStatement.objects.filter(revision=OuterRef("current_revision")).order_by("-said_at")
    name = Coalesce(NullIf("said_by__display_name", Value("")), "said_by__username")
    return first_of(said, name=name, confirmed="authored_confirmed", no_effect="no_effect_confirmed")


def _snapshot(row: Any) -> Snapshot:
    stay, policy = row.stay, row.policy or {}
    owners = [(Boundary(owner["boundary"]), owner) for owner in row.owner_rows or ()]
    return Snapshot(
        case=row,
        open_comments=row.open_comments or 0,
        holds_quarantined=row.raw_revision or row.raw_control,
        owners={boundary: owner["name"] for boundary, owner in owners},
        owned=frozenset(boundary for boundary, owner in owners if owner["askable"]),
        nonblocking=Stay(entry=UUID(stay["entry"]), revision=UUID(stay["revision"]), since=instant(stay["since"]))
        if stay
        else None,
        dependency=Said(
            name=row.dependency["name"],
            confirmed=bool(row.dependency["confirmed"]),
            no_effect=bool(row.dependency["no_effect"]),
        )
        if row.dependency
        else None,
        restated_by=tuple(sorted({UUID(edit["editor"]) for edit in row.restated or ()})),
        repeated_runs=policy.get("repeated_runs", Lane.repeated_runs.field.default),
        minimum_history=policy.get("minimum_history", Lane.minimum_history.field.default),
        namesake=f"{row.namesake['key']}-{row.namesake['number']}" if row.namesake else "",
    )


def _grouped(pairs: Iterable[tuple[K, V]]) -> Mapping[K, list[V]]:
    """{key: [values]}, empty lists for keys that are not there."""
    groups: defaultdict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
