"""URLs: pages, the API, the receiver for collectors, and the administrators' site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from replaycases.api import otlp

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", include("replaycases.api.urls")),
    path("v1/traces", otlp.traces, name="otlp_traces"),
    path("v1/logs", otlp.logs, name="otlp_logs"),
    path("admin/", admin.site.urls),
    path("", include("replaycases.web.urls")),
]
