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
    ADMINISTRATOR = "administrator", "Administrator"


CREATES_CASES = frozenset({Role.RESPONDER})
ADDS_CONTROLS = frozenset({Role.RESPONDER, Role.WORKFLOW_ENGINEER})
REGISTERS_IMPLEMENTATIONS = frozenset({Role.WORKFLOW_ENGINEER})
# A responder confirms the failure in quarantine and QA repeats runs before a promotion: both need replays.
REQUESTS_REPLAYS = frozenset({Role.WORKFLOW_ENGINEER, Role.RESPONDER, Role.QA})
VOIDS_RUN_SETS = frozenset({Role.QA})
READS_QUARANTINED_EVIDENCE = frozenset({Role.RESPONDER, Role.PRIVACY_REVIEWER, Role.SECURITY_OWNER})
