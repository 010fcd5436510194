"""The OpenAPI description of what every route has in common: its errors."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from replaycases.api.serializers.cases import GateSerializer

READ_ERRORS = ("400", "401", "403", "404", "406", "410")
WRITE_ERRORS = (*READ_ERRORS, "409", "413", "415", "422")


class FindingSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    level = serializers.ChoiceField(choices=["error", "warning"])
    pointer = serializers.CharField(allow_blank=True, help_text="JSON Pointer (RFC 6901); empty: the whole.")
    message = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)


class ErrorSerializer(serializers.Serializer[Any]):
    """`detail` is missing where the errors are named by field."""

    detail = serializers.CharField(required=False)
    findings = FindingSerializer(many=True, required=False)
    gates = GateSerializer(many=True, required=False)


class ApiSchema(AutoSchema):
    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for code in READ_ERRORS if self.method == "GET" else WRITE_ERRORS:
            if code not in bodies:
                bodies[code] = self._get_response_for_code(ErrorSerializer, code, direction=direction)  # type: ignore[no-untyped-call]
        return bodies
