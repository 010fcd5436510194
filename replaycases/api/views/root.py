"""Where the API begins: its resources, and its description."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from replaycases.api.authentication import TokenAuthentication
from replaycases.api.schema import ApiSchema
from replaycases.api.serializers.shapes import shape

Root = shape(
    "Root",
    schema=serializers.URLField(read_only=True),
    resources=serializers.DictField(child=serializers.URLField(), read_only=True),
)


class RootView(APIView):
    resources: tuple[str, ...] = ()
    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [IsAuthenticated]
    schema = ApiSchema()

    @extend_schema(responses=Root, operation_id="root_retrieve")
    def get(self, request: Request) -> Response:
        """The address of every resource, and of the OpenAPI document that describes them."""
        start = request.build_absolute_uri(request.path)
        resources = {noun: f"{start}{noun}/" for noun in self.resources}
        return Response({"schema": reverse("api:schema", request=request), "resources": resources})


class UnknownView(APIView):
    """Any other address: 404, as JSON."""

    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [IsAuthenticated]
    schema = None

    def http_method_not_allowed(self, *args: Any, **kwargs: Any) -> Response:
        raise NotFound


class SchemaView(SpectacularAPIView):
    """The OpenAPI document."""

    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [IsAuthenticated]
