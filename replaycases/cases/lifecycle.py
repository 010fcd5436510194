"""A case's way through stages and lanes. Nothing else assigns either.

Every transition is one transaction: the case's row locked, the person and the state checked on it, the gates computed,
the change written, the audit event appended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import decisions, events, gates, policies, reading
from replaycases.cases.models import (
    Case,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    Lane,
    LaneEntry,
    LaneName,
    LeftBy,
    Proposal,
    ProposalKind,
    ProposalState,
    Stage,
)
from replaycases.cases.policies import InvalidTransition

# The way of a case that comes through; a closed one left it.
STEPS = (Stage.QUARANTINED, Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED)
STRONGEST_FIRST = (LaneName.BLOCKING, LaneName.NONBLOCKING, LaneName.COMPATIBILITY)
GATES_OF: Mapping[LaneName, gates.Target] = {
    LaneName.NONBLOCKING: "nonblocking",
    LaneName.BLOCKING: "blocking",
    LaneName.COMPATIBILITY: "compatibility",
}


class SeenAnother(InvalidTransition):
    """What the person looked at is not what is there now. Nothing was decided."""


# --- stages ---------------------------------------------------------------------------------------------------------


def submit(actor: User, *, case: Case, fixture_hash: str) -> Case:
    """quarantined → in_review. Raises PermissionDenied, GatesClosed, SeenAnother."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "submit")
        _same_fixture(case, fixture_hash)
        gates.require_open(case, "in_review", actor=actor)
        return _move(case, actor, Stage.IN_REVIEW, "case.submitted")


def approve_redaction(actor: User, *, case: Case, revision: int, content_hash: str, note: str = "") -> Decision:
    """in_review → redaction_approved, for exactly the bytes that were seen; they are redacted evidence from then on.
    Raises PermissionDenied for own work, SeenAnother, GatesClosed."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "approve_redaction")
        current = _same_revision(case, revision, content_hash)
        gates.require_open(case, "redaction_approved", actor=actor)
        decision = decisions.record(
            actor, revision=current, kind=DecisionKind.REDACTION, outcome=DecisionOutcome.APPROVED, note=note
        )
        reading.release_revision(current)
        _move(case, actor, Stage.REDACTION_APPROVED, "redaction.approved", current, {"decision": str(decision.pk)})
    return decision


def return_redaction(actor: User, *, case: Case, revision: int, content_hash: str, note: str) -> Decision:
    """The revision goes back to its author with a reason; the case stays in review. Raises as `approve_redaction`, and
    ValidationError without a reason."""
    return _return(actor, case, "return_redaction", DecisionKind.REDACTION, revision, content_hash, note)


def approve_expectation(
    actor: User, *, case: Case, revision: int, fixture_hash: str, checks_hash: str, note: str = ""
) -> Decision:
    """The prohibited outcome and its checks are what must hold, for exactly this fixture. Raises as above."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "approve_expectation")
        current = _same_revision(case, revision)
        if (current.fixture_hash, current.checks_hash) != (fixture_hash, checks_hash):
            raise SeenAnother("The fixture or its checks changed since you looked. Look again.")
        decision = decisions.record(
            actor, revision=current, kind=DecisionKind.EXPECTATION, outcome=DecisionOutcome.APPROVED, note=note
        )
        _release_changed_expectation(case, current)
        _event(case, actor, "expectation.approved", current, after={"decision": str(decision.pk)})
    return decision


def return_expectation(actor: User, *, case: Case, revision: int, fixture_hash: str, note: str) -> Decision:
    return _return(actor, case, "return_expectation", DecisionKind.EXPECTATION, revision, fixture_hash, note)


def approve_control(actor: User, *, control: Control, fixture_hash: str, note: str = "") -> Decision:
    """The control's bytes hold nothing that must be redacted. Raises PermissionDenied for own work, SeenAnother."""
    with transaction.atomic():
        case = policies.require_locked(control.revision.case, actor, "approve_control")
        decisions.require_second_eyes_on_control(actor, control)
        if control.fixture_hash != fixture_hash:
            raise SeenAnother("This is another control than the one you saw. Look again.")
        if control.decisions.filter(outcome=DecisionOutcome.APPROVED, voided_at=None).exists():
            raise InvalidTransition("The control is approved already.")
        decision = decisions.record(
            actor,
            revision=control.revision,
            control=control,
            kind=DecisionKind.CONTROL,
            outcome=DecisionOutcome.APPROVED,
            note=note,
        )
        reading.release_control(control)
        _event(case, actor, "control.approved", control, after={"decision": str(decision.pk)})
    return decision


