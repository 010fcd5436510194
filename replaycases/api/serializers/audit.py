"""Audit events as JSON."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replaycases.api.serializers.shapes import row
from replaycases.cases.models import AuditEvent


@extend_schema_field({"type": "object", "additionalProperties": {}})
class TextOfJson(serializers.Field[Any, Any, Any, Any]):
    """A column that keeps JSON as text."""

    def to_representation(self, value: str) -> Any:
        return json.loads(value)


AuditEventSerializer = row(
    "AuditEventSerializer",
    AuditEvent,
    "sequence project case actor token action object_type object_id object_hash before after at prev_hash hash",
    "One thing that happened. `token` is the prefix of the token by which a program acted.",
    before=TextOfJson(read_only=True),
    after=TextOfJson(read_only=True),
)
