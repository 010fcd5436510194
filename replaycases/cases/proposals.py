"""What needs two people: one proposes, another one confirms or declines. Nothing else writes a proposal.

Who may be either is checked when it is proposed and again when it is confirmed, on the locked case, and so is what it
was proposed for: a proposal that its case has outrun is confirmed by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, get_args

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts import roles as may
from replaycases.accounts.models import Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import comparing, decisions, events, expiry, gates, lifecycle, people, policies
from replaycases.cases.models import (
    Case,
    LaneEntry,
    LaneName,
    Proposal,
    ProposalKind,
    ProposalState,
    Stage,
)
from replaycases.cases.policies import ActionName, InvalidTransition

LONGEST_DAYS = 90
_ACTION: Mapping[ProposalKind, ActionName] = {
    ProposalKind.OVERRIDE: "propose_override",
    ProposalKind.DEMOTION: "propose_demotion",
    ProposalKind.RETIREMENT: "propose_retirement",
    ProposalKind.EXTENSION: "propose_extension",
}
CONFIRMS: Mapping[ProposalKind, frozenset[Role]] = {
    ProposalKind.OVERRIDE: may.CONFIRMS_OVERRIDES,
    ProposalKind.DEMOTION: may.CONFIRMS_DEMOTION,
    ProposalKind.RETIREMENT: may.CONFIRMS_RETIREMENT,
    ProposalKind.EXTENSION: may.CONFIRMS_EXTENSION,
}
_MISSING_RED = Q(kind=ProposalKind.OVERRIDE, gate="red")
SORTS: Mapping[str, tuple[Q, frozenset[Role]]] = {
    "missing red": (_MISSING_RED, may.CONFIRMS_MISSING_RED),
    **{kind.value: (Q(kind=kind) & ~_MISSING_RED, roles) for kind, roles in CONFIRMS.items()},
}
"""What `confirmers` says, of many proposals at once."""
WAITS = "This is proposed already and waits for a second person."
_NEXT: Mapping[Stage, tuple[gates.Target, ...]] = {
    Stage.QUARANTINED: ("in_review",),
    Stage.IN_REVIEW: ("redaction_approved", "reproduced"),
    Stage.REDACTION_APPROVED: ("reproduced",),
    Stage.REPRODUCED: ("nonblocking", "blocking", "compatibility"),
}


# --- proposing ------------------------------------------------------------------------------------------------------


def propose_override(actor: User, *, case: Case, gate: str, reason: str, until: datetime) -> Proposal:
    """Let the current revision pass one gate until then: a missing red, or a gate that cannot be computed. Raises
    PermissionDenied, InvalidTransition where the gate needs none or takes none, ValidationError."""
    why = decisions.reason_of(reason)
    if gate not in get_args(gates.GateName):
        raise ValidationError("There is no gate of that name.")
    _require_end(until)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "propose_override")
        _require_overridable(case, gate, actor)
        return _propose(actor, case, ProposalKind.OVERRIDE, why, gate=gate, until=until)


def propose_demotion(actor: User, *, case: Case, reason: str, until: datetime, owner: User | Team) -> Proposal:
    """Take the revision that blocks back to nonblocking; `owner` mends what must be mended, and at `until` it is looked
    at again. Raises PermissionDenied, InvalidTransition where nothing blocks, ValidationError."""
    why = decisions.reason_of(reason)
    _require_end(until)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "propose_demotion")
        cannot_answer = people.why_not_answer(owner, case.project)
        if cannot_answer:
            raise ValidationError({"owner": cannot_answer})
        entry = LaneEntry.objects.get(case=case, lane__name=LaneName.BLOCKING, left_at=None)
        owns = {"owner_team": owner} if isinstance(owner, Team) else {"owner": owner}
        return _propose(actor, case, ProposalKind.DEMOTION, why, lane_entry=entry, until=until, **owns)


def propose_retirement(actor: User, *, case: Case, reason: str) -> Proposal:
    """Close the case for good and take it out of every lane. Raises PermissionDenied, InvalidTransition,
    ValidationError."""
    why = decisions.reason_of(reason)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "propose_retirement")
        return _propose(actor, case, ProposalKind.RETIREMENT, why)


def propose_extension(actor: User, *, case: Case, reason: str, until: datetime) -> Proposal:
    """Keep the case's raw evidence until then. Raises PermissionDenied, InvalidTransition where none expires,
    ValidationError for a time that is not later than now's or too late."""
    why = decisions.reason_of(reason)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "propose_extension")
        why_not = expiry.why_not_until(case, until)
        if why_not:
            raise ValidationError(why_not)
        return _propose(actor, case, ProposalKind.EXTENSION, why, until=until)


