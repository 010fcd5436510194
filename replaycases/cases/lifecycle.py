"""A case's way through stages, and in and out of lanes. Nothing else assigns a stage.

Every transition is one transaction: the case's row locked, the person and the state checked on it, the gates computed,
the change written, the audit event appended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import (
    decisions,
    events,
    gates,
    lane_moves,
    policies,
    reading,
    redaction_rows,
    redaction_scans,
    seen_spans,
)
from replaycases.cases.models import (
    Case,
    CaseOwner,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    LaneEntry,
    LaneName,
    LeftBy,
    Proposal,
    ProposalKind,
    ProposalState,
    Stage,
)
from replaycases.cases.policies import InvalidTransition, SeenAnother

# The way of a case that comes through; a closed one left it.
STEPS = (Stage.QUARANTINED, Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED)
_APPROVALS = (DecisionKind.REDACTION, DecisionKind.EXPECTATION)
NO_OWNER = "Nobody can be asked about this case. Name an owner first: what is missing stays with somebody."
GATES_OF: Mapping[LaneName, gates.Target] = {
    LaneName.NONBLOCKING: "nonblocking",
    LaneName.BLOCKING: "blocking",
    LaneName.COMPATIBILITY: "compatibility",
}


# --- stages ---------------------------------------------------------------------------------------------------------


def submit(actor: User, *, case: Case, fixture_hash: str) -> Case:
    """quarantined → in_review. Raises PermissionDenied, GatesClosed, SeenAnother."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "submit")
        _same_fixture(case, fixture_hash)
        gates.require_open(case, "in_review", actor=actor)
        return _move(case, actor, Stage.IN_REVIEW, "case.submitted")


def approve_redaction(actor: User, *, case: Case, revision: int, content_hash: str, note: str = "") -> Decision:
    """in_review → redaction_approved, for exactly the bytes that were seen: redacted evidence from then on, and what
    stood for what is destroyed. Raises PermissionDenied for own work, SeenAnother, GatesClosed, InvalidTransition while
    the actor has not looked at every place."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "approve_redaction")
        current = _same_revision(case, revision, content_hash)
        _refuse_decided(case, DecisionKind.REDACTION)
        gates.require_open(case, "redaction_approved", actor=actor)
        looked = redaction_rows.require_newest(current)
        seen_spans.require_all(actor, looked)
        decision = decisions.record(
            actor,
            revision=current,
            kind=DecisionKind.REDACTION,
            outcome=DecisionOutcome.APPROVED,
            note=note,
            redaction=looked,
        )
        reading.release_revision(current)
        redaction_rows.forget(actor, case)
        after = {"decision": str(decision.pk), **redaction_rows.in_event(looked)}
        _move(case, actor, Stage.REDACTION_APPROVED, "redaction.approved", current, after)
    return decision


def return_redaction(actor: User, *, case: Case, revision: int, content_hash: str, note: str) -> Decision:
    """The revision goes back to its author with a reason; the case stays in review. Raises as `approve_redaction`, and
    ValidationError without a reason."""
    return _return(actor, case, "return_redaction", DecisionKind.REDACTION, revision, content_hash, note)


def approve_expectation(
    actor: User, *, case: Case, revision: int, fixture_hash: str, checks_hash: str, note: str = ""
) -> Decision:
    """The prohibited outcome and its checks are what must hold, for exactly this fixture. Raises as above, and
    PermissionDenied for who may not read it: nobody decides about what they cannot see."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "approve_expectation")
        current = _same_revision(case, revision)
        if (current.fixture_hash, current.checks_hash) != (fixture_hash, checks_hash):
            raise SeenAnother("The fixture or its checks changed since you looked. Look again.")
        _refuse_decided(case, DecisionKind.EXPECTATION)
        decision = decisions.record(
            actor, revision=current, kind=DecisionKind.EXPECTATION, outcome=DecisionOutcome.APPROVED, note=note
        )
        _release_changed_expectation(case, current)
        _event(case, actor, "expectation.approved", current, after={"decision": str(decision.pk)})
    return decision


def return_expectation(actor: User, *, case: Case, revision: int, fixture_hash: str, note: str) -> Decision:
    return _return(actor, case, "return_expectation", DecisionKind.EXPECTATION, revision, fixture_hash, note)


