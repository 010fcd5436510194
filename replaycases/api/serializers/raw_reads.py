"""Raw reads as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from replaycases.api.serializers.fields import ScopedField
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases.models import Capture, Case, RawRead
from replaycases.cases.raw_reads import REASON_CAP

RawReadSerializer = row(
    "RawReadSerializer",
    RawRead,
    "id user project case capture reason made_at until",
    "Why somebody read raw evidence of a case or a capture, and until when it was open to them.",
)
_RawReadParts = shape(
    "RawReadParts",
    case=ScopedField(queryset=Case.objects.select_related("project"), required=False),
    capture=ScopedField(
        queryset=Capture.objects.select_related("project", "payload").defer("payload__body"), required=False
    ),
    reason=serializers.CharField(max_length=REASON_CAP),
)


class NewRawRead(_RawReadParts):  # type: ignore[misc,valid-type]
    """Of a case or of a capture. The reason stands in the audit log, for everyone."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("case" in attrs) == ("capture" in attrs):
            raise serializers.ValidationError({"detail": "Name a case or a capture."})
        return attrs
