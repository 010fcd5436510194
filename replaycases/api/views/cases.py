"""Cases and their fixture revisions."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.api.base import ApiViewSet
from replaycases.api.filters import CaseFilter, RevisionFilter
from replaycases.api.serializers import CaseSerializer, NewCaseSerializer, RevisionSerializer
from replaycases.cases import intake
from replaycases.cases.models import Case, FixtureRevision


class CaseViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Case.objects.select_related("project")
    serializer_class = CaseSerializer
    filterset_class = CaseFilter

    @extend_schema(request=NewCaseSerializer, responses={201: CaseSerializer})
    def create(self, request: Request) -> Response:
        """Open a case with its first fixture. 422 with findings for a fixture that is not valid."""
        said = self.checked(NewCaseSerializer)
        case = intake.create_case(self.user, **{"detect": None, **said})
        return Response(CaseSerializer(case).data, status=201)


class RevisionViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Revisions are immutable. The first one comes with its case."""

    queryset = FixtureRevision.objects.select_related("payload__project", "case__project").defer("payload__body")
    serializer_class = RevisionSerializer
    filterset_class = RevisionFilter

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT}, filters=False)
    @action(detail=True, pagination_class=None)
    def document(self, request: Request, pk: str) -> HttpResponse:
        """The fixture's exact bytes, as an attachment."""
        revision = self.get_object()
        return self.download(revision, revision.payload, f"{revision.case.readable_id}-revision-{revision.number}.json")