def mark_reproduced(actor: User, *, case: Case, fixture_hash: str) -> Case:
    """redaction_approved → reproduced. Raises PermissionDenied, GatesClosed, SeenAnother."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "mark_reproduced")
        _same_fixture(case, fixture_hash)
        gates.require_open(case, "reproduced", actor=actor)
        return _move(case, actor, Stage.REPRODUCED, "case.reproduced")


def send_back(actor: User, *, case: Case, reason: str) -> Case:
    """redaction_approved or reproduced → in_review; what was approved is asked for again. A lane is not left by it.
    Raises PermissionDenied, InvalidTransition, ValidationError without a reason."""
    why = decisions.reason_of(reason)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "send_back")
        decisions.void_kinds(case, (DecisionKind.REDACTION, DecisionKind.EXPECTATION), "The case was sent back.")
        return _move(case, actor, Stage.IN_REVIEW, "case.sent_back", after={"reason": why})


def mark_non_replayable(actor: User, *, case: Case, reason: str, missing: str) -> Case:
    """Any open stage → non_replayable, outside every lane: the decisive condition cannot be replayed. `missing` says
    which evidence lacks. Raises as `send_back`."""
    why, lacks = decisions.reason_of(reason), decisions.reason_of(missing)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "mark_non_replayable")
        return _move(case, actor, Stage.NON_REPLAYABLE, "case.non_replayable", after={"reason": why, "missing": lacks})


def reopen(actor: User, *, case: Case, reason: str) -> Case:
    """non_replayable → in_review, with nothing approved. Raises as `send_back`."""
    why = decisions.reason_of(reason)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "reopen")
        decisions.void_kinds(case, (DecisionKind.REDACTION, DecisionKind.EXPECTATION), "The case was opened again.")
        return _move(case, actor, Stage.IN_REVIEW, "case.reopened", after={"reason": why})


def revision_added(actor: User, *, case: Case, before: FixtureRevision | None, revision: FixtureRevision) -> None:
    """What a new current revision means, in the transaction that adds it, on the locked case. Changed content voids
    every approval for good, also if it once was approved, and the case goes back to review; changed expectations alone
    keep the redaction's approval. Lanes keep the revision they hold."""
    if before is None:
        return
    same_content = before.content_hash == revision.content_hash
    kinds = [DecisionKind.EXPECTATION] if same_content else [DecisionKind.EXPECTATION, DecisionKind.REDACTION]
    decisions.void_kinds(case, kinds, f"Revision {revision.number} took the place of what was approved.")
    if not same_content and case.stage in policies.APPROVED:
        _move(case, actor, Stage.IN_REVIEW, "case.back_in_review", revision)
    elif same_content and case.stage == Stage.REPRODUCED:
        _move(case, actor, Stage.REDACTION_APPROVED, "case.back_to_redaction_approved", revision)


# --- lanes ----------------------------------------------------------------------------------------------------------


