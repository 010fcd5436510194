"""The domain's rows, one noun a module."""

from replaycases.cases.models.audit import AuditEvent, AuditHead
from replaycases.cases.models.case import Case, Stage
from replaycases.cases.models.comparison import Comparison
from replaycases.cases.models.fixture_revision import Control, FixtureRevision, OutcomeType
from replaycases.cases.models.implementation import Implementation
from replaycases.cases.models.lane import Lane, LaneEntry, LaneName
from replaycases.cases.models.payload import Classification, Payload
from replaycases.cases.models.run import ENDED, MAX_ATTEMPTS, Run, RunSet, RunState

__all__ = [
    "ENDED",
    "MAX_ATTEMPTS",
    "AuditEvent",
    "AuditHead",
    "Case",
    "Classification",
    "Comparison",
    "Control",
    "FixtureRevision",
    "Implementation",
    "Lane",
    "LaneEntry",
    "LaneName",
    "OutcomeType",
    "Payload",
    "Run",
    "RunSet",
    "RunState",
    "Stage",
]
