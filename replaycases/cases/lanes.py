"""Lanes at work: the history that their runs make, the daily schedule, their policy, and promotion of many cases."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import SETS_LANE_POLICY
from replaycases.cases import declaring, events, gate_facts, gates, jobs, lane_moves, lifecycle, policies
from replaycases.cases.lane_history import History, history_of
from replaycases.cases.locks import lock_project
from replaycases.cases.models import Case, Implementation, Lane, LaneEntry, LaneName, Provenance, RunSet

# A revision in a lane runs once in so many hours, and a call of the schedule asks for at most so many runs.
EVERY = timedelta(hours=24)
BATCH = 200
# Cases that one person promotes at once.
MOST_AT_ONCE = 100

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What would become of one case. `why` says why it stays, "" if it moves."""

    case: Case
    gates: Sequence[gates.Gate]
    why: str

    @property
    def will_move(self) -> bool:
        return not self.why


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one case. `why` says why it stayed, "" if it moved."""

    case: Case
    moved: bool
    why: str


# --- history --------------------------------------------------------------------------------------------------------


def history(entry: LaneEntry) -> History:
    """Every run of this stay, and which of them count towards the blocking lane's policy. Two queries."""
    facts = gate_facts.Bundle([entry.case]).facts()[0]
    runs = list(gate_facts.runs_where(Q(run_set__lane_entry=entry)))
    return history_of(runs, fixed=facts.fixed, needed=facts.snapshot.minimum_history)


def request_history(actor: User, *, case: Case, runs: int) -> RunSet:
    """Replay the fixed version now, for the history of the case's stay in a lane: the current revision's, or that of
    the one that still stands there. Raises PermissionDenied, InvalidTransition where nothing stands in a lane,
    ValidationError for a number out of bounds or without a fixed version."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "request_run_set")
        entry = _watched(case)
        fixed = _fixed(entry)
        return jobs.request_run_set(actor, revision=entry.revision, implementation=fixed, size=runs, lane_entry=entry)


def _watched(case: Case) -> LaneEntry:
    """The current revision's stay, in its strongest lane; else the strongest there is."""
    found = list(LaneEntry.objects.filter(case=case, left_at=None).select_related("lane", "revision__case__project"))
    if not found:
        raise policies.InvalidTransition("No revision of the case stands in a lane.")
    strength = {name: place for place, name in enumerate(lane_moves.STRONGEST_FIRST)}
    return min(found, key=lambda one: (one.revision_id != case.current_revision_id, strength[LaneName(one.lane.name)]))


# --- the schedule ---------------------------------------------------------------------------------------------------


def run_due() -> int:
    """Ask for one run of the fixed version for every revision in a lane that had none asked for within a day. Returns
    for how many. One that fails is logged and does not stop the others; it is tried again at the next call."""
    asked = 0
    for key in list(_due().values_list("pk", flat=True)):
        if asked == BATCH:
            break
        try:
            asked += _ask(key)
        except Exception:
            logger.exception("the daily run of lane entry %s was not asked for", key)
    return asked


def _due() -> QuerySet[LaneEntry]:
    recent = RunSet.objects.filter(lane_entry=OuterRef("pk"), created_at__gt=timezone.now() - EVERY)
    open_entries = LaneEntry.objects.filter(left_at=None, case__provenance__fixed__isnull=False)
    # What is not contained is not replayed, in a lane no more than by hand. It keeps its place, and is exported.
    contained = open_entries.exclude(case__security_incident=True, case__contained_at=None)
    return contained.filter(~Exists(recent)).order_by("entered_at")


def _ask(key: UUID) -> bool:
    """Under the project's lock it is looked at again: another worker may have asked, or the revision have left."""
    with transaction.atomic():
        entry = LaneEntry.objects.select_related("lane__project", "revision__case__project").get(pk=key)
        lock_project(entry.lane.project)
        if not _due().filter(pk=key).exists():
            return False
        fixed = _fixed(entry)
        run_set = declaring.declare(None, entry.revision, fixed, size=1, lane_entry=entry)
        events.record(
            actor=None,
            action="run_set.requested",
            subject=run_set,
            project=run_set.project,
            case=entry.revision.case,
            object_hash=run_set.fixture_hash,
            after={"implementation": fixed.digest, "size": 1, "mutated": False, "lane": entry.lane.name},
        )
    return True


