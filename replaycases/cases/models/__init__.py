"""The domain's rows, one noun a module."""

from replaycases.cases.models.audit import AuditEvent, AuditHead
from replaycases.cases.models.capture import Capture, Draft, Origin
from replaycases.cases.models.case import Case, Stage, StatementEdit
from replaycases.cases.models.ci_result import CiReport, CiResult
from replaycases.cases.models.comparison import Comparison
from replaycases.cases.models.decision import Decision, DecisionKind, DecisionOutcome
from replaycases.cases.models.figures import ProjectFigures
from replaycases.cases.models.fixture_revision import Control, FixtureRevision, OutcomeType
from replaycases.cases.models.held_document import HeldDocument
from replaycases.cases.models.implementation import Implementation
from replaycases.cases.models.incident_report import IncidentReport
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
from replaycases.cases.models.redaction import (
    Redaction,
    RedactionPolicy,
    RedactionRule,
    RuleAction,
    SeenSpans,
    Waiver,
)
from replaycases.cases.models.review import ClosingItem, ClosingStep, FlagReason, ReviewComment, ReviewFlag
from replaycases.cases.models.run import ENDED, MAX_ATTEMPTS, Run, RunSet, RunState
from replaycases.cases.models.trace import BufferedTrace, CaptureRule, RuleKind, TraceBatch, TraceInbox

__all__ = [
    "ENDED",
    "MAX_ATTEMPTS",
    "Acceptance",
    "AuditEvent",
    "AuditHead",
    "Boundary",
    "BufferedTrace",
    "Capture",
    "CaptureRule",
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
    "HeldDocument",
    "Implementation",
    "IncidentReport",
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
    "ProjectFigures",
    "Proposal",
    "ProposalKind",
    "ProposalState",
    "Provenance",
    "RawRead",
    "Redaction",
    "RedactionPolicy",
    "RedactionRule",
    "ReviewComment",
    "ReviewFlag",
    "RuleAction",
    "RuleKind",
    "Run",
    "RunSet",
    "RunState",
    "SeenSpans",
    "Stage",
    "StatementEdit",
    "TraceBatch",
    "TraceInbox",
    "Waiver",
]
