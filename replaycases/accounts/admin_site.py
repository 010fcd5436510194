"""The administrators' site: for superusers, signed in as everywhere else."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse


class OurAdminSite(AdminSite):
    site_header = site_title = "replaycases administration"
    index_title = "Records and people"

    def has_permission(self, request: HttpRequest) -> bool:
        """It shows every project's rows, so that nobody but a superuser may look."""
        return request.user.is_active and request.user.is_superuser

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one page for signing in, with its throttling."""
        if request.user.is_authenticated:
            raise PermissionDenied("The administrators' site is for superusers.")
        return redirect_to_login(request.GET.get("next", reverse("admin:index")))
