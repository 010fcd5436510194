"""Captures: recorded runs come in, are described without a word of their content, and become cases."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.accounts.models import Scope
from replaycases.api import errors
from replaycases.api.base import MULTIPART_SLACK, ApiViewSet, ordered
from replaycases.api.filters import CaptureFilter
from replaycases.api.known import require_known
from replaycases.api.parsers import LARGEST_CAPTURE, RawParser
from replaycases.api.serializers import captures as shown
from replaycases.api.serializers.cases import CaseSerializer
from replaycases.api.serializers.ways_in import CapturedTrace
from replaycases.api.views import deeds
from replaycases.cases import captures, drafts, incoming, outlines, trace_captures
from replaycases.cases.evidence import EvidenceDestroyed
from replaycases.cases.incoming import Incoming
from replaycases.cases.models import Capture, Draft, Origin
from replaycases.importers.findings import ImportRefused

# A multipart body is read first where a body is looked at: it is the one whose parts have names.
BODIES = {"multipart/form-data": shown.CaptureUpload, "application/octet-stream": OpenApiTypes.BINARY}
_NO_PARAMETER = (
    "The query takes no such parameter. What people say in words, the name and the symptom, are fields of a multipart "
    "body: addresses stand in logs."
)


class ByHeader(DefaultContentNegotiation):
    """`?format=` is the importer's, and not that of the answer."""

    settings = cast("Any", SimpleNamespace(URL_FORMAT_OVERRIDE=None))


class CaptureViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Capture.objects.select_related("project", "payload").defer("payload__body", "payload__data_key")
    serializer_class = shown.CaptureSerializer
    filterset_class = CaptureFilter
    pagination_class = ordered("-captured_at")
    content_negotiation_class = ByHeader
    read_scopes = frozenset({Scope.READ, Scope.CAPTURES})
    write_scopes = {
        "create": Scope.CAPTURES,
        "from_trace": Scope.CAPTURES,
        "choose": Scope.CASES,
        "case": Scope.CASES,
    }

    def initialize_request(self, request: Any, *args: Any, **kwargs: Any) -> Request:
        self.action = self.action_map.get(request.method.lower(), "")  # parsers are asked for before DRF says it
        return super().initialize_request(request, *args, **kwargs)

    def get_parsers(self) -> list[BaseParser]:
        return [MultiPartParser(), RawParser()] if self.action == "create" else super().get_parsers()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if (incoming.announced(request.META) or 0) > LARGEST_CAPTURE + MULTIPART_SLACK:
            raise errors.BodyTooLarge

    @extend_schema(
        request=BODIES,
        parameters=[shown.NewCapture],
        responses={201: shown.CaptureSerializer, 200: shown.CaptureSerializer},
        filters=False,
    )
    def create(self, request: Request) -> Response:
        """Send a file with recorded runs: as `file` of a multipart body with the rest as its fields, or as the body
        with ids and numbers in the query. The same bytes are one capture, answered as it is with 200. 422 with the
        finding where no importer reads it; 400 for a part that is none, or that an address is no place for."""
        data = cast("Any", request.data).get("file")
        if data is None and not str(request.content_type).startswith("multipart/"):
            data = incoming.received((), most=0)  # a body without a byte in it comes to no parser
        if isinstance(data, Incoming):
            require_known(request.query_params, shown.NewCapture().fields, _NO_PARAMETER)
            said = self._shaped(shown.NewCapture, request.query_params.dict())
        else:
            require_known(request.query_params, (), "Send it as a field of the multipart body.")
            said = self.checked(shown.CaptureUpload)
            data = incoming.held(said.pop("file"))
        if data.size > LARGEST_CAPTURE:
            raise errors.BodyTooLarge
        begun = timezone.now()
        capture = captures.bring(self.user, data=data, origin=Origin.API, **said)
        return Response(shown.CaptureSerializer(capture).data, status=200 if capture.captured_at < begun else 201)

    @extend_schema(request=CapturedTrace, responses={201: shown.CaptureSerializer}, filters=False)
    @action(detail=False, methods=["post"], url_path="from-trace", pagination_class=None)
    def from_trace(self, request: Request) -> Response:
        """Make a capture of what a collector sent of one trace so far; 400 where nothing of it is kept, 409 while more
        of it comes all the time."""
        capture = trace_captures.capture_trace(self.user, **self.checked(CapturedTrace))
        return Response(shown.CaptureSerializer(capture).data, status=201)

    @extend_schema(
        parameters=[OpenApiParameter("run", OpenApiTypes.INT, description="Which run's report, from 0.")],
        responses=shown.CaptureInFullSerializer,
        filters=False,
    )
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What is known of the capture, with the completeness report of one run, and no content."""
        capture = self.get_object()
        run = request.query_params.get("run", "0")
        if not (run.isascii() and run.isdigit() and len(run) < 10):
            raise ValidationError({"run": ["Say a whole number from 0."]})
        capture.report, capture.refused = None, None
        if capture.purged_at is None:
            try:
                capture.report = outlines.of_run(capture, int(run)).report
            except ImportRefused as refusal:
                capture.refused = refusal.finding
            except EvidenceDestroyed:
                pass  # its time is over, and it is purged in a moment
        return Response(shown.CaptureInFullSerializer(capture).data)

    @extend_schema(responses=shown.RunHeadsSerializer, filters=False)
    @action(detail=True, pagination_class=None)
    def runs(self, request: Request, pk: str) -> Response:
        """The runs of the file, in its order."""
        return Response(shown.RunHeadsSerializer({"runs": outlines.heads(self.get_object())}).data)

    @extend_schema(responses=shown.DraftInFullSerializer, filters=False, operation_id="captures_runs_draft_retrieve")
    @action(detail=True, url_path="runs/<int:run>/draft", pagination_class=None)
    def draft(self, request: Request, pk: str, run: int) -> Response:
        """What was chosen of the run so far; 404 while nothing was."""
        draft = self._draft(run)
        return Response(shown.DraftInFullSerializer(draft, context=self.get_serializer_context()).data)

    @extend_schema(request=shown.NewDraft, responses=shown.DraftSerializer, filters=False)
    @draft.mapping.put
    def choose(self, request: Request, pk: str, run: int) -> Response:
        """Keep what was chosen of the run, in place of what was before."""
        capture = self.get_object()
        choices = self.checked(shown.NewDraft)["choices"]
        return Response(shown.DraftSerializer(drafts.save(self.user, capture=capture, run=run, choices=choices)).data)

    @extend_schema(request=shown.CaseOfRun, responses={201: CaseSerializer}, filters=False)
    @action(detail=True, methods=["post"], url_path="runs/<int:run>/case", pagination_class=None)
    def case(self, request: Request, pk: str, run: int) -> Response:
        """Make a case of the run with what was chosen; 409 if one was made already."""
        draft = self._draft(run)
        case = deeds.case_of_run(self.user, draft=draft, **self.checked(shown.CaseOfRun))
        return Response(CaseSerializer(case).data, status=201)

    def _draft(self, run: int) -> Draft:
        capture = self.get_object()
        draft = drafts.of_run(capture, run) if run < capture.runs else None
        if draft is None:
            raise Http404("Nothing was chosen of this run yet.")
        return draft

    def _shaped(self, shape: type[Any], said: dict[str, Any]) -> dict[str, Any]:
        serializer = shape(data=said, context=self.get_serializer_context())
        serializer.is_valid(raise_exception=True)
        checked: dict[str, Any] = serializer.validated_data
        return checked
