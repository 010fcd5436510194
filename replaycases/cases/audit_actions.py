"""Every action that the audit chain may hold. `events.record` takes no other, and `web.timeline` has a sentence for
each."""

from __future__ import annotations

from typing import Literal, get_args

Action = Literal[
    # a case and its revisions
    "case.created",
    "case.submitted",
    "case.sent_back",
    "case.back_in_review",
    "case.back_to_redaction_approved",
    "case.reproduced",
    "case.non_replayable",
    "case.reopened",
    "case.retired",
    "case.flagged",
    "case.reviewed_again",
    "revision.added",
    "control.added",
    "statement.edited",
    "provenance.edited",
    "owners.set",
    "grader_finding.recorded",
    "grader_finding.confirmed",
    "comment.added",
    "comment.resolved",
    "closing.step_noted",
    "security_incident.flagged",
    "security_incident.cleared",
    "containment.confirmed",
    "dependency.stated",
    "capture.brought",
    "draft.edited",
    "evidence.end_set",
    "evidence.extended",
    # decisions
    "redaction.approved",
    "redaction.returned",
    "expectation.approved",
    "expectation.returned",
    "control.approved",
    "approvals.voided",
    "proposal.made",
    "proposal.confirmed",
    "proposal.declined",
    "proposal.withdrawn",
    # lanes
    "lane.promoted",
    "lane.demoted",
    "lane.policy_set",
    "lane.exported",
    "ci_report.received",
    # replays
    "implementation.registered",
    "comparison.requested",
    "comparison.computed",
    "comparison.cancelled",
    "run_set.requested",
    "run_set.cancelled",
    "run_set.voided",
    # people
    "project.created",
    "project.edited",
    "role.granted",
    "role.revoked",
    "team.created",
    "team.renamed",
    "team.members_set",
    "invitation.made",
    "invitation.accepted",
    "invitation.revoked",
    "user.created",
    "user.edited",
    "user.password_set",
    "sign_in.unlocked",
    "token.created",
    "token.revoked",
    # the chain itself
    "audit.exported",
]
ACTIONS: frozenset[str] = frozenset(get_args(Action))
