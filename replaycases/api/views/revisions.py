"""Fixture revisions, the controls beside them, and comments on them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.accounts.models import Scope
from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.filters import CommentFilter, ControlFilter, RevisionFilter
from replaycases.api.serializers import cases as shown
from replaycases.api.serializers import reviewing
from replaycases.cases import comments, decisions, exports, fixtures, intake, lifecycle, reading
from replaycases.cases.models import Control, DecisionKind, FixtureRevision, ReviewComment
from replaycases.fixture.difference import differences
from replaycases.fixture.pointer import ABSENT

SINCE = "A number. Left out: the last revision whose redaction was approved, or the one before."


@with_acts(
    Act(
        does=intake.add_revision,
        takes=shown.NewRevision,
        gives=shown.RevisionSerializer,
        status=201,
        scope=Scope.CASES,
        says="Add a revision, which becomes the case's current one. Changed content voids every approval for good. 409 "
        "if another revision is current than the one that was seen, 422 with findings for a fixture that is not valid.",
    ),
)
class RevisionViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Revisions are immutable."""

    queryset = FixtureRevision.objects.select_related("payload__project", "detect", "case__project").defer(
        "payload__body", "detect__body"
    )
    serializer_class = shown.RevisionSerializer
    filterset_class = RevisionFilter

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT}, filters=False)
    @action(detail=True, pagination_class=None)
    def document(self, request: Request, pk: str) -> HttpResponse:
        """The fixture's exact bytes, as an attachment. 409 for redacted evidence in which a finding is open."""
        revision = self.get_object()
        exports.require(revision)
        return self.download(revision, revision.payload, f"{revision.case.readable_id}-revision-{revision.number}.json")

    @extend_schema(
        responses=reviewing.DifferencesSerializer,
        parameters=[OpenApiParameter("since", int, required=False, description=SINCE)],
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def differences(self, request: Request, pk: str) -> Response:
        """What changed since an earlier revision of the case, place by place."""
        after: FixtureRevision = self.get_object()
        before = self._earlier(after)
        for revision in (before, after):
            reading.require_open(revision, self.user)
        found = differences(fixtures.of_revision(before).document, fixtures.of_revision(after).document)
        rows = [{name: _or_null(getattr(one, name)) for name in DIFFERENCE} for one in found]
        shown_as = {
            "before": before.pk,
            "after": after.pk,
            "approved": decisions.was_approved(before, DecisionKind.REDACTION),
            "differences": rows,
        }
        return Response(reviewing.DifferencesSerializer(shown_as).data)

    def _earlier(self, after: FixtureRevision) -> FixtureRevision:
        number = self.request.query_params.get("since")
        if number is None:
            approval = decisions.last_approval(self.user, after, DecisionKind.REDACTION)
            number = str(approval.revision.number if approval else after.number - 1)
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise ValidationError({"since": ["Say the number of a revision."]})
        before = FixtureRevision.objects.filter(case=after.case, number=int(number)).first()
        if before is None:
            raise ValidationError({"since": [f"The case has no revision {number}."]})
        return before


DIFFERENCE = ("pointer", "old_pointer", "kind", "old", "new")


def _or_null(value: Any) -> Any:
    return None if value is ABSENT else value


@with_acts(
    Act(
        does=intake.add_control,
        takes=shown.NewControl,
        gives=shown.ControlSerializer,
        status=201,
        scope=Scope.CASES,
        says="Add a control. Verdicts on its revision are cleared until it was replayed too. 422 with findings for a "
        "fixture that is not valid or a mutation that does not fit it; 409 for a closed case, and for one whose "
        "current revision is not `seen_revision`.",
    ),
    Act(
        noun="decisions",
        does=lifecycle.approve_control,
        takes=reviewing.ControlDecision,
        gives=reviewing.DecisionSerializer,
        subject="control",
        status=201,
        says="Approve exactly this control: its bytes hold nothing that must be redacted.",
    ),
)
class ControlViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Neighbouring cases of a revision, which the new version must pass. Controls are immutable."""

    queryset = Control.objects.select_related("payload", "revision__case__project").defer("payload__body")
    serializer_class = shown.ControlSerializer
    filterset_class = ControlFilter
    pagination_class = ordered("name")


@with_acts(
    Act(
        does=comments.add,
        takes=reviewing.NewComment,
        gives=reviewing.CommentSerializer,
        status=201,
        scope=Scope.CASES,
        says="Say something about one place of a revision.",
    ),
    Act(
        noun="resolution",
        does=comments.resolve,
        takes=reviewing.Resolution,
        gives=reviewing.CommentSerializer,
        subject="comment",
        says="Say how it was resolved; its author may withdraw it without a word.",
    ),
)
class CommentViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Comments of quarantined evidence are shown only to those who may read it and have said why they need to."""

    queryset = ReviewComment.objects.select_related(
        "revision__case__project", "revision__payload", "revision__detect"
    ).defer("revision__payload__body", "revision__detect__body")
    serializer_class = reviewing.CommentSerializer
    filterset_class = CommentFilter
    pagination_class = ordered("-created_at")
