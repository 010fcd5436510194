"""URLs of the pages of captures."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from replaycases.web.captures import run_views, views
from replaycases.web.converters import CaptureIdConverter

register_converter(CaptureIdConverter, "capture_id")

urlpatterns: list[URLPattern] = [
    path("captures/", views.capture_list, name="capture_list"),
    path("captures/new/", views.new_capture, name="new_capture"),
    path("captures/<capture_id:capture_id>/", views.capture_detail, name="capture"),
    path("captures/<capture_id:capture_id>/runs/<int:run>/", run_views.run_steps, name="capture_run"),
    path("captures/<capture_id:capture_id>/runs/<int:run>/steps/", run_views.choose_steps, name="capture_steps"),
]
