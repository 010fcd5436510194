"""URLs of the pages of captures."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from replaycases.web.captures import (
    content_views,
    document_views,
    draft_views,
    expectation_views,
    leeway_views,
    run_views,
    trace_views,
    views,
)
from replaycases.web.converters import CaptureIdConverter

register_converter(CaptureIdConverter, "capture_id")

urlpatterns: list[URLPattern] = [
    path("captures/", views.capture_list, name="capture_list"),
    path("captures/documents/", document_views.document_search, name="document_search"),
    path("captures/new/", views.new_capture, name="new_capture"),
    path("captures/traces/", trace_views.trace_list, name="trace_list"),
    path("captures/traces/<uuid:pk>/capture/", trace_views.capture_trace, name="trace_capture"),
    path("captures/rules/", trace_views.rule_list, name="rule_list"),
    path("captures/rules/<uuid:pk>/state/", trace_views.rule_state, name="rule_state"),
    path("captures/<capture_id:capture_id>/", views.capture_detail, name="capture"),
    path("captures/<capture_id:capture_id>/document/", content_views.document, name="capture_document"),
    path("captures/<capture_id:capture_id>/runs/<int:run>/", run_views.run_steps, name="capture_run"),
    path("captures/<capture_id:capture_id>/runs/<int:run>/steps/", run_views.choose_steps, name="capture_steps"),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/steps/<int:number>/content/",
        content_views.step_content,
        name="capture_step_content",
    ),
    path("captures/<capture_id:capture_id>/runs/<int:run>/draft/", draft_views.run_record, name="capture_draft"),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/expectation/",
        expectation_views.expectation,
        name="capture_expectation",
    ),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/expectation/checks/",
        expectation_views.add_check,
        name="capture_checks",
    ),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/expectation/changes/",
        expectation_views.change_check,
        name="capture_check_changes",
    ),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/expectation/removal/",
        expectation_views.remove_check,
        name="capture_check_removal",
    ),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/expectation/incident/",
        expectation_views.choose_incident,
        name="capture_incident",
    ),
    path("captures/<capture_id:capture_id>/runs/<int:run>/leeway/", leeway_views.leeway, name="capture_leeway"),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/leeway/optional/",
        leeway_views.choose_optional,
        name="capture_optional",
    ),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/leeway/alternatives/",
        leeway_views.add_alternative,
        name="capture_alternatives",
    ),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/leeway/removal/",
        leeway_views.remove_alternative,
        name="capture_alternative_removal",
    ),
    path("captures/<capture_id:capture_id>/runs/<int:run>/case/", draft_views.make_case, name="capture_case"),
    path(
        "captures/<capture_id:capture_id>/runs/<int:run>/case/revision/",
        draft_views.revise_case,
        name="capture_case_revision",
    ),
]
