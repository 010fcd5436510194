"""Run sets, which are asked for, and their runs."""

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
from replaycases.api.filters import RunFilter, RunSetFilter
from replaycases.api.serializers.replays import (
    CancelledSerializer,
    NewRunSetSerializer,
    RunSerializer,
    RunSetSerializer,
    VoidingSerializer,
)
from replaycases.cases import jobs
from replaycases.cases.models import Run, RunSet


class RunSetViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """A set is declared before any of its runs, and every run of it counts."""

    queryset = RunSet.objects.select_related("project")
    serializer_class = RunSetSerializer
    filterset_class = RunSetFilter
    write_scopes = {"create": Scope.REPLAYS, "cancellation": Scope.REPLAYS}

    @extend_schema(request=NewRunSetSerializer, responses={201: RunSetSerializer})
    def create(self, request: Request) -> Response:
        """Declare `size` replays and queue them."""
        run_set = jobs.request_run_set(self.user, **self.checked(NewRunSetSerializer))
        return Response(RunSetSerializer(run_set).data, status=201)

    @extend_schema(request=None, responses=CancelledSerializer)
    @action(detail=True, methods=["post"])
    def cancellation(self, request: Request, pk: str) -> Response:
        """Cancel what has not ended; 409 if everything has."""
        cancelled = jobs.cancel(self.user, subject=self.get_object())
        if not cancelled:
            raise WrongState("Every run of this set has ended already.")
        return Response({"cancelled": cancelled})

    @extend_schema(request=VoidingSerializer, responses=RunSetSerializer)
    @action(detail=True, methods=["post"])
    def voiding(self, request: Request, pk: str) -> Response:
        """Take the set out of every verdict, with a reason that stays shown; 409 if it is out already."""
        run_set = self.get_object()
        jobs.void(self.user, run_set=run_set, **self.checked(VoidingSerializer))
        run_set.refresh_from_db()
        return Response(RunSetSerializer(run_set).data)


class RunViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Run.objects.select_related("project").defer("progress")
    serializer_class = RunSerializer
    filterset_class = RunFilter

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT}, filters=False)
    @action(detail=True, pagination_class=None)
    def manifest(self, request: Request, pk: str) -> HttpResponse:
        """The boundary manifest's exact bytes; 404 for a run that did not finish."""
        run = self.get_object()
        if run.manifest is None:
            raise Http404("This run has no manifest.")
        return self.download(run, run.manifest, f"{run.project.key}-run-{run.number}-manifest.json")
