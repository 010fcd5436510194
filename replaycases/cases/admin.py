"""The administrators' site shows the domain's rows and changes none of them. People are kept in `cases.admin_people`,
through the same services as everywhere else. Evidence is never shown here: a superuser holds no role that reads it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from replaycases.cases import admin_people  # noqa: F401  registers them
from replaycases.cases.models import (
    AuditEvent,
    AuditHead,
    BufferedTrace,
    Capture,
    CaptureRule,
    Case,
    CaseOwner,
    CiReport,
    CiResult,
    ClosingItem,
    Comparison,
    Control,
    Decision,
    DependencyStatement,
    Draft,
    FixtureRevision,
    GraderFinding,
    HeldDocument,
    Implementation,
    IncidentReport,
    Lane,
    LaneEntry,
    Notification,
    NotificationCursor,
    Payload,
    ProjectFigures,
    Proposal,
    Provenance,
    RawRead,
    Redaction,
    RedactionPolicy,
    RedactionRule,
    ReviewComment,
    ReviewFlag,
    Run,
    RunSet,
    SeenSpans,
    StatementEdit,
    TraceBatch,
    TraceInbox,
    Waiver,
)
from replaycases.cases.read_only_admin import ReadOnlyAdmin


@admin.register(Case)
class CaseAdmin(ReadOnlyAdmin[Case]):
    list_display = ["readable_id", "title", "stage", "lane", "verdict", "flagged", "evidence_expires_at", "created_by"]
    list_filter = ["project", "stage", "flagged", "security_incident"]
    list_select_related = ["project", "created_by"]
    search_fields = ["title", "incident_id", "case_id"]


@admin.register(Capture)
class CaptureAdmin(ReadOnlyAdmin[Capture]):
    exclude = ["symptom"]
    list_display = ["readable_id", "origin", "format", "runs", "captured_by", "captured_at", "expires_at", "purged_at"]
    list_filter = ["project", "origin", "format"]
    list_select_related = ["project", "captured_by"]
    search_fields = ["trace_id"]


@admin.register(CaptureRule)
class CaptureRuleAdmin(ReadOnlyAdmin[CaptureRule]):
    list_display = ["project", "kind", "key", "value", "enabled", "created_by", "created_at"]
    list_filter = ["project", "kind", "enabled"]
    list_select_related = ["project", "created_by"]


@admin.register(TraceInbox)
class TraceInboxAdmin(ReadOnlyAdmin[TraceInbox]):
    list_display = ["project", "traces", "bytes", "dropped"]
    list_select_related = ["project"]


@admin.register(TraceBatch)
class TraceBatchAdmin(ReadOnlyAdmin[TraceBatch]):
    list_display = ["id", "project", "payload", "received_at"]
    list_filter = ["project"]
    list_select_related = ["project", "payload"]


@admin.register(BufferedTrace)
class BufferedTraceAdmin(ReadOnlyAdmin[BufferedTrace]):
    exclude = ["batches"]
    list_display = ["trace_id", "project", "spans", "records", "ended", "rule", "capture", "first_at", "last_at"]
    list_filter = ["project", "ended"]
    list_select_related = ["project", "rule", "capture__project"]
    search_fields = ["trace_id"]


@admin.register(HeldDocument)
class HeldDocumentAdmin(ReadOnlyAdmin[HeldDocument]):
    list_display = ["digest", "project", "capture", "revision"]
    list_filter = ["project"]
    list_select_related = ["project", "capture__project", "revision__case__project"]


@admin.register(IncidentReport)
class IncidentReportAdmin(ReadOnlyAdmin[IncidentReport]):
    exclude = ["result"]
    list_display = ["grader", "label", "project", "trace_id", "reported_at", "case", "settled_by", "settled_at"]
    list_filter = ["project"]
    list_select_related = ["project", "case__project", "settled_by"]
    search_fields = ["trace_id"]


@admin.register(Draft)
class DraftAdmin(ReadOnlyAdmin[Draft]):
    list_display = ["capture", "run", "case", "edited_by", "edited_at"]
    list_select_related = ["capture__project", "case__project", "edited_by"]


@admin.register(FixtureRevision)
class FixtureRevisionAdmin(ReadOnlyAdmin[FixtureRevision]):
    exclude = ["changed"]
    list_display = ["case", "number", "schema_version", "fixture_hash", "created_by", "created_at"]
    list_select_related = ["case__project", "created_by"]
    search_fields = ["fixture_hash", "content_hash", "fixture_case_id"]


@admin.register(Control)
class ControlAdmin(ReadOnlyAdmin[Control]):
    list_display = ["revision", "name", "outcome_type", "tool", "created_by", "created_at"]
    list_filter = ["outcome_type"]
    list_select_related = ["revision__case__project", "created_by"]
    search_fields = ["name", "tool", "fixture_hash"]


@admin.register(Payload)
class PayloadAdmin(ReadOnlyAdmin[Payload]):
    """Which bytes there are, how large and until when; never the bytes."""

    exclude = ["body"]
    list_display = ["digest", "project", "size", "media_type", "classification", "expires_at", "created_at"]
    list_filter = ["project", "classification"]
    list_select_related = ["project"]
    search_fields = ["digest"]

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Payload]:
        return super().get_queryset(request).defer("body")


@admin.register(Implementation)
class ImplementationAdmin(ReadOnlyAdmin[Implementation]):
    list_display = ["name", "version", "commit", "project", "digest", "created_by", "created_at"]
    list_filter = ["project"]
    list_select_related = ["project", "created_by"]
    search_fields = ["name", "version", "commit", "digest"]
    date_hierarchy = "created_at"


@admin.register(RunSet)
class RunSetAdmin(ReadOnlyAdmin[RunSet]):
    list_display = ["id", "project", "implementation", "size", "mutated", "requested_by", "created_at", "voided_at"]
    list_filter = ["project", "mutated"]
    list_select_related = ["project", "implementation", "requested_by"]
    search_fields = ["fixture_hash"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin[Run]):
    exclude = ["reason", "progress"]
    list_display = ["number", "project", "state", "status", "boundary_passed", "attempts", "worker", "finished_at"]
    list_filter = ["project", "state"]
    list_select_related = ["project"]
    search_fields = ["observation_hash", "worker"]


@admin.register(Comparison)
class ComparisonAdmin(ReadOnlyAdmin[Comparison]):
    exclude = ["reason"]
    list_display = ["number", "project", "label", "old", "new", "requested_by", "computed_at"]
    list_filter = ["project", "label"]
    list_select_related = ["project", "old", "new", "requested_by"]


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin[Decision]):
    list_display = ["case", "kind", "outcome", "decided_by", "decided_at", "voided_at"]
    list_filter = ["kind", "outcome"]
    list_select_related = ["case__project", "decided_by"]
    search_fields = ["fixture_hash", "content_hash"]
    date_hierarchy = "decided_at"


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin[Proposal]):
    list_display = ["case", "kind", "gate", "state", "proposed_by", "decided_by", "until"]
    list_filter = ["kind", "state"]
    list_select_related = ["case__project", "proposed_by", "decided_by"]
    date_hierarchy = "proposed_at"


@admin.register(Lane)
class LaneAdmin(ReadOnlyAdmin[Lane]):
    list_display = ["project", "name", "repeated_runs", "minimum_history"]
    list_filter = ["project"]
    list_select_related = ["project"]


@admin.register(LaneEntry)
class LaneEntryAdmin(ReadOnlyAdmin[LaneEntry]):
    list_display = ["case", "lane", "entered_by", "entered_at", "left_at", "left_by"]
    list_filter = ["lane__name", "left_by"]
    list_select_related = ["case__project", "lane__project", "entered_by"]
    date_hierarchy = "entered_at"


@admin.register(Provenance)
class ProvenanceAdmin(ReadOnlyAdmin[Provenance]):
    list_display = ["case", "incident_url", "affected", "fixed", "covering_test"]
    list_select_related = ["case__project", "affected", "fixed"]
    search_fields = ["incident_url", "trace_id", "covering_test"]


@admin.register(CaseOwner)
class CaseOwnerAdmin(ReadOnlyAdmin[CaseOwner]):
    list_display = ["case", "boundary", "user", "team"]
    list_filter = ["boundary"]
    list_select_related = ["case__project", "user", "team"]


@admin.register(GraderFinding)
class GraderFindingAdmin(ReadOnlyAdmin[GraderFinding]):
    exclude = ["result"]
    list_display = ["case", "grader", "version", "label", "recorded_by", "confirmed_by"]
    list_select_related = ["case__project", "recorded_by", "confirmed_by"]
    search_fields = ["grader", "label"]


@admin.register(DependencyStatement)
class DependencyStatementAdmin(ReadOnlyAdmin[DependencyStatement]):
    exclude = ["note"]
    list_display = ["case", "revision", "acceptance", "authored_confirmed", "no_effect_confirmed", "said_by", "said_at"]
    list_filter = ["acceptance"]
    list_select_related = ["case__project", "revision", "said_by"]


@admin.register(StatementEdit)
class StatementEditAdmin(ReadOnlyAdmin[StatementEdit]):
    list_display = ["case", "editor", "at"]
    list_select_related = ["case__project", "editor"]


@admin.register(ReviewComment)
class ReviewCommentAdmin(ReadOnlyAdmin[ReviewComment]):
    exclude = ["text", "resolution"]
    list_display = ["revision", "pointer", "author", "created_at", "resolved_by", "resolved_at"]
    list_select_related = ["revision__case__project", "author", "resolved_by"]


@admin.register(ReviewFlag)
class ReviewFlagAdmin(ReadOnlyAdmin[ReviewFlag]):
    list_display = ["case", "reason", "raised_by", "raised_at", "cleared_by", "cleared_at"]
    list_filter = ["reason"]
    list_select_related = ["case__project", "raised_by", "cleared_by"]
    date_hierarchy = "raised_at"


@admin.register(ClosingItem)
class ClosingItemAdmin(ReadOnlyAdmin[ClosingItem]):
    list_display = ["case", "step", "done_by", "done_at"]
    list_filter = ["step"]
    list_select_related = ["case__project", "done_by"]


@admin.register(Notification)
class NotificationAdmin(ReadOnlyAdmin[Notification]):
    list_display = ["user", "case", "kind", "created_at", "read_at", "mailed_at"]
    list_filter = ["kind"]
    list_select_related = ["user", "case__project"]


@admin.register(CiReport)
class CiReportAdmin(ReadOnlyAdmin[CiReport]):
    list_display = ["lane", "implementation_name", "implementation_version", "exit_code", "pushed_by", "pushed_at"]
    list_filter = ["exit_code"]
    list_select_related = ["lane__project", "pushed_by"]
    search_fields = ["lane_digest", "digest"]


@admin.register(CiResult)
class CiResultAdmin(ReadOnlyAdmin[CiResult]):
    exclude = ["reason"]
    list_display = ["report", "revision", "label"]
    list_filter = ["label"]
    list_select_related = ["report__lane__project", "revision__case__project"]


@admin.register(RawRead)
class RawReadAdmin(ReadOnlyAdmin[RawRead]):
    list_display = ["user", "case", "capture", "made_at", "until", "reason"]
    list_filter = ["project"]
    list_select_related = ["user", "case__project", "capture__project"]
    search_fields = ["reason"]
    date_hierarchy = "made_at"


@admin.register(RedactionPolicy)
class RedactionPolicyAdmin(ReadOnlyAdmin[RedactionPolicy]):
    """Without its data, which may hold values that are let stand."""

    exclude = ["data"]
    list_display = ["project", "number", "digest", "created_by", "created_at"]
    list_filter = ["project"]
    list_select_related = ["project", "created_by"]
    search_fields = ["digest"]


@admin.register(Redaction)
class RedactionAdmin(ReadOnlyAdmin[Redaction]):
    """What was found, by kind and number; neither the places nor what stood for what."""

    exclude = ["record", "mapping"]
    list_display = ["revision", "policy", "detectors", "spans", "facts", "lost", "rules", "made_by", "made_at"]
    list_select_related = ["revision__case__project", "policy", "made_by"]
    search_fields = ["policy_digest"]
    date_hierarchy = "made_at"


@admin.register(RedactionRule)
class RedactionRuleAdmin(ReadOnlyAdmin[RedactionRule]):
    exclude = ["body"]
    list_display = ["source", "action", "kind", "added_by", "added_at", "withdrawn_by", "withdrawn_at"]
    list_filter = ["action"]
    list_select_related = ["source__case__project", "added_by", "withdrawn_by"]


@admin.register(Waiver)
class WaiverAdmin(ReadOnlyAdmin[Waiver]):
    list_display = ["case", "kind", "detector", "until", "asked_by", "confirmed_by", "ended_by"]
    list_filter = ["kind"]
    list_select_related = ["case__project", "asked_by", "confirmed_by", "ended_by"]
    date_hierarchy = "asked_at"


@admin.register(SeenSpans)
class SeenSpansAdmin(ReadOnlyAdmin[SeenSpans]):
    list_display = ["redaction", "user", "updated_at"]
    list_select_related = ["redaction__revision__case__project", "user"]


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin[AuditEvent]):
    list_display = ["sequence", "at", "actor", "token", "action", "object_type", "object_id", "project"]
    list_filter = ["project"]
    list_select_related = ["actor", "project"]
    search_fields = ["action", "object_id"]
    ordering = ["-sequence"]


@admin.register(ProjectFigures)
class ProjectFiguresAdmin(ReadOnlyAdmin[ProjectFigures]):
    list_display = ["project", "counted_at"]
    ordering = ["project__key"]


@admin.register(AuditHead, NotificationCursor)
class PositionAdmin(ReadOnlyAdmin[Any]):
    """Rows that hold one place in the chain."""

    list_display = ["__str__", "sequence"]
