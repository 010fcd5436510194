"""Captures, their runs, what they hold, and drafts, as JSON. None of it holds what was said in a run."""

from __future__ import annotations

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replaycases.accounts.models import User
from replaycases.api.schema import FindingSerializer
from replaycases.api.serializers.cases import MOST_DAYS, OwnerChange
from replaycases.api.serializers.fields import ScopedField, ScopedProjectField, TextField
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases import drafts
from replaycases.cases.models import Capture, Draft, IncidentReport, Origin
from replaycases.cases.texts import NAME_CAP, TITLE_CAP
from replaycases.importers.completeness import Mode, State
from replaycases.importers.neutral import Boundary, NoteKind

CAPTURED = (
    "id readable_id project origin format runs name trace_id symptom digest size captured_by on_behalf_of "
    "captured_at expires_at purged_at"
)


def _captured() -> dict[str, Any]:
    return {
        "origin": serializers.ChoiceField(choices=Origin.choices, read_only=True),
        "digest": serializers.CharField(source="payload.digest", read_only=True),
        "size": serializers.IntegerField(source="payload.size", read_only=True),
    }


CaptureSerializer = row(
    "CaptureSerializer",
    Capture,
    CAPTURED,
    "A file with recorded runs. Its bytes are raw evidence, destroyed at `expires_at`.",
    **_captured(),
)

CoverageSerializer = shape(
    "CoverageSerializer",
    "One boundary: how many of its steps are whole, how many lack something, and what that costs.",
    boundary=serializers.ChoiceField(choices=get_args(Boundary)),
    state=serializers.ChoiceField(choices=get_args(State)),
    recorded=serializers.IntegerField(),
    lacking=serializers.IntegerField(),
    cost=serializers.CharField(allow_blank=True),
)
RunNoteSerializer = shape(
    "RunNoteSerializer",
    "What a reader must know about one place of the file.",
    kind=serializers.ChoiceField(choices=get_args(NoteKind)),
    source=serializers.CharField(allow_blank=True, help_text="JSON Pointer into the file."),
    text=serializers.CharField(),
    cost=serializers.CharField(allow_blank=True),
    boundary=serializers.ChoiceField(choices=get_args(Boundary), allow_null=True),
)
GapSerializer = shape(
    "GapSerializer",
    "A part that the recording lacks, and what that costs. `caps`: without it a pair is at best a compatible pass; "
    "`declared`: a person supplied it.",
    name=serializers.CharField(),
    cost=serializers.CharField(),
    caps=serializers.BooleanField(),
    declared=serializers.BooleanField(),
)
RecordGapSerializer = shape(
    "RecordGapSerializer",
    "Parts of the run record that nobody stated, by what they are about, and what that costs. It caps no comparison.",
    name=serializers.CharField(),
    cost=serializers.CharField(),
)
ReportSerializer = shape(
    "ReportSerializer",
    "What a run holds and lacks. `mode`: replay of all of it, of a prefix of `replayable` steps, or reading only.",
    coverage=CoverageSerializer(many=True),
    notes=RunNoteSerializer(many=True),
    gaps=GapSerializer(many=True),
    record=RecordGapSerializer(many=True),
    mode=serializers.ChoiceField(choices=get_args(Mode)),
    replayable=serializers.IntegerField(),
    why=serializers.CharField(),
)
CaptureInFullSerializer = row(
    "CaptureInFullSerializer",
    Capture,
    f"{CAPTURED} report refused",
    "With the completeness report of one run: `?run=`, 0 without it. No `report` where the capture is destroyed, or "
    "its importer refuses the run: `refused` says why.",
    **_captured(),
    report=ReportSerializer(allow_null=True, read_only=True),
    refused=FindingSerializer(allow_null=True, read_only=True),
)
RunHeadSerializer = shape(
    "RunHeadSerializer",
    "One run of the file: its place from 0, and what the file calls it.",
    index=serializers.IntegerField(),
    label=serializers.CharField(),
    source=serializers.CharField(allow_blank=True),
    started_at=serializers.CharField(allow_null=True),
)
RunHeadsSerializer = shape("RunHeadsSerializer", runs=RunHeadSerializer(many=True))


@extend_schema_field({"type": "object", "additionalProperties": {}})
class ChoicesField(serializers.Field[Any, Any, Any, Any]):
    """Parts of what a person supplies, by name (docs/importing.md)."""

    default_error_messages = {"not_an_object": "Send an object with parts by name."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("not_an_object")
        return data


NewDraft = shape("NewDraft", "What was chosen, in place of what was before.", choices=ChoicesField())
DraftSerializer = row(
    "DraftSerializer",
    Draft,
    "id capture run digest edited_by edited_at case",
    "Who chose last, when, and what case came of it. `digest` names the choices: making a case of them asks for it.",
    digest=serializers.CharField(source="choices.digest", read_only=True),
)


class DraftInFullSerializer(DraftSerializer):  # type: ignore[misc,valid-type] # a class that `row` made
    """`choices` may quote the evidence: null for a program, and for who may not read raw evidence."""

    choices = serializers.SerializerMethodField()

    class Meta(DraftSerializer.Meta):  # type: ignore[name-defined,misc]
        fields = [*DraftSerializer.Meta.fields, "choices"]
        read_only_fields = fields

    @extend_schema_field({"type": "object", "additionalProperties": {}, "nullable": True})
    def get_choices(self, draft: Draft) -> Any:
        return drafts.choices_shown_to(self.context["request"].user, draft)


def _said() -> dict[str, Any]:
    """What may stand in an address, which is written into logs: ids and numbers, and no words of a person."""
    return {
        "project": ScopedProjectField(help_text="The project's key."),
        "format": serializers.CharField(required=False, help_text="An importer's name; found by content without it."),
        "trace_id": serializers.CharField(required=False, max_length=NAME_CAP),
        "on_behalf_of": ScopedField(queryset=User.objects.all(), required=False, help_text="Who asked for it."),
        "evidence_days": serializers.IntegerField(required=False, min_value=1, max_value=MOST_DAYS),
    }


NewCapture = shape("NewCapture", "What is said of a file that is the body.", **_said())
CaptureUpload = shape(
    "CaptureUpload",
    "The file and what is said of it.",
    file=serializers.FileField(),
    name=serializers.CharField(required=False, max_length=NAME_CAP, help_text="What the file is called."),
    symptom=TextField(required=False, help_text="What was reported."),
    **_said(),
)
CaseOfRun = shape(
    "CaseOfRun",
    "The failure statement of the case, and what its author looked at.",
    seen=serializers.CharField(max_length=NAME_CAP, help_text="The draft's `digest`: other choices are refused."),
    despite=TextField(
        required=False,
        help_text="Why the case is made although the recorded run does not break what is said to be the incident.",
    ),
    title=serializers.CharField(max_length=TITLE_CAP),
    trigger=TextField(),
    prohibited_outcome=TextField(),
    deciding_evidence=TextField(),
    security_incident=serializers.BooleanField(required=False),
    findings=serializers.ListField(child=ScopedField(queryset=IncidentReport.objects.all()), required=False),
    owners=OwnerChange(many=True, required=False),
    trace_id=serializers.CharField(
        required=False,
        max_length=NAME_CAP,
        help_text="Where the capture names none; if there never was one, say so.",
    ),
)
