"""Exact filters on lists; they are part of the API's contract."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms

from replaycases.accounts.models import Membership
from replaycases.cases import held_documents
from replaycases.cases.models import (
    AuditEvent,
    BufferedTrace,
    Capture,
    CaptureRule,
    Case,
    CiReport,
    ClosingItem,
    Comparison,
    Control,
    Decision,
    DependencyStatement,
    FixtureRevision,
    GraderFinding,
    Implementation,
    IncidentReport,
    Lane,
    LaneEntry,
    Notification,
    Proposal,
    Redaction,
    RedactionPolicy,
    RedactionRule,
    ReviewComment,
    ReviewFlag,
    Run,
    RunSet,
    Waiver,
)


class OfProject(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    project = django_filters.CharFilter(field_name="project__key", help_text="A project's key.")


class TrueOrFalse(forms.NullBooleanField):
    """`true` or `false`; anything else is a fault and not the same as nothing."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override] # as its parent really does
        if value in (None, "", "true", "false"):
            return None if not value else value == "true"
        raise forms.ValidationError("Say true or false.")


class BooleanFilter(django_filters.BooleanFilter):  # type: ignore[misc] # django-filter has no types
    field_class = TrueOrFalse


class Standing(BooleanFilter):
    """Whether an instant is still empty: `open=true` is what has not ended."""

    def __init__(self, field_name: str) -> None:
        super().__init__(field_name=field_name, lookup_expr="isnull")


class Holds(django_filters.CharFilter):  # type: ignore[misc] # django-filter has no types
    """Whether it holds a retrieved chunk or document, by its exact id."""

    def __init__(self, holder: str) -> None:
        self.holder = holder
        super().__init__(help_text="The id of a retrieved chunk or document.")

    def filter(self, qs: Any, value: str) -> Any:
        if not value:
            return qs
        rows = held_documents.holding(self.parent.request.user, value)
        return qs.filter(pk__in=rows.filter(**{f"{self.holder}__isnull": False}).values(self.holder))


class CaseFilter(OfProject):
    flagged = BooleanFilter()
    holds = Holds("revision__case")

    class Meta:
        model = Case
        fields = ["project", "stage", "lane", "verdict", "flagged", "incident_id", "case_id", "number", "holds"]


class CaptureFilter(OfProject):
    holds = Holds("capture")

    class Meta:
        model = Capture
        fields = ["project", "origin", "format", "trace_id", "number", "holds"]


class TraceFilter(OfProject):
    ended = BooleanFilter()

    class Meta:
        model = BufferedTrace
        fields = ["project", "trace_id", "ended", "rule", "capture"]


class RuleFilter(OfProject):
    enabled = BooleanFilter()

    class Meta:
        model = CaptureRule
        fields = ["project", "kind", "enabled"]


class FindingFilter(OfProject):
    waiting = Standing("settled_at")

    class Meta:
        model = IncidentReport
        fields = ["project", "grader", "label", "trace_id", "case", "waiting"]


class RevisionFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    class Meta:
        model = FixtureRevision
        fields = ["case", "fixture_hash", "content_hash", "checks_hash"]


class ControlFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    case = django_filters.UUIDFilter(field_name="revision__case")

    class Meta:
        model = Control
        fields = ["case", "revision", "name", "outcome_type", "fixture_hash"]


class ImplementationFilter(OfProject):
    class Meta:
        model = Implementation
        fields = ["project", "name", "version", "digest"]


class RunSetFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    class Meta:
        model = RunSet
        fields = ["revision", "implementation", "control", "fixture_hash"]


class RunFilter(OfProject):
    case = django_filters.UUIDFilter(field_name="run_set__revision__case")

    class Meta:
        model = Run
        fields = ["project", "case", "run_set", "state", "number"]


class ComparisonFilter(OfProject):
    case = django_filters.UUIDFilter(field_name="revision__case")

    class Meta:
        model = Comparison
        fields = ["project", "case", "revision", "label", "number"]


class OfCase(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    project = django_filters.CharFilter(field_name="case__project__key", help_text="A project's key.")
    case = django_filters.UUIDFilter(field_name="case")


class DecisionFilter(OfCase):
    standing = Standing("voided_at")

    class Meta:
        model = Decision
        fields = ["project", "case", "revision", "control", "kind", "outcome", "standing"]


class CommentFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    case = django_filters.UUIDFilter(field_name="revision__case")
    open = Standing("resolved_at")

    class Meta:
        model = ReviewComment
        fields = ["case", "revision", "open"]


class ProposalFilter(OfCase):
    class Meta:
        model = Proposal
        fields = ["project", "case", "kind", "state"]


class FlagFilter(OfCase):
    open = Standing("cleared_at")

    class Meta:
        model = ReviewFlag
        fields = ["project", "case", "reason", "open"]


class DependencyStatementFilter(OfCase):
    class Meta:
        model = DependencyStatement
        fields = ["project", "case", "revision", "acceptance"]


class ClosingFilter(OfCase):
    class Meta:
        model = ClosingItem
        fields = ["project", "case", "step"]


class GraderFindingFilter(OfCase):
    class Meta:
        model = GraderFinding
        fields = ["project", "case"]


class LaneFilter(OfProject):
    class Meta:
        model = Lane
        fields = ["project", "name"]


class LaneEntryFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    open = Standing("left_at")

    class Meta:
        model = LaneEntry
        fields = ["lane", "case", "revision", "open"]


class CiReportFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    class Meta:
        model = CiReport
        fields = ["lane", "lane_digest", "exit_code"]


class MembershipFilter(OfProject):
    class Meta:
        model = Membership
        fields = ["project", "user", "role"]


class NotificationFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    unread = Standing("read_at")

    class Meta:
        model = Notification
        fields = ["case", "kind", "unread"]


class AuditFilter(OfProject):
    since = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="gte")
    until = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="lt")

    class Meta:
        model = AuditEvent
        fields = ["project", "case", "actor", "action", "object_id", "since", "until"]


class RedactionPolicyFilter(OfProject):
    class Meta:
        model = RedactionPolicy
        fields = ["project", "number"]


class RedactionFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    case = django_filters.UUIDFilter(field_name="revision__case")

    class Meta:
        model = Redaction
        fields = ["case", "revision", "policy"]


class RedactionRuleFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    case = django_filters.UUIDFilter(field_name="source__case")
    standing = Standing("withdrawn_at")

    class Meta:
        model = RedactionRule
        fields = ["case", "source", "action", "standing"]


class WaiverFilter(OfCase):
    open = Standing("ended_at")
    waiting = Standing("confirmed_at")

    class Meta:
        model = Waiver
        fields = ["project", "case", "redaction", "open", "waiting"]
