"""Comparisons of an old with a new implementation."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.accounts.models import Scope
from replaycases.api.base import ApiViewSet
from replaycases.api.errors import WrongState
from replaycases.api.filters import ComparisonFilter
from replaycases.api.serializers.replays import CancelledSerializer, ComparisonSerializer, NewComparisonSerializer
from replaycases.cases import jobs
from replaycases.cases.models import Comparison


class ComparisonViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Comparison.objects.select_related("project", "revision")
    serializer_class = ComparisonSerializer
    filterset_class = ComparisonFilter
    write_scopes = {"create": Scope.REPLAYS, "cancellation": Scope.REPLAYS}

    @extend_schema(request=NewComparisonSerializer, responses={201: ComparisonSerializer})
    def create(self, request: Request) -> Response:
        """Ask for replays of both sides, and of the controls on the new one."""
        comparison = jobs.request_comparison(self.user, **self.checked(NewComparisonSerializer))
        return Response(ComparisonSerializer(comparison).data, status=201)

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT}, filters=False)
    @action(detail=True, pagination_class=None)
    def document(self, request: Request, pk: str) -> HttpResponse:
        """The verdict as JSON; 404 while there is none."""
        comparison = self.get_object()
        if comparison.document is None:
            raise Http404("There is no verdict yet.")
        name = f"{comparison.project.key}-comparison-{comparison.number}.json"
        return self.download(comparison, comparison.document, name)

    @extend_schema(request=None, responses=CancelledSerializer)
    @action(detail=True, methods=["post"])
    def cancellation(self, request: Request, pk: str) -> Response:
        """Cancel the runs that this comparison asked for and that have not ended; 409 if all have. Runs that others
        asked for go on, also where this comparison reads them."""
        cancelled = jobs.cancel(self.user, subject=self.get_object())
        if not cancelled:
            raise WrongState("Every run that this comparison asked for has ended already.")
        return Response({"cancelled": cancelled})