def _fixed(entry: LaneEntry) -> Implementation:
    found = Provenance.objects.filter(case=entry.case_id).select_related("fixed").first()
    if found is None or found.fixed is None:
        raise ValidationError("The fixed version is not recorded. Record it in the details.")
    return found.fixed


# --- policy ---------------------------------------------------------------------------------------------------------


def set_policy(actor: User, *, lane: Lane, repeated_runs: int, minimum_history: int) -> Lane:
    """What a case must show before it comes into the lane. Raises PermissionDenied, ValidationError by field."""
    access.require(actor, lane.project, *SETS_LANE_POLICY)
    policies.refuse_tokens(actor)
    with transaction.atomic():
        policies.require_roles_locked(actor, lane.project, *SETS_LANE_POLICY)
        kept, _ = Lane.objects.get_or_create(project=lane.project, name=lane.name)
        before = {"repeated_runs": kept.repeated_runs, "minimum_history": kept.minimum_history}
        kept.repeated_runs, kept.minimum_history = repeated_runs, minimum_history
        kept.full_clean(exclude=["project", "name"], validate_unique=False, validate_constraints=False)
        kept.save(update_fields=["repeated_runs", "minimum_history"])
        events.record(
            actor=actor,
            action="lane.policy_set",
            subject=kept,
            project=lane.project,
            before={"lane": kept.name, **before},
            after={"lane": kept.name, "repeated_runs": repeated_runs, "minimum_history": minimum_history},
        )
    return kept


# --- many cases -----------------------------------------------------------------------------------------------------


def preview(actor: User, *, cases: Sequence[Case], lane: LaneName) -> list[Preview]:
    """What `promote_many` would do now, row by row; nothing is changed. As many queries for many cases as for one of
    each project."""
    _refuse_too_many(cases)
    found = gates.gates_of_many(cases, lifecycle.GATES_OF[lane], actor=actor)
    projects = {case.project_id: case.project for case in cases}
    held = {key: access.roles_of(actor, project) for key, project in projects.items()}
    inside = lane_moves.stays_of(cases)
    others = lane_moves.namesakes(cases)
    return [
        Preview(
            case=case,
            gates=every,
            why=policies.why_not_allowed("promote", case, actor, held=held[case.project_id])
            or (lifecycle.why_not_enter(case.current_revision, lane, inside[case.pk]) if case.current_revision else "")
            or (lane_moves.why_not_beside(others[case.pk]) if case.pk in others else "")
            or " ".join(f"{gate.title}: {gate.detail}" for gate in every if gate.blocks),
        )
        for case, every in zip(cases, found, strict=True)
    ]


def promote_many(actor: User, *, chosen: Sequence[tuple[Case, str]], lane: LaneName, note: str) -> list[Outcome]:
    """Promote each case by itself, for exactly the fixture hash that was seen. What one row fails on stays with it."""
    _refuse_too_many(chosen)
    return [_promoted(actor, case, seen, lane, note) for case, seen in chosen]


def _promoted(actor: User, case: Case, seen: str, lane: LaneName, note: str) -> Outcome:
    try:
        lifecycle.promote(actor, case=case, lane=lane, fixture_hash=seen, note=note)
    except (PermissionDenied, policies.InvalidTransition) as refusal:
        return Outcome(case=case, moved=False, why=str(refusal))
    except Exception as error:  # a fault in one row must not leave the others undone
        logger.exception("case %s was not promoted", case.pk)
        return Outcome(case=case, moved=False, why=f"It failed on our side ({type(error).__name__}). Try it again.")
    return Outcome(case=case, moved=True, why="")


def _refuse_too_many(rows: Sequence[object]) -> None:
    if len(rows) > MOST_AT_ONCE:
        raise ValidationError(f"At most {MOST_AT_ONCE} cases at once; these are {len(rows)}.")
