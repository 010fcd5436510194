"""Cases, their fixture revisions, and the controls beside these."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.api.base import ApiViewSet, ByName
from replaycases.api.filters import CaseFilter, ControlFilter, RevisionFilter
from replaycases.api.serializers import (
    CaseSerializer,
    ControlSerializer,
    NewCaseSerializer,
    NewControlSerializer,
    RevisionSerializer,
)
from replaycases.cases import intake
from replaycases.cases.models import Case, Control, FixtureRevision


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


class ControlViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Neighbouring cases of a revision, which the new version must pass. Controls are immutable."""

    queryset = Control.objects.select_related("payload").defer("payload__body")
    serializer_class = ControlSerializer
    filterset_class = ControlFilter
    pagination_class = ByName

    @extend_schema(request=NewControlSerializer, responses={201: ControlSerializer})
    def create(self, request: Request) -> Response:
        """Add a control. Verdicts on its revision are cleared until it was replayed too. 422 with findings for a
        fixture that is not valid or a mutation that does not fit it; 409 for a closed case."""
        said = self.checked(NewControlSerializer)
        control = intake.add_control(self.user, **said)
        return Response(ControlSerializer(control).data, status=201)
