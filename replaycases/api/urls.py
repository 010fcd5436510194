"""URLs of the API, below /api/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from replaycases.api.base import ApiViewSet
from replaycases.api.views.audit import AuditEventViewSet
from replaycases.api.views.captures import CaptureViewSet
from replaycases.api.views.cases import CaseViewSet
from replaycases.api.views.comparisons import ComparisonViewSet
from replaycases.api.views.implementations import ImplementationViewSet
from replaycases.api.views.lanes import (
    BulkPromotionViewSet,
    CiReportViewSet,
    LaneEntryViewSet,
    LaneViewSet,
    PromotionPreviewViewSet,
)
from replaycases.api.views.people import (
    InvitationViewSet,
    MembershipViewSet,
    NeedsViewSet,
    NotificationViewSet,
    ProjectViewSet,
    TeamViewSet,
    TokenViewSet,
)
from replaycases.api.views.raw_reads import RawReadViewSet
from replaycases.api.views.redactions import (
    RedactionPolicyViewSet,
    RedactionRuleViewSet,
    RedactionViewSet,
    WaiverViewSet,
)
from replaycases.api.views.reviewing import (
    ClosingItemViewSet,
    DecisionViewSet,
    DependencyStatementViewSet,
    FlagViewSet,
    GraderFindingViewSet,
    ProposalViewSet,
)
from replaycases.api.views.revisions import CommentViewSet, ControlViewSet, RevisionViewSet
from replaycases.api.views.root import RootView, SchemaView, UnknownView
from replaycases.api.views.runs import RunSetViewSet, RunViewSet
from replaycases.api.views.ways_in import FindingViewSet, RuleViewSet, TraceViewSet

app_name = "api"

RESOURCES: dict[str, type[ApiViewSet]] = {
    "projects": ProjectViewSet,
    "captures": CaptureViewSet,
    "traces": TraceViewSet,
    "capture-rules": RuleViewSet,
    "findings": FindingViewSet,
    "cases": CaseViewSet,
    "revisions": RevisionViewSet,
    "controls": ControlViewSet,
    "raw-reads": RawReadViewSet,
    "redaction-policies": RedactionPolicyViewSet,
    "redactions": RedactionViewSet,
    "redaction-rules": RedactionRuleViewSet,
    "waivers": WaiverViewSet,
    "comments": CommentViewSet,
    "decisions": DecisionViewSet,
    "dependency-statements": DependencyStatementViewSet,
    "proposals": ProposalViewSet,
    "flags": FlagViewSet,
    "closing-steps": ClosingItemViewSet,
    "grader-findings": GraderFindingViewSet,
    "implementations": ImplementationViewSet,
    "run-sets": RunSetViewSet,
    "runs": RunViewSet,
    "comparisons": ComparisonViewSet,
    "lanes": LaneViewSet,
    "lane-entries": LaneEntryViewSet,
    "promotion-previews": PromotionPreviewViewSet,
    "bulk-promotions": BulkPromotionViewSet,
    "ci-reports": CiReportViewSet,
    "teams": TeamViewSet,
    "memberships": MembershipViewSet,
    "invitations": InvitationViewSet,
    "tokens": TokenViewSet,
    "notifications": NotificationViewSet,
    "needs": NeedsViewSet,
    "audit-events": AuditEventViewSet,
}

router = SimpleRouter(use_regex_path=False)
for noun, view_set in RESOURCES.items():
    router.register(noun, view_set, basename=noun)

urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/", RootView.as_view(resources=tuple(RESOURCES)), name="root"),
    path("v1/schema/", SchemaView.as_view(), name="schema"),
    path("v1/", include(router.urls)),
    path("v1/<path:unknown>", UnknownView.as_view()),
]
