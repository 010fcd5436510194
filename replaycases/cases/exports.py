"""What keeps a fixture from being sent as redacted evidence, and the approval that goes with it where it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from replaycases.cases import reading, redaction_policies, redaction_rows
from replaycases.cases.models import (
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    Redaction,
    Waiver,
)
from replaycases.cases.policies import InvalidTransition
from replaycases.fixture.lane_index import ListedApproval, ListedPolicy

UNSEEN = "nobody looked yet for what must go. Have the detectors look at it on its review page"
REMEDY = "Decide about them on its review page: by a rule and another redaction, or two people let them stand"
REMEDY_OF_LOST = (
    "Bring them back on its review page, by a rule and another redaction, or undo what was edited by hand: "
    "no waiver lets that stand"
)


def require(revision: FixtureRevision) -> None:
    """Raises InvalidTransition where its bytes must not be sent."""
    fault = why_not(revision)
    if fault:
        raise InvalidTransition(fault)


def why_not(revision: FixtureRevision) -> str:
    """Why its bytes are not sent as redacted evidence; "" where they are, and for raw evidence, which is open to nobody
    but who said why they read it."""
    fault = "" if reading.is_quarantined(revision) else faults_of([revision]).get(revision.pk, "")
    return f"Revision {revision.number} of {revision.case.readable_id} is not sent: {fault}." if fault else ""


def faults_of(revisions: Collection[FixtureRevision]) -> dict[UUID, str]:
    """Why those revisions must not be sent that must not: half a sentence, with what to do. Two queries."""
    looked = redaction_rows.newest_of([revision.pk for revision in revisions])
    waivers = redaction_rows.holding({revision.case_id for revision in revisions})
    told = {one.pk: _fault(looked.get(one.pk), waivers[one.case_id]) for one in revisions}
    return {key: fault for key, fault in told.items() if fault}


def _fault(looked: Redaction | None, waivers: list[Waiver]) -> str:
    if looked is None:
        return UNSEEN
    found = redaction_rows.in_the_way(looked, waivers)
    if found.lost:
        return f"relations between its values that were lost: {found.lost}. {REMEDY_OF_LOST}"
    return f"open findings: {len(found.left)}. {REMEDY}" if found.left else ""


def approvals_of(revisions: Collection[FixtureRevision]) -> Mapping[UUID, ListedApproval]:
    """The last approval of the redaction of each that has one for its content: a stay goes on while the case is looked
    at again, and `stands` says whether it is. One query."""
    rows = Decision.objects.filter(
        case__in={revision.case_id for revision in revisions},
        kind=DecisionKind.REDACTION,
        outcome=DecisionOutcome.APPROVED,
    )
    given = {
        (row.case_id, row.content_hash): row
        for row in rows.select_related("decided_by", "redaction__policy__project").order_by("decided_at")
    }
    found = {one.pk: given.get((one.case_id, one.content_hash)) for one in revisions}
    return {key: _listed(decision) for key, decision in found.items() if decision is not None}


def _listed(decision: Decision) -> ListedApproval:
    looked = decision.redaction
    assert looked is not None  # the database sees to it
    policy = redaction_policies.as_policy(looked.policy)
    return ListedApproval(
        by=decision.decided_by.get_username(),
        at=decision.decided_at.isoformat(),
        content_hash=decision.content_hash,
        policy=ListedPolicy(name=policy.name, version=policy.version, digest=looked.policy_digest),
        detectors=looked.detectors,
        waivers=len(looked.open),
        stands=decision.voided_at is None,
    )
