"""URLs of the API, below /api/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from replaycases.api.views.cases import CaseViewSet, ControlViewSet, RevisionViewSet
from replaycases.api.views.comparisons import ComparisonViewSet
from replaycases.api.views.implementations import ImplementationViewSet
from replaycases.api.views.runs import RunSetViewSet, RunViewSet

app_name = "api"

router = SimpleRouter(use_regex_path=False)
router.register("cases", CaseViewSet)
router.register("revisions", RevisionViewSet)
router.register("controls", ControlViewSet)
router.register("implementations", ImplementationViewSet)
router.register("run-sets", RunSetViewSet)
router.register("runs", RunViewSet)
router.register("comparisons", ComparisonViewSet)

urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("v1/", include(router.urls)),
]
