"""URLs: pages, the API, and the administrators' site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", include("replaycases.api.urls")),
    path("admin/", admin.site.urls),
    path("", include("replaycases.web.urls")),
]
