"""The roles a person can hold in a project, and which of them may do what."""

from __future__ import annotations

from django.db import models


class Role(models.TextChoices):
    VIEWER = "viewer", "Viewer"
    RESPONDER = "responder", "Responder"
    WORKFLOW_ENGINEER = "workflow_engineer", "Workflow engineer"
    PRIVACY_REVIEWER = "privacy_reviewer", "Privacy reviewer"
    SECURITY_OWNER = "security_owner", "Security owner"
    INCIDENT_OWNER = "incident_owner", "Incident owner"
    DEPENDENCY_OWNER = "dependency_owner", "Dependency owner"
    QA = "qa", "QA"
    QA_LEAD = "qa_lead", "QA lead"
    ADMINISTRATOR = "administrator", "Administrator"


CREATES_CASES = frozenset({Role.RESPONDER})
CAPTURES = CREATES_CASES
HEARS_OF_FINDINGS = CREATES_CASES | {Role.INCIDENT_OWNER}
# A workflow engineer may change only what is expected: see `cases.intake.add_revision`.
ADDS_REVISIONS = frozenset({Role.RESPONDER, Role.PRIVACY_REVIEWER, Role.WORKFLOW_ENGINEER})
# Of those, who may change what was recorded.
CHANGES_CONTENT = frozenset({Role.RESPONDER, Role.PRIVACY_REVIEWER})
ADDS_CONTROLS = frozenset({Role.RESPONDER, Role.WORKFLOW_ENGINEER})
EDITS_DETAILS = frozenset({Role.RESPONDER, Role.WORKFLOW_ENGINEER, Role.INCIDENT_OWNER, Role.QA})
COMMENTS = frozenset(set(Role) - {Role.VIEWER, Role.ADMINISTRATOR})
SUBMITS = frozenset({Role.RESPONDER})
REGISTERS_IMPLEMENTATIONS = frozenset({Role.WORKFLOW_ENGINEER})
# A responder confirms the failure in quarantine and QA repeats runs before a promotion: both need replays.
REQUESTS_REPLAYS = frozenset({Role.WORKFLOW_ENGINEER, Role.RESPONDER, Role.QA, Role.QA_LEAD})
VOIDS_RUN_SETS = frozenset({Role.QA, Role.QA_LEAD})
READS_QUARANTINED_EVIDENCE = frozenset({Role.RESPONDER, Role.PRIVACY_REVIEWER, Role.SECURITY_OWNER})
DECIDES_REDACTION = frozenset({Role.PRIVACY_REVIEWER})
DECIDES_EXPECTATION = frozenset({Role.INCIDENT_OWNER})
# Who proposes or decides what is expected reads a revision in which nothing else is new: see `cases.reading`.
READS_NEW_EXPECTATION = DECIDES_EXPECTATION | {Role.WORKFLOW_ENGINEER}
CONFIRMS_CONTAINMENT = frozenset({Role.SECURITY_OWNER})
STATES_ACCEPTANCE = frozenset({Role.DEPENDENCY_OWNER})
SENDS_BACK = frozenset({Role.PRIVACY_REVIEWER, Role.INCIDENT_OWNER, Role.QA, Role.QA_LEAD})
CLOSES_AS_NON_REPLAYABLE = frozenset({Role.INCIDENT_OWNER, Role.QA, Role.QA_LEAD})
PROMOTES = frozenset({Role.QA, Role.QA_LEAD})
REVIEWS_AGAIN = frozenset({Role.QA, Role.QA_LEAD, Role.INCIDENT_OWNER})
SIGNS_HAND_OFF = frozenset({Role.INCIDENT_OWNER})
SETS_LANE_POLICY = frozenset({Role.QA, Role.QA_LEAD})
# A policy of redaction, a finding that may stand, and who agrees to that.
SETS_REDACTION_POLICY = frozenset({Role.PRIVACY_REVIEWER, Role.SECURITY_OWNER})
WAIVES = frozenset({Role.PRIVACY_REVIEWER})
CONFIRMS_WAIVERS = frozenset({Role.PRIVACY_REVIEWER, Role.SECURITY_OWNER})
ADMINISTERS = frozenset({Role.ADMINISTRATOR})
AUDITS = frozenset({Role.ADMINISTRATOR, Role.QA, Role.QA_LEAD, Role.SECURITY_OWNER})
PROPOSES_OVERRIDES = frozenset({Role.QA_LEAD})
PROPOSES_RETIREMENT = frozenset({Role.QA_LEAD})
PROPOSES_EXTENSIONS = frozenset({Role.RESPONDER, Role.PRIVACY_REVIEWER})
# The second person of a proposal. A missing red is confirmed by who owns the prohibited outcome.
CONFIRMS_MISSING_RED = frozenset({Role.INCIDENT_OWNER})
CONFIRMS_OVERRIDES = frozenset({Role.QA, Role.QA_LEAD, Role.INCIDENT_OWNER})
CONFIRMS_DEMOTION = frozenset({Role.QA, Role.QA_LEAD, Role.INCIDENT_OWNER})
CONFIRMS_RETIREMENT = frozenset({Role.QA, Role.QA_LEAD, Role.INCIDENT_OWNER})
CONFIRMS_EXTENSION = frozenset({Role.PRIVACY_REVIEWER, Role.SECURITY_OWNER})
