"""Cases: what they are, what can be done with them, and every step of their way."""

from __future__ import annotations

from typing import Any, cast, get_args

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.accounts.models import Scope
from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet
from replaycases.api.filters import CaseFilter
from replaycases.api.serializers import cases as shown
from replaycases.api.serializers import redactions, reviewing
from replaycases.api.serializers.lanes import HistoryRuns, LaneEntrySerializer, Promotion
from replaycases.api.serializers.replays import RunSetSerializer
from replaycases.api.views import deeds
from replaycases.cases import dependency, details, flags, gates, intake, lanes, lifecycle, redacting
from replaycases.cases.available import available_actions
from replaycases.cases.models import Case

TARGETS = get_args(gates.Target)


def _on_case(noun: str, does: Any, takes: Any, says: str, **more: Any) -> Act:
    return Act(noun=noun, does=does, takes=takes, says=says, subject="case", **{"gives": shown.CaseSerializer, **more})


@with_acts(
    Act(
        does=intake.create_case,
        takes=shown.NewCase,
        gives=shown.CaseSerializer,
        status=201,
        scope=Scope.CASES,
        says="Open a case, with its first fixture or without one. 422 with findings for a fixture that is not valid.",
    ),
    Act(
        method="patch",
        does=deeds.edit_statement,
        takes=shown.StatementChange,
        gives=shown.CaseInFullSerializer,
        subject="case",
        scope=Scope.CASES,
        says="State the failure anew. An approved expectation is void if one of the three parts changed.",
    ),
    _on_case(
        "provenance",
        deeds.edit_provenance,
        shown.ProvenanceChange,
        "Links, affected and fixed version, covering test.",
        method="patch",
        scope=Scope.CASES,
        gives=shown.ProvenanceSerializer,
    ),
    _on_case(
        "owners",
        deeds.set_owners,
        shown.OwnerChanges,
        "Name who answers for boundaries.",
        method="patch",
        scope=Scope.CASES,
        gives=shown.OwnersSerializer,
    ),
    _on_case(
        "security-incident",
        details.set_security_incident,
        shown.SecurityMark,
        "Mark the case as a security incident, or take the mark away.",
        method="put",
        scope=Scope.CASES,
    ),
    _on_case("containments", details.confirm_containment, reviewing.Note, "Confirm that the incident is contained."),
    _on_case(
        "dependency-statements",
        dependency.state,
        reviewing.NewDependencyStatement,
        "A dependency owner says when the dependency had accepted, and confirms its authored answers.",
        gives=reviewing.DependencyStatementSerializer,
        status=201,
    ),
    _on_case("submissions", lifecycle.submit, reviewing.SeenFixture, "Submit for review.", scope=Scope.CASES),
    _on_case(
        "redactions",
        redacting.redact,
        redactions.SeenRevision,
        "Redact the raw revision under the policy in force and the rules that stand; what comes of it is the current "
        "revision then. 409 where it is redacted so already, and where another revision is current.",
        gives=shown.RevisionSerializer,
        status=201,
    ),
    _on_case(
        "looks",
        redacting.look_again,
        redactions.SeenRevision,
        "The detectors look at the current revision anew, as it stands, under the policy in force.",
        gives=redactions.RedactionSerializer,
        status=201,
    ),
    _on_case(
        "redaction-previews",
        redacting.preview,
        redactions.TriedPolicy,
        "What a policy would replace in the case, beside what the one in force does. Nothing is kept.",
        gives=redactions.PolicyPreviewSerializer,
    ),
    _on_case(
        "redaction-decisions",
        deeds.decide_redaction,
        reviewing.RedactionDecision,
        "Approve or return the redaction of exactly the revision that was seen.",
        gives=reviewing.DecisionSerializer,
        status=201,
    ),
    _on_case(
        "expectation-decisions",
        deeds.decide_expectation,
        reviewing.ExpectationDecision,
        "Approve or return the expectation of exactly the revision that was seen.",
        gives=reviewing.DecisionSerializer,
        status=201,
    ),
    _on_case(
        "reproductions",
        lifecycle.mark_reproduced,
        reviewing.SeenFixture,
        "The affected version was seen red on this fixture.",
        scope=Scope.REPLAYS,
    ),
    _on_case(
        "promotions",
        lifecycle.promote,
        Promotion,
        "The current revision enters a lane.",
        gives=LaneEntrySerializer,
        status=201,
    ),
    _on_case("returns", lifecycle.send_back, reviewing.Reason, "Send back to review. A lane is not left by it."),
    _on_case(
        "non-replayable-marks",
        lifecycle.mark_non_replayable,
        reviewing.NonReplayable,
        "The decisive condition cannot be replayed.",
    ),
    _on_case("reopenings", lifecycle.reopen, reviewing.Reason, "Open a non-replayable case again."),
    _on_case(
        "re-reviews",
        flags.review_again,
        reviewing.Note,
        "Looked at again: every flag is cleared, by a privacy reviewer those that ask about the redaction.",
    ),
    _on_case(
        "history-runs",
        lanes.request_history,
        HistoryRuns,
        "Replay the fixed version now, for the history of the case's stay in a lane.",
        gives=RunSetSerializer,
        status=201,
        scope=Scope.REPLAYS,
    ),
)
class CaseViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Case.objects.select_related("project")
    serializer_class = shown.CaseSerializer
    filterset_class = CaseFilter

    def get_queryset(self) -> Any:
        found = super().get_queryset()
        if self.action in ("retrieve", "partial_update", "provenance"):
            return found.select_related("provenance").prefetch_related("owners")
        return found

    def get_serializer_class(self) -> Any:
        return shown.CaseInFullSerializer if self.action == "retrieve" else self.serializer_class

    @extend_schema(responses=shown.ActionsSerializer, filters=False)
    @action(detail=True, url_path="actions", pagination_class=None)
    def available(self, request: Request, pk: str) -> Response:
        """Every action, and why the user cannot do it now."""
        found = available_actions(self.get_object(), self.user)
        return Response(shown.ActionsSerializer({"actions": found}).data)

    @extend_schema(
        responses=shown.GatesSerializer,
        parameters=[OpenApiParameter("to", enum=TARGETS, required=True, description="A stage or a lane.")],
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def gates(self, request: Request, pk: str) -> Response:
        """What must be true on the way there, what was found, and how to mend it."""
        case, target = self.get_object(), request.query_params.get("to")
        if target not in TARGETS:
            raise ValidationError({"to": [f"Say one of: {', '.join(TARGETS)}."]})
        found = gates.gates_of(case, cast("gates.Target", target), actor=self.user)
        return Response(shown.GatesSerializer({"gates": found}).data)