def promote(actor: User, *, case: Case, lane: LaneName, fixture_hash: str, note: str = "") -> LaneEntry:
    """The current revision enters the lane: an earlier revision of the case leaves it, and nonblocking is left for
    blocking. Raises PermissionDenied, GatesClosed, SeenAnother, InvalidTransition if it stands there already."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "promote")
        _same_fixture(case, fixture_hash)
        current = _current(case)
        inside = {entry.lane.name: entry for entry in _open_entries(case)}
        if lane in inside and inside[lane].revision_id == current.pk:
            raise InvalidTransition(f"Revision {current.number} stands in lane {lane} already.")
        passed = gates.require_open(case, GATES_OF[lane], actor=actor)
        if lane in inside:
            _leave(inside[lane], LeftBy.SUCCEEDED)
        if lane == LaneName.BLOCKING and LaneName.NONBLOCKING in inside:
            _leave(inside[LaneName.NONBLOCKING], LeftBy.PROMOTED)
        entry = _enter(case, current, lane, actor, note=note)
        overridden = [gate.name for gate in passed if gate.state == "overridden"]
        after = {"lane": lane.value, "revision": current.number, "overridden": ", ".join(overridden)}
        _event(case, actor, "lane.promoted", current, before={"lane": case.lane}, after=after)
        return _lane_changed(case, entry)


def demote(actor: User, *, proposal: Proposal) -> LaneEntry:
    """blocking → nonblocking, as proposed by one person and confirmed by another. The revision keeps running. Called by
    `cases.proposals` in the transaction of the confirmation, on the locked case."""
    case, entry = proposal.case, _confirmed(proposal, ProposalKind.DEMOTION).lane_entry
    if entry is None or entry.left_at is not None:
        raise InvalidTransition("The revision left the lane in the meantime.")
    _leave(entry, LeftBy.DEMOTED)
    for other in _open_entries(case):
        if other.lane.name == LaneName.NONBLOCKING:
            _leave(other, LeftBy.SUCCEEDED)
    made = _enter(case, entry.revision, LaneName.NONBLOCKING, actor, note=proposal.reason, demotion=proposal)
    after = {"lane": LaneName.NONBLOCKING.value, "reason": proposal.reason, "proposal": str(proposal.pk)}
    _event(case, actor, "lane.demoted", entry.revision, before={"lane": case.lane}, after=after)
    return _lane_changed(case, made)


def retire(actor: User, *, proposal: Proposal) -> Case:
    """Out of every lane and for good, as proposed by one person and confirmed by another. Called as `demote`."""
    case = _confirmed(proposal, ProposalKind.RETIREMENT).case
    left = _open_entries(case)
    for entry in left:
        _leave(entry, LeftBy.RETIRED)
    lanes = ", ".join(entry.lane.name for entry in left)
    case.lane = ""
    case.save(update_fields=["lane"])
    after = {"reason": proposal.reason, "proposal": str(proposal.pk), "left": lanes}
    return _move(case, actor, Stage.RETIRED, "case.retired", after=after)


# --- what all of them are made of -----------------------------------------------------------------------------------


def _move(
    case: Case,
    actor: User,
    stage: Stage,
    action: str,
    subject: FixtureRevision | None = None,
    after: Mapping[str, Any] | None = None,
) -> Case:
    before = case.stage
    case.stage = stage
    case.stage_since = timezone.now()
    case.save(update_fields=["stage", "stage_since"])
    _event(
        case, actor, action, subject or case, before={"stage": before}, after={"stage": stage.value, **(after or {})}
    )
    return case


def _return(
    actor: User,
    case: Case,
    action: policies.ActionName,
    kind: DecisionKind,
    revision: int,
    seen: str,
    note: str,
) -> Decision:
    why = decisions.reason_of(note)
    with transaction.atomic():
        case = policies.require_locked(case, actor, action)
        current = _same_revision(case, revision)
        if seen != (current.content_hash if kind == DecisionKind.REDACTION else current.fixture_hash):
            raise SeenAnother("The revision changed since you looked. Look again.")
        decision = decisions.record(actor, revision=current, kind=kind, outcome=DecisionOutcome.RETURNED, note=why)
        _event(case, actor, f"{kind.value}.returned", current, after={"decision": str(decision.pk), "reason": why})
    return decision


def _release_changed_expectation(case: Case, revision: FixtureRevision) -> None:
    """Where the redaction's approval stands for this content, whoever approved the changed expectation has seen what is
    new in these bytes."""
    approval = decisions.standing(case).get(DecisionKind.REDACTION)
    if approval is not None and approval.content_hash == revision.content_hash:
        reading.release_revision(revision)


def _current(case: Case) -> FixtureRevision:
    if case.current_revision is None:
        raise InvalidTransition("The case has no fixture yet.")
    return case.current_revision


def _same_fixture(case: Case, fixture_hash: str) -> None:
    if _current(case).fixture_hash != fixture_hash:
        raise SeenAnother("The case has another fixture now than the one you saw. Look again.")


def _same_revision(case: Case, number: int, content_hash: str | None = None) -> FixtureRevision:
    current = _current(case)
    if current.number != number or content_hash not in (None, current.content_hash):
        raise SeenAnother(f"Revision {current.number} is the current one, and you saw another. Look again.")
    return current


def _confirmed(proposal: Proposal, kind: ProposalKind) -> Proposal:
    if proposal.kind != kind or proposal.state != ProposalState.CONFIRMED:
        raise InvalidTransition("This needs a proposal that a second person has confirmed.")
    return proposal


def _open_entries(case: Case) -> list[LaneEntry]:
    return list(LaneEntry.objects.filter(case=case, left_at=None).select_related("lane", "revision"))


def _enter(
    case: Case,
    revision: FixtureRevision,
    lane: LaneName,
    actor: User,
    *,
    note: str,
    demotion: Proposal | None = None,
) -> LaneEntry:
    place, _ = Lane.objects.get_or_create(project=case.project, name=lane)
    return LaneEntry.objects.create(
        lane=place,
        case=case,
        revision=revision,
        note=decisions.note_of(note),
        demotion=demotion,
        entered_by=actor,
        entered_at=timezone.now(),
    )


def _leave(entry: LaneEntry, how: LeftBy) -> None:
    entry.left_at = timezone.now()
    entry.left_by = how
    entry.save(update_fields=["left_at", "left_by"])


def _lane_changed(case: Case, entry: LaneEntry) -> LaneEntry:
    """Repeat on the case what its open entries say."""
    names = {open_entry.lane.name for open_entry in _open_entries(case)}
    case.lane = next((lane.value for lane in STRONGEST_FIRST if lane in names), "")
    case.save(update_fields=["lane"])
    return entry


def _event(
    case: Case,
    actor: User,
    action: str,
    subject: Case | FixtureRevision | Control,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    revision = case.current_revision
    hashed = subject.fixture_hash if not isinstance(subject, Case) else revision.fixture_hash if revision else ""
    events.record(
        actor=actor,
        action=action,
        subject=subject,
        case=case,
        project=case.project,
        object_hash=hashed,
        before=before,
        after=after,
    )
