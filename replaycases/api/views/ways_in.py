"""Traces that collectors sent, the rules that capture some of them, and findings that monitors report."""

from __future__ import annotations

from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from replaycases.accounts.models import Scope
from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.filters import FindingFilter, RuleFilter, TraceFilter
from replaycases.api.serializers import ways_in as shown
from replaycases.api.serializers.cases import CaseSerializer
from replaycases.api.serializers.reviewing import Reason
from replaycases.cases import capture_rules, incident_reports
from replaycases.cases.models import BufferedTrace, CaptureRule, IncidentReport


class TraceViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """What the receiver keeps for now. `POST captures/from-trace/` makes a capture of one."""

    queryset = BufferedTrace.objects.select_related("project")
    serializer_class = shown.TraceSerializer
    filterset_class = TraceFilter
    pagination_class = ordered("-first_at")
    read_scopes = frozenset({Scope.READ, Scope.CAPTURES})


@with_acts(
    Act(
        does=capture_rules.add,
        takes=shown.NewRule,
        gives=shown.RuleSerializer,
        status=201,
        says="Add a rule, as administrator. One that is there is switched on.",
    ),
    Act(
        method="patch",
        does=capture_rules.set_enabled,
        takes=shown.RuleChange,
        gives=shown.RuleSerializer,
        subject="rule",
        says="Switch a rule on or off, as administrator.",
    ),
)
class RuleViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = CaptureRule.objects.select_related("project")
    serializer_class = shown.RuleSerializer
    filterset_class = RuleFilter


@with_acts(
    Act(
        does=incident_reports.report,
        takes=shown.NewFindingReport,
        gives=shown.FindingReportSerializer,
        status=201,
        scope=Scope.CAPTURES,
        says="Report a finding. The same grader's same label of the same trace is one report, answered as it is.",
    ),
    Act(
        noun="dismissal",
        does=incident_reports.dismiss,
        takes=Reason,
        gives=shown.FindingReportSerializer,
        subject="incident_report",
        says="No case is made of it, for this reason.",
    ),
    Act(
        noun="case",
        does=incident_reports.take,
        takes=shown.CaseOfFinding,
        gives=CaseSerializer,
        subject="incident_report",
        status=201,
        says="Open a case of it, without a fixture; it keeps the finding as a grader's.",
    ),
)
class FindingViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = IncidentReport.objects.select_related("project")
    serializer_class = shown.FindingReportSerializer
    filterset_class = FindingFilter
    pagination_class = ordered("-reported_at")
    read_scopes = frozenset({Scope.READ, Scope.CAPTURES})
