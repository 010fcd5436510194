"""Lanes, the stays in them, promotions of many cases, and results of lanes that were run elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.accounts.models import Scope
from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.filters import CiReportFilter, LaneEntryFilter, LaneFilter
from replaycases.api.serializers import lanes as shown
from replaycases.api.views import deeds
from replaycases.cases import lane_export, lanes
from replaycases.cases.models import Case, CiReport, Lane, LaneEntry

# Up to so many bytes an export is put together in memory.
IN_MEMORY = 16 * 1024 * 1024
CHUNK = 1024 * 1024


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk


@with_acts(
    Act(
        method="patch",
        does=lanes.set_policy,
        takes=shown.LanePolicy,
        gives=shown.LaneSerializer,
        subject="lane",
        says="What a case must show before it comes into the lane.",
    ),
)
class LaneViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Lane.objects.select_related("project")
    serializer_class = shown.LaneSerializer
    filterset_class = LaneFilter
    pagination_class = ordered("name")
    read_scopes = frozenset({Scope.READ, Scope.LANE_PULL})

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """An export is a zip, whatever the client says it takes; its errors are JSON."""
        return super().perform_content_negotiation(request, force=force or self.action == "export")

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY}, filters=False)
    @action(detail=True, pagination_class=None, read_scopes=frozenset({Scope.LANE_PULL}))
    def export(self, request: Request, pk: str) -> StreamingHttpResponse:
        """The redacted fixtures, controls and old manifests of every case in the lane at this moment, with an index of
        their digests (lane.json), as a zip. 409 if bytes of one of them are still quarantined. It is audited."""
        lane = self.get_object()
        taken = lane_export.take(self.user, lane=lane)
        spooled = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed by whoever reads it
        lane_export.write_zip(taken, spooled)
        name = f"{lane.project.key}-{lane.name}.zip"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(spooled.tell())}
        return StreamingHttpResponse(_chunks(spooled), content_type="application/zip", headers=headers)


class LaneEntryViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Stays of revisions in lanes, those that ended too."""

    queryset = LaneEntry.objects.select_related("case__project", "revision", "lane")
    serializer_class = shown.LaneEntrySerializer
    filterset_class = LaneEntryFilter
    pagination_class = ordered("-entered_at")

    @extend_schema(responses=shown.HistorySerializer, filters=False)
    @action(detail=True, pagination_class=None)
    def history(self, request: Request, pk: str) -> Response:
        """Every run of this stay, and which of them count."""
        return Response(shown.HistorySerializer(lanes.history(self.get_object())).data)


@with_acts(
    Act(
        does=deeds.preview,
        takes=shown.PreviewAsked,
        gives=shown.PreviewsSerializer,
        scope=Scope.READ,
        says="What a promotion of these cases would do now, row by row. Nothing is changed.",
    ),
)
class PromotionPreviewViewSet(ApiViewSet):
    queryset = Case.objects.all()


@with_acts(
    Act(
        does=deeds.promote_many,
        takes=shown.BulkPromotion,
        gives=shown.OutcomesSerializer,
        says="Promote each case by itself. What one fails on is said in its row and stops no other.",
    ),
)
class BulkPromotionViewSet(ApiViewSet):
    queryset = Case.objects.all()


@with_acts(
    Act(
        does=deeds.report,
        takes=shown.NewCiReport,
        gives=shown.CiReportSerializer,
        status=201,
        scope=Scope.RESULTS_PUSH,
        says="Report what a pulled lane gave elsewhere.",
    ),
)
class CiReportViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Results from elsewhere. Gates accept only runs of this deployment's own workers."""

    queryset = CiReport.objects.prefetch_related("results__revision__case__project")
    serializer_class = shown.CiReportSerializer
    filterset_class = CiReportFilter
    pagination_class = ordered("-pushed_at")
