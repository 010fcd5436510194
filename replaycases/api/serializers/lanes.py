"""Lanes, their entries and histories, promotions, and CI reports as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from replaycases.api.serializers.cases import CaseSerializer, GateSerializer
from replaycases.api.serializers.fields import DigestField, EnumField, ScopedField, ScopedProjectField, TextField
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases.declaring import MAX_SET_SIZE
from replaycases.cases.lane_history import History
from replaycases.cases.lanes import MOST_AT_ONCE
from replaycases.cases.models import Case, CiReport, CiResult, Lane, LaneEntry, LaneName, LeftBy
from replaycases.verdict.labels import Label

LaneSerializer = row(
    "LaneSerializer",
    Lane,
    "id project name repeated_runs minimum_history",
    "A suite and what it asks of a case before it comes in.",
    name=serializers.ChoiceField(choices=LaneName.choices, read_only=True),
)
LanePolicy = shape(
    "LanePolicy",
    repeated_runs=serializers.IntegerField(min_value=2, max_value=100),
    minimum_history=serializers.IntegerField(min_value=2, max_value=1000),
)
LaneEntrySerializer = row(
    "LaneEntrySerializer",
    LaneEntry,
    "id lane case revision note demotion entered_by entered_at left_at left_by",
    "A revision's stay in a lane, which goes on while `left_at` is null.",
    left_by=serializers.ChoiceField(choices=LeftBy.choices, read_only=True, allow_blank=True),
)
Promotion = shape(
    "Promotion",
    "For the fixture that was seen.",
    lane=EnumField(LaneName),
    fixture_hash=DigestField(),
    note=TextField(required=False, allow_blank=True, default=""),
)
HistoryRuns = shape("HistoryRuns", runs=serializers.IntegerField(min_value=1, max_value=MAX_SET_SIZE))


class HistoryRunSerializer(serializers.Serializer[Any]):
    """`why_not_counted` is empty for a run that counts."""

    id = serializers.UUIDField(read_only=True)
    number = serializers.IntegerField(read_only=True)
    state = serializers.CharField(read_only=True)
    status = serializers.CharField(read_only=True, allow_blank=True)
    boundary_passed = serializers.BooleanField(read_only=True, allow_null=True)
    why_not_counted = serializers.SerializerMethodField()

    def get_why_not_counted(self, run: Any) -> str:
        return str(self.context["uncounted"].get(run.pk, ""))


class HistorySerializer(serializers.Serializer[Any]):
    """What a promotion to blocking asks of the lane: every attempt is shown, also those that do not count."""

    runs = serializers.SerializerMethodField()
    counted = serializers.IntegerField(read_only=True)
    needed = serializers.IntegerField(read_only=True)
    missing = serializers.IntegerField(read_only=True)
    outstanding = serializers.IntegerField(read_only=True)

    def get_runs(self, history: History) -> HistoryRunSerializer(many=True):  # type: ignore[valid-type]
        shown = HistoryRunSerializer(history.runs, many=True, context={"uncounted": history.uncounted})
        return shown.data


_LANE = EnumField(LaneName)
_CASE = ScopedField(queryset=Case.objects.select_related("project", "current_revision"))
PreviewAsked = shape(
    "PreviewAsked",
    lane=_LANE,
    cases=serializers.ListField(child=_CASE, min_length=1, max_length=MOST_AT_ONCE),
)
PreviewSerializer = shape(
    "PreviewSerializer",
    "What a promotion would do to this case now, and why it would stay.",
    case=CaseSerializer(read_only=True),
    gates=GateSerializer(many=True, read_only=True),
    will_move=serializers.BooleanField(read_only=True),
    why=serializers.CharField(read_only=True, allow_blank=True),
)
PreviewsSerializer = shape("PreviewsSerializer", previews=PreviewSerializer(many=True, read_only=True))
Chosen = shape("Chosen", "A case and its fixture as it was seen.", case=_CASE, fixture_hash=DigestField())
BulkPromotion = shape(
    "BulkPromotion",
    "Each case is promoted by itself.",
    lane=_LANE,
    chosen=serializers.ListField(child=Chosen(), min_length=1, max_length=MOST_AT_ONCE),
    note=TextField(required=False, allow_blank=True, default=""),
)
OutcomeSerializer = shape(
    "OutcomeSerializer",
    "What became of this case, and why it stayed.",
    case=serializers.UUIDField(read_only=True, source="case.pk"),
    moved=serializers.BooleanField(read_only=True),
    why=serializers.CharField(read_only=True, allow_blank=True),
)
OutcomesSerializer = shape("OutcomesSerializer", outcomes=OutcomeSerializer(many=True, read_only=True))

CiResultSerializer = row(
    "CiResultSerializer",
    CiResult,
    "readable_id revision label reason",
    "`label` is empty where there was no result.",
    readable_id=serializers.CharField(source="revision.case.readable_id", read_only=True),
)
CiReportSerializer = row(
    "CiReportSerializer",
    CiReport,
    "id lane lane_digest implementation_name implementation_version implementation_commit implementation_digest "
    "exit_code build_url digest pushed_by pushed_at results",
    "A lane that was run elsewhere, as that place says. No gate reads it.",
    results=CiResultSerializer(many=True, read_only=True),
    build_url=serializers.CharField(read_only=True, allow_blank=True),
)
ReportedImplementation = shape(
    "ReportedImplementation",
    name=serializers.CharField(max_length=200),
    version=serializers.CharField(max_length=200),
    commit=serializers.CharField(max_length=200, allow_blank=True),
    digest=DigestField(),
)
ReportedCase = shape(
    "ReportedCase",
    readable_id=serializers.CharField(max_length=30),
    fixture_hash=DigestField(),
    label=serializers.ChoiceField(choices=[label.value for label in Label], allow_blank=True),
    reason=serializers.CharField(max_length=20_000, required=False, allow_blank=True, default=""),
)
NewCiReport = shape(
    "NewCiReport",
    "The same report is kept once. A lane digest or a case that this server did not give out is refused (422).",
    project=ScopedProjectField(),
    lane=_LANE,
    lane_digest=DigestField(),
    implementation=ReportedImplementation(),
    exit_code=serializers.IntegerField(min_value=0, max_value=255),
    build_url=serializers.URLField(max_length=500, required=False, allow_blank=True, default=""),
    results=ReportedCase(many=True),
)
