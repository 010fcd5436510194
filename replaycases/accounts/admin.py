from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from replaycases.accounts.models import Membership, Project, User

admin.site.register(User, UserAdmin)
admin.site.register(Project, list_display=["key", "name"], fields=["key", "name"])
admin.site.register(Membership, list_display=["project", "user", "role"], list_filter=["project", "role"])