def approve_control(actor: User, *, control: Control, fixture_hash: str, note: str = "") -> Decision:
    """The control's bytes hold nothing that must be redacted. Raises PermissionDenied for own work, SeenAnother,
    InvalidTransition where the detectors find some of it."""
    with transaction.atomic():
        case = policies.require_locked(control.revision.case, actor, "approve_control")
        decisions.require_not_author(actor, control)
        if control.fixture_hash != fixture_hash:
            raise SeenAnother("This is another control than the one you saw. Look again.")
        reading.require(control, actor)
        _refuse_decided(case, DecisionKind.CONTROL, control)
        redaction_scans.require_nothing_in(control)
        decision = decisions.record(
            actor,
            revision=control.revision,
            control=control,
            kind=DecisionKind.CONTROL,
            outcome=DecisionOutcome.APPROVED,
            note=note,
        )
        reading.release_control(control)
        _event(case, actor, "control.approved", control, after={"control": control.name, "decision": str(decision.pk)})
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
        voided = decisions.void_kinds(case, _APPROVALS, "The case was sent back.")
        return _move(case, actor, Stage.IN_REVIEW, "case.sent_back", after={"reason": why, **_ids(voided)})


def mark_non_replayable(actor: User, *, case: Case, reason: str, missing: str) -> Case:
    """Any open stage → non_replayable, outside every lane: the decisive condition cannot be replayed. `missing` says
    which evidence lacks; an owner of the case can be asked about it. Raises as `send_back`."""
    why, lacks = decisions.reason_of(reason), decisions.reason_of(missing)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "mark_non_replayable")
        if not CaseOwner.objects.filter(case=case).askable().exists():
            raise InvalidTransition(NO_OWNER)
        return _move(case, actor, Stage.NON_REPLAYABLE, "case.non_replayable", after={"reason": why, "missing": lacks})


def reopen(actor: User, *, case: Case, reason: str) -> Case:
    """non_replayable → in_review where its gates are open, else → quarantined; with nothing approved. Raises as
    `send_back`."""
    why = decisions.reason_of(reason)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "reopen")
        voided = decisions.void_kinds(case, _APPROVALS, "The case was opened again.")
        closed = any(gate.blocks for gate in gates.gates_of(case, "in_review", actor=actor))
        stage = Stage.QUARANTINED if closed else Stage.IN_REVIEW
        return _move(case, actor, stage, "case.reopened", after={"reason": why, **_ids(voided)})


def revision_added(actor: User, *, case: Case, before: FixtureRevision | None, revision: FixtureRevision) -> None:
    """What a new current revision means, in the transaction that adds it, on the locked case. Changed content voids
    every approval for good, also if it once was approved, and the case goes back to review; changed expectations alone
    keep the redaction's approval. Lanes keep the revision they hold."""
    if before is None:
        return
    same_content = before.content_hash == revision.content_hash
    kinds = [DecisionKind.EXPECTATION] if same_content else _APPROVALS
    voided = _ids(decisions.void_kinds(case, kinds, f"Revision {revision.number} {decisions.REPLACED}"))
    if not same_content and case.stage in policies.APPROVED:
        _move(case, actor, Stage.IN_REVIEW, "case.back_in_review", revision, voided)
    elif same_content and case.stage == Stage.REPRODUCED:
        _move(case, actor, Stage.REDACTION_APPROVED, "case.back_to_redaction_approved", revision, voided)
    elif voided:
        _event(case, actor, "approvals.voided", revision, after=voided)


# --- lanes ----------------------------------------------------------------------------------------------------------