# --- deciding -------------------------------------------------------------------------------------------------------


def confirm(actor: User, *, proposal: Proposal, note: str = "") -> Proposal:
    """As a second person: what was proposed happens now. Raises PermissionDenied for who may not be the second person,
    InvalidTransition where it is decided already, or where what it was proposed for is not so any more."""
    with transaction.atomic():
        proposal = _locked(proposal)
        _require_second(actor, proposal)
        why_not = why_stale(proposal)
        if why_not:
            raise InvalidTransition(why_not)
        _require_still_proposed(actor, proposal)
        _decide(actor, proposal, ProposalState.CONFIRMED, note)
        apply = _APPLY.get(ProposalKind(proposal.kind))
        if apply is not None:
            apply(actor, proposal=proposal)
    return proposal


def decline(actor: User, *, proposal: Proposal, note: str) -> Proposal:
    """As a second person: it does not happen, and the note says why. Raises as `confirm`, and ValidationError."""
    why = decisions.reason_of(note)
    with transaction.atomic():
        proposal = _locked(proposal)
        _require_second(actor, proposal)
        _decide(actor, proposal, ProposalState.DECLINED, why)
    return proposal


def withdraw(actor: User, *, proposal: Proposal) -> Proposal:
    """Whoever proposed it takes it back. Raises PermissionDenied, InvalidTransition where it is decided already."""
    policies.refuse_tokens(actor)
    with transaction.atomic():
        proposal = _locked(proposal)
        if actor.pk != proposal.proposed_by_id or not access.roles_of(actor, proposal.case.project):
            raise PermissionDenied("Only who proposed it takes it back.")
        _require_pending(proposal)
        _decide(actor, proposal, ProposalState.WITHDRAWN, "")
    return proposal


def confirmers(proposal: Proposal) -> frozenset[Role]:
    """The roles of which the second person holds one. A missing red is for who owns the prohibited outcome."""
    if proposal.kind == ProposalKind.OVERRIDE and proposal.gate == "red":
        return may.CONFIRMS_MISSING_RED
    return CONFIRMS[ProposalKind(proposal.kind)]


def why_not_decide(actor: User, proposal: Proposal) -> str:
    """Why the actor cannot confirm or decline it, a sentence for them; "" if they can."""
    return why_not_decide_each(actor, [proposal])[0]


def why_not_decide_each(actor: User, proposals: Sequence[Proposal]) -> list[str]:
    """The same of each, in their order. Two queries, however many there are."""
    held = access.roles_by_project(actor, {proposal.case.project for proposal in proposals})
    own_work = decisions.own_work_of(actor, {p.case for p in proposals if p.kind == ProposalKind.OVERRIDE})
    return [
        why_not_second(
            actor, proposal, held=held[proposal.case.project_id], own_work=own_work.get(proposal.case_id, "")
        )
        for proposal in proposals
    ]


def why_not_second(actor: User, proposal: Proposal, *, held: frozenset[Role], own_work: str) -> str:
    """The same of one, for an actor who holds these roles in its project; `own_work` is what `decisions.own_work` says,
    for an override. No query."""
    return _lacks(actor, proposal, held, own_work) or _why_decided(proposal)


def why_stale(proposal: Proposal) -> str:
    """Why nobody can confirm it any more, because its case or the time went on; "" if that can still be."""
    if proposal.until is not None and proposal.until <= timezone.now():
        return "The time until which it was to hold has passed. Decline it."
    if proposal.kind == ProposalKind.EXTENSION and proposal.until is not None:
        too_late = expiry.why_not_until(proposal.case, proposal.until)
        return f"{too_late} Decline it." if too_late else ""
    if proposal.kind == ProposalKind.OVERRIDE and proposal.revision_id != proposal.case.current_revision_id:
        return "It was proposed for a revision that is not the current one any more. Decline it."
    if proposal.lane_entry is not None and proposal.lane_entry.left_at is not None:
        return "The revision left the lane in the meantime. Decline it."
    return ""


# --- what all of them are made of -----------------------------------------------------------------------------------


def _override(actor: User, *, proposal: Proposal) -> None:
    """Gates read the proposal itself; verdicts are stored, so those that rest on a missing red are reached anew."""
    if proposal.gate == "red" and proposal.revision is not None:
        comparing.red_overridden(proposal.revision)


_APPLY: Mapping[ProposalKind, Callable[..., object]] = {
    ProposalKind.OVERRIDE: _override,
    ProposalKind.DEMOTION: lifecycle.demote,
    ProposalKind.RETIREMENT: lifecycle.retire,
    ProposalKind.EXTENSION: expiry.extend,
}


