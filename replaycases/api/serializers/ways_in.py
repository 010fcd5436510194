"""Traces of collectors, the rules that capture some, and findings that monitors report, as JSON."""

from __future__ import annotations

from rest_framework import serializers

from replaycases.api.serializers.fields import EnumField, ScopedProjectField, SwitchField, TextField
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases.models import BufferedTrace, CaptureRule, IncidentReport, RuleKind
from replaycases.cases.texts import NAME_CAP, TITLE_CAP

TraceSerializer = row(
    "TraceSerializer",
    BufferedTrace,
    "id project trace_id service spans errors records first_at last_at ended rule capture why_not",
    "A trace of which something came. `errors` counts spans that ended with one. `ended`: its root span has. "
    "`why_not`: why no capture was made of it by a rule.",
)
CapturedTrace = shape(
    "CapturedTrace",
    "Which of the traces becomes a capture.",
    project=ScopedProjectField(),
    trace_id=serializers.RegexField(regex=r"^[0-9a-fA-F]{32}$", max_length=32),
)
RuleSerializer = row(
    "RuleSerializer",
    CaptureRule,
    "id project kind key value enabled matched matched_at created_by created_at",
    "Traces that match become captures once they are quiet. `matched` counts those that matched this rule first.",
    kind=serializers.ChoiceField(choices=RuleKind.choices, read_only=True),
)
NewRule = shape(
    "NewRule",
    "`error` needs nothing else, `attribute` a key and a value, `trace` the id of a trace as value.",
    project=ScopedProjectField(),
    kind=EnumField(RuleKind),
    key=serializers.CharField(required=False, allow_blank=True, max_length=NAME_CAP),
    value=serializers.CharField(required=False, allow_blank=True, max_length=NAME_CAP),
)
RuleChange = shape("RuleChange", enabled=SwitchField())

FindingReportSerializer = row(
    "FindingReportSerializer",
    IncidentReport,
    "id project grader version label result trace_id title reported_by reported_at case reason settled_by settled_at",
    "It waits for a responder until a case is made of it, or there is a reason not to.",
)
NewFindingReport = shape(
    "NewFindingReport",
    "What a grader or monitor found, of which trace. Put no content of the run into it.",
    project=ScopedProjectField(),
    grader=serializers.CharField(max_length=NAME_CAP),
    version=serializers.CharField(max_length=NAME_CAP),
    label=serializers.CharField(max_length=NAME_CAP),
    result=TextField(required=False, allow_blank=True),
    trace_id=serializers.CharField(max_length=NAME_CAP),
    title=serializers.CharField(max_length=TITLE_CAP, required=False, allow_blank=True),
)
CaseOfFinding = shape(
    "CaseOfFinding",
    "The failure statement of the case.",
    title=serializers.CharField(max_length=TITLE_CAP),
    incident_id=serializers.CharField(max_length=NAME_CAP),
    trigger=TextField(),
    prohibited_outcome=TextField(),
    deciding_evidence=TextField(),
)
