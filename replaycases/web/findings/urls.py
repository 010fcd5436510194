"""URLs of the pages of reported findings."""

from __future__ import annotations

from django.urls import URLPattern, path

from replaycases.web.findings import views

urlpatterns: list[URLPattern] = [
    path("findings/", views.finding_list, name="finding_list"),
    path("findings/<uuid:pk>/", views.finding, name="finding"),
    path("findings/<uuid:pk>/case/", views.take, name="finding_case"),
    path("findings/<uuid:pk>/capture/", views.capture, name="finding_capture"),
    path("findings/<uuid:pk>/dismissal/", views.dismiss, name="finding_dismissal"),
]