def _propose(actor: User, case: Case, kind: ProposalKind, reason: str, **bound: Any) -> Proposal:
    waiting = Proposal.objects.filter(case=case, kind=kind, gate=bound.get("gate", ""), state=ProposalState.PENDING)
    if waiting.exists():
        raise InvalidTransition(WAITS)
    proposal = Proposal.objects.create(
        case=case,
        kind=kind,
        revision=case.current_revision,
        reason=reason,
        proposed_by=actor,
        proposed_at=timezone.now(),
        **bound,
    )
    _event(actor, proposal, "proposal.made", {"reason": reason, "until": _time(proposal.until), "gate": proposal.gate})
    return proposal


def _locked(proposal: Proposal) -> Proposal:
    """The proposal as it stands now, its project, case and itself locked in this order."""
    case = policies.locked(proposal.case)
    found = Proposal.objects.select_for_update(no_key=True, of=("self",)).select_related("lane_entry", "proposed_by")
    proposal = found.get(pk=proposal.pk)
    proposal.case = case
    return proposal


def _require_second(actor: User, proposal: Proposal) -> None:
    own_work = decisions.own_work(actor, proposal.case) if proposal.kind == ProposalKind.OVERRIDE else ""
    lacks = _lacks(actor, proposal, access.roles_of(actor, proposal.case.project), own_work)
    if lacks:
        raise PermissionDenied(lacks)
    _require_pending(proposal)


def _lacks(actor: User, proposal: Proposal, held: frozenset[Role], own_work: str) -> str:
    """Why this person, who holds these roles in the project, may not be the second one; "" if they may. `own_work` is
    what `decisions.own_work` says, for an override."""
    roles = confirmers(proposal)
    if held.isdisjoint(roles):
        return access.lacking(proposal.case.project, roles)
    if actor.token is not None:
        return policies.BY_PERSON
    if actor.pk == proposal.proposed_by_id:
        return "You proposed it. A second person decides it."
    return own_work


def _require_pending(proposal: Proposal) -> None:
    decided = _why_decided(proposal)
    if decided:
        raise InvalidTransition(decided)


def _why_decided(proposal: Proposal) -> str:
    if proposal.state == ProposalState.PENDING:
        return ""
    return f"It was {ProposalState(proposal.state).label.lower()} already."


def _require_still_proposed(actor: User, proposal: Proposal) -> None:
    """Whoever proposed it could do so now too: they still may, and the case still asks for it."""
    try:
        policies.require(proposal.case, proposal.proposed_by, _ACTION[ProposalKind(proposal.kind)])
    except PermissionDenied:
        raise InvalidTransition("Who proposed it may not propose it any more. Decline it.") from None
    if proposal.kind == ProposalKind.OVERRIDE:
        _require_overridable(proposal.case, proposal.gate, actor)


def _require_overridable(case: Case, gate: str, actor: User) -> None:
    """The gate stands before one of the case's next steps, and is one that an override may stand in for now."""
    ahead = (
        (target, found) for target in _NEXT[Stage(case.stage)] for found in gates.gates_of(case, target, actor=actor)
    )
    if not any(found.name == gate and gates.may_override(found.name, found.state, target) for target, found in ahead):
        raise InvalidTransition(
            "Nothing here can be overridden. An override stands in for a missing red, and for a gate that could not be "
            "computed; never for an approval, and never for what makes a case block."
        )


def _require_end(until: datetime) -> None:
    now = timezone.now()
    if not now < until <= now + timedelta(days=LONGEST_DAYS):
        told = f"Name a time in the future at which it ends, at most {LONGEST_DAYS} days from now."
        raise ValidationError({"until": told})


def _decide(actor: User, proposal: Proposal, state: ProposalState, note: str) -> None:
    proposal.state = state
    proposal.decided_by = actor
    proposal.decided_at = timezone.now()
    proposal.note = decisions.note_of(note)
    proposal.save(update_fields=["state", "decided_by", "decided_at", "note"])
    _event(actor, proposal, f"proposal.{state.value}", {"note": proposal.note})


def _event(actor: User, proposal: Proposal, action: str, after: Mapping[str, Any]) -> None:
    made = proposal.state == ProposalState.PENDING
    events.record(
        actor=actor,
        action=action,
        subject=proposal,
        project=proposal.case.project,
        case=proposal.case,
        object_hash=proposal.revision.fixture_hash if proposal.revision is not None else "",
        before={} if made else {"state": ProposalState.PENDING.value},
        after={"kind": ProposalKind(proposal.kind).value, "state": ProposalState(proposal.state).value, **after},
    )


def _time(at: datetime | None) -> str:
    return at.isoformat() if at is not None else ""
