"""The administrators' site as an app: Django's, with our site in place of its own."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class AdminSiteConfig(AdminConfig):
    default_site = "replaycases.accounts.admin_site.OurAdminSite"