def promote(actor: User, *, case: Case, lane: LaneName, fixture_hash: str, note: str = "") -> LaneEntry:
    """The current revision enters the lane: an earlier revision of the case leaves it, and nonblocking is left for
    blocking. Raises PermissionDenied, GatesClosed, SeenAnother, InvalidTransition if it stands there or blocks
    already."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "promote")
        _same_fixture(case, fixture_hash)
        current, inside = _current(case), lane_moves.stays(case)
        why_not = why_not_enter(current, lane, inside)
        if why_not:
            raise InvalidTransition(why_not)
        _refuse_namesake(case)
        passed = gates.require_open(case, GATES_OF[lane], actor=actor)
        before = {name.value: entry.revision.number for name, entry in inside.items()}
        for name, entry in inside.items():
            if name == lane or (lane, name) == (LaneName.BLOCKING, LaneName.NONBLOCKING):
                lane_moves.leave(case, entry, LeftBy.PROMOTED if entry.revision_id == current.pk else LeftBy.SUCCEEDED)
        entry = lane_moves.enter(actor, case=case, revision=current, lane=lane, note=note)
        overridden = [gate.name for gate in passed if gate.state == "overridden"]
        after = {"lane": lane.value, "revision": current.number, "overridden": ", ".join(overridden)}
        _event(case, actor, "lane.promoted", current, before=before, after=after)
    return entry


def demote(actor: User, *, proposal: Proposal) -> LaneEntry:
    """Out of blocking, as proposed by one person and confirmed by another. The revision goes on in nonblocking; where a
    later one stands there already, that one goes on and the demoted one only leaves. Returns the stay that goes on.
    Called by `cases.proposals` in the transaction of the confirmation, on the locked case."""
    case, entry = proposal.case, _confirmed(proposal, ProposalKind.DEMOTION).lane_entry
    if entry is None or entry.left_at is not None:
        raise InvalidTransition("The revision left the lane in the meantime.")
    before = {"lane": case.lane, "revision": entry.revision.number}
    lane_moves.leave(case, entry, LeftBy.DEMOTED)
    goes_on = lane_moves.stays(case).get(LaneName.NONBLOCKING) or lane_moves.enter(
        actor,
        case=case,
        revision=entry.revision,
        lane=LaneName.NONBLOCKING,
        note=proposal.reason,
        demotion=proposal,
    )
    after = {"lane": case.lane, "revision": goes_on.revision.number}
    said = {"reason": proposal.reason, "proposal": str(proposal.pk)}
    _event(case, actor, "lane.demoted", entry.revision, before=before, after={**after, **said})
    return goes_on


def retire(actor: User, *, proposal: Proposal) -> Case:
    """Out of every lane and for good, as proposed by one person and confirmed by another. Called as `demote`."""
    case = _confirmed(proposal, ProposalKind.RETIREMENT).case
    inside = lane_moves.stays(case)
    for entry in inside.values():
        lane_moves.leave(case, entry, LeftBy.RETIRED)
    after = {"reason": proposal.reason, "proposal": str(proposal.pk), "left": ", ".join(inside)}
    return _move(case, actor, Stage.RETIRED, "case.retired", after=after)


def why_not_enter(current: FixtureRevision, lane: LaneName, inside: Mapping[LaneName, LaneEntry]) -> str:
    """Nobody is promoted to where they stand, nor from blocking to beside it; "" for every other lane."""
    there = [name for name, entry in inside.items() if entry.revision_id == current.pk]
    if lane in there:
        return f"Revision {current.number} stands in lane {lane} already."
    if LaneName.BLOCKING in there:
        return f"Revision {current.number} blocks already. Two people demote it."
    return ""


def _refuse_namesake(case: Case) -> None:
    other = lane_moves.namesakes([case]).get(case.pk)
    if other is not None:
        raise InvalidTransition(lane_moves.why_not_beside(other))


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
        voided = _ids(decisions.void_kinds(case, (kind,), "It was returned."))
        decision = decisions.record(actor, revision=current, kind=kind, outcome=DecisionOutcome.RETURNED, note=why)
        after = {"decision": str(decision.pk), "reason": why, **voided}
        _event(case, actor, f"{kind.value}.returned", current, after=after)
    return decision


def _refuse_decided(case: Case, kind: DecisionKind, control: Control | None = None) -> None:
    given = Decision.objects.filter(case=case, kind=kind, control=control, outcome=DecisionOutcome.APPROVED)
    if given.filter(voided_at=None).exists():
        raise InvalidTransition(decided_already(kind))


def decided_already(kind: DecisionKind) -> str:
    return f"The {kind.label.lower()} is approved already."


def _release_changed_expectation(case: Case, revision: FixtureRevision) -> None:
    """Where the redaction's approval stands for this content, whoever approved the changed expectation has seen what is
    new in these bytes."""
    approval = decisions.standing(case).get(DecisionKind.REDACTION)
    if approval is not None and approval.content_hash == revision.content_hash:
        redaction_rows.require_nothing_open(revision)
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


def _ids(voided: list[Decision]) -> dict[str, Any]:
    """What a move ended, for its event; nothing where it ended nothing."""
    return {"voided": [str(decision.pk) for decision in voided]} if voided else {}


def _confirmed(proposal: Proposal, kind: ProposalKind) -> Proposal:
    if proposal.kind != kind or proposal.state != ProposalState.CONFIRMED:
        raise InvalidTransition("This needs a proposal that a second person has confirmed.")
    return proposal


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
