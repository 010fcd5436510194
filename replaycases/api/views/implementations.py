"""Implementations: the versions that can be replayed."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.accounts.models import Scope
from replaycases.api.base import ApiViewSet
from replaycases.api.filters import ImplementationFilter
from replaycases.api.serializers.replays import ImplementationSerializer, NewImplementationSerializer
from replaycases.cases import registry
from replaycases.cases.models import Implementation


class ImplementationViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Implementation.objects.select_related("project")
    serializer_class = ImplementationSerializer
    filterset_class = ImplementationFilter
    write_scopes = {"create": Scope.REPLAYS}
    parser_classes = [MultiPartParser]

    @extend_schema(request=NewImplementationSerializer, responses={201: ImplementationSerializer})
    def create(self, request: Request) -> Response:
        """Register an uploaded archive. The same code under the same name and version is registered once."""
        said = self.checked(NewImplementationSerializer)
        implementation = registry.register_archive(
            self.user, project=said["project"], archive=said["archive"].read(), spec_path=said["spec_path"]
        )
        return Response(ImplementationSerializer(implementation).data, status=201)
