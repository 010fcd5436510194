"""The home page as JSON: what needs the person."""

from __future__ import annotations

from rest_framework import serializers

from replaycases.api.serializers.people import NotificationSerializer
from replaycases.api.serializers.reviewing import ProposalSerializer
from replaycases.api.serializers.shapes import shape
from replaycases.api.serializers.ways_in import FindingReportSerializer

NeededCase = shape(
    "NeededCase",
    readable_id=serializers.CharField(read_only=True),
    title=serializers.CharField(read_only=True),
    stage=serializers.CharField(read_only=True),
    stage_since=serializers.DateTimeField(read_only=True),
    lane=serializers.CharField(read_only=True, allow_blank=True),
    expires_at=serializers.DateTimeField(read_only=True, allow_null=True),
    revision=serializers.IntegerField(read_only=True, allow_null=True),
    own_work=serializers.BooleanField(read_only=True),
    why=serializers.CharField(read_only=True, allow_blank=True),
)
NeededCapture = shape(
    "NeededCapture",
    "A capture without a case. `begun`: the person began a draft; else it ends soon.",
    readable_id=serializers.CharField(read_only=True),
    format=serializers.CharField(read_only=True),
    runs=serializers.IntegerField(read_only=True),
    name=serializers.CharField(read_only=True, allow_blank=True),
    trace_id=serializers.CharField(read_only=True, allow_blank=True),
    expires_at=serializers.DateTimeField(read_only=True),
    begun=serializers.BooleanField(read_only=True),
)
TallySerializer = shape(
    "TallySerializer",
    stage=serializers.CharField(read_only=True),
    lane=serializers.CharField(read_only=True, allow_blank=True),
    cases=serializers.IntegerField(read_only=True),
    since=serializers.DateTimeField(read_only=True),
    ending=serializers.IntegerField(read_only=True),
    flagged=serializers.IntegerField(read_only=True),
    ready=serializers.IntegerField(read_only=True),
)
NeedsSerializer = shape(
    "NeedsSerializer",
    "`lists` has a section for each kind of review that one of the person's roles makes, an empty one too.",
    count=serializers.IntegerField(read_only=True),
    unread=serializers.IntegerField(read_only=True),
    lists=serializers.DictField(child=NeededCase(many=True), read_only=True),
    proposals=ProposalSerializer(many=True, read_only=True, allow_null=True),
    findings=FindingReportSerializer(many=True, read_only=True, allow_null=True),
    captures=NeededCapture(many=True, read_only=True, allow_null=True),
    changed=NotificationSerializer(many=True, read_only=True),
    tallies=TallySerializer(many=True, read_only=True),
)
