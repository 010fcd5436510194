"""URLs of the pages. They are nouns; a change of state is a POST to a sub-resource."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path, register_converter
from django.views.generic import RedirectView

from replaycases.web.converters import CaseIdConverter, ProjectKeyConverter
from replaycases.web.views import cases, comparisons, controls, implementations, revisions, runs

register_converter(CaseIdConverter, "case_id")
register_converter(ProjectKeyConverter, "project_key")

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="case_list"), name="home"),
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("cases/", cases.case_list, name="case_list"),
    path("cases/new/", cases.new_case, name="new_case"),
    path("cases/<case_id:case_id>/", cases.case_detail, name="case"),
    path("cases/<case_id:case_id>/comparisons/", comparisons.request_comparison, name="comparison_list"),
    path("cases/<case_id:case_id>/comparisons/<int:number>/", comparisons.comparison_detail, name="comparison"),
    path(
        "cases/<case_id:case_id>/comparisons/<int:number>/cancellation/",
        comparisons.cancel_comparison,
        name="comparison_cancellation",
    ),
    path("cases/<case_id:case_id>/controls/", controls.add_control, name="control_list"),
    path("cases/<case_id:case_id>/revisions/<int:number>/document/", revisions.document, name="revision_document"),
    path("runs/", runs.run_list, name="run_list"),
    path("runs/<project_key:key>/<int:number>/", runs.run_detail, name="run"),
    path("runs/<project_key:key>/<int:number>/manifest/", runs.manifest, name="run_manifest"),
    path("runs/<project_key:key>/<int:number>/voiding/", runs.void_set, name="run_voiding"),
    path("implementations/", implementations.implementation_list, name="implementation_list"),
    path("implementations/new/", implementations.new_implementation, name="new_implementation"),
    path("implementations/<uuid:pk>/", implementations.implementation_detail, name="implementation"),
]
