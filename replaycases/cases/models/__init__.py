"""The domain's rows, one noun a module."""

from replaycases.cases.models.audit import AuditEvent, AuditHead
from replaycases.cases.models.capture import Capture, Draft, Origin
from replaycases.cases.models.case import Case, Stage, StatementEdit
from replaycases.cases.models.ci_result import CiReport, CiResult
from replaycases.cases.models.comparison import Comparison
from replaycases.cases.models.decision import Decision, DecisionKind, DecisionOutcome
from replaycases.cases.models.fixture_revision import Control, FixtureRevision, OutcomeType
from replaycases.cases.models.implementation import Implementation
from replaycases.cases.models.lane import Lane, LaneEntry, LaneName, LeftBy
from replaycases.cases.models.notification import Notification, NotificationCursor, NotificationKind
from replaycases.cases.models.payload import Classification, Payload
from replaycases.cases.models.proposal import Proposal, ProposalKind, ProposalState
from replaycases.cases.models.provenance import (
    Acceptance,
    Boundary,
    CaseOwner,
    DependencyStatement,
    GraderFinding,
    Provenance,
)
from replaycases.cases.models.raw_read import RawRead
from replaycases.cases.models.review import ClosingItem, ClosingStep, FlagReason, ReviewComment, ReviewFlag
from replaycases.cases.models.run import ENDED, MAX_ATTEMPTS, Run, RunSet, RunState

__all__ = [
    "ENDED",
    "MAX_ATTEMPTS",
    "Acceptance",
    "AuditEvent",
    "AuditHead",
    "Boundary",
    "Capture",
    "Case",
    "CaseOwner",
    "CiReport",
    "CiResult",
    "Classification",
    "ClosingItem",
    "ClosingStep",
    "Comparison",
    "Control",
    "Decision",
    "DecisionKind",
    "DecisionOutcome",
    "DependencyStatement",
    "Draft",
    "FixtureRevision",
    "FlagReason",
    "GraderFinding",
    "Implementation",
    "Lane",
    "LaneEntry",
    "LaneName",
    "LeftBy",
    "Notification",
    "NotificationCursor",
    "NotificationKind",
    "Origin",
    "OutcomeType",
    "Payload",
    "Proposal",
    "ProposalKind",
    "ProposalState",
    "Provenance",
    "RawRead",
    "ReviewComment",
    "ReviewFlag",
    "Run",
    "RunSet",
    "RunState",
    "Stage",
    "StatementEdit",
]
