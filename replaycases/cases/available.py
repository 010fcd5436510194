"""What somebody can do with a case now: nothing is offered here that the service behind it would refuse.

`cases.policies` says who may and in which stage. What stands around the case is looked at here too, and locked and
looked at again by each service: gates, approvals that stand, proposals that wait, lanes. What hangs on a choice of the
person (which control, which reason, which gate to override) is said where they choose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.cases import (
    decisions,
    flags,
    gates,
    lane_moves,
    lifecycle,
    policies,
    proposals,
    seen_spans,
)
from replaycases.cases.gate_facts import Bundle, Facts
from replaycases.cases.models import Case, DecisionKind, LaneName, ProposalKind
from replaycases.cases.policies import RULES, Action, ActionName

GATED: Mapping[ActionName, gates.Target] = {
    "submit": "in_review",
    "approve_redaction": "redaction_approved",
    "mark_reproduced": "reproduced",
}
PROPOSALS: Mapping[ActionName, ProposalKind] = {
    "propose_demotion": ProposalKind.DEMOTION,
    "propose_retirement": ProposalKind.RETIREMENT,
    "propose_extension": ProposalKind.EXTENSION,
}


def available_actions(case: Case, actor: User, only: Collection[ActionName] = tuple(RULES)) -> list[Action]:
    """The actions on the case, allowed or not, in the order in which a page shows them. Two queries for who may, and
    few more for what stands around the case, of those that this person may do in this stage: name in `only` what is
    wanted."""
    told = _by_policy(case, actor, [name for name in RULES if name in only])
    [facts] = Bundle([case]).facts()  # read once for all of them, when the first one needs it
    told = {name: said or why_not_around(name, facts, actor) for name, said in told.items()}
    return [Action(name=name, label=RULES[name].label, allowed=not said, why_not=said) for name, said in told.items()]


def _by_policy(case: Case, actor: User, names: list[ActionName]) -> dict[ActionName, str]:
    """As `policies.require` decides, each thing asked once for all of them."""
    held = access.roles_of(actor, case.project)
    own_work = decisions.own_work(actor, case) if any(RULES[name].second_eyes for name in names) else ""
    gone, over = cache(policies.destroyed), cache(policies.no_more_evidence)
    unread = cache(policies.why_unread)
    found: dict[ActionName, str] = {}
    for name in names:
        said = policies.why_not_allowed(name, case, actor, held=held, own_work=own_work)
        said = said or (gone(case) if name in policies.NEEDS_EVIDENCE else "")
        said = said or (over(case) if name in policies.BRINGS_EVIDENCE else "")
        found[name] = said or (unread(case, actor, held) if RULES[name].reads else "")
    return found


def why_not_around(name: ActionName, facts: Facts, actor: User) -> str:
    """Why a service would refuse it although the person may in this stage; "" if it would not."""
    if name in GATED:
        closed = _told(gates.gates_from(facts, GATED[name], actor=actor))
        return closed or (_unseen(facts, actor) if name == "approve_redaction" else "")
    if name in PROPOSALS:
        return proposals.WAITS if PROPOSALS[name] in facts.snapshot.waiting else ""
    if name == "approve_expectation":
        decided = DecisionKind.EXPECTATION in facts.approvals
        return lifecycle.decided_already(DecisionKind.EXPECTATION) if decided else ""
    if name == "mark_non_replayable":
        return "" if facts.snapshot.owned else lifecycle.NO_OWNER
    if name == "review_again":
        return flags.why_not_review_again(
            access.roles_of(actor, facts.case.project), facts.case, flags.open_reasons(facts.case)
        )
    return _no_lane(facts, actor) if name == "promote" else ""


def _no_lane(facts: Facts, actor: User) -> str:
    """Why no lane takes the case's revision: what the next one lacks, where none does."""
    case, current = facts.case, facts.revision
    if current is None:
        return policies.needs_revision(case)
    inside = lane_moves.stays(case)
    found: dict[LaneName, str] = {}
    for lane, target in lifecycle.GATES_OF.items():
        stands = lifecycle.why_not_enter(current, lane, inside)
        found[lane] = stands or _told(gates.gates_from(facts, target, actor=actor))
    if not all(found.values()):
        return ""
    return found[LaneName.BLOCKING if case.lane else LaneName.NONBLOCKING]


def _unseen(facts: Facts, actor: User) -> str:
    """Which places of the newest look at the revision this reviewer has not seen."""
    looked = facts.bundle.redactions.newest(facts.revision) if facts.revision is not None else None
    return seen_spans.why_not_approve(actor, looked) if looked is not None else ""


def _told(found: Iterable[gates.Gate]) -> str:
    """What those that block say; "" where none does."""
    return str(gates.GatesClosed(found))
