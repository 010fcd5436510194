"""Object access: every queryset of the domain can be narrowed to what a user may see."""

from __future__ import annotations

from typing import Self, TypeVar

from django.db import models

from replaycases.accounts.models import User

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """A queryset of models that belong to a project, directly or through `PROJECT_PATH`."""

    def visible_to(self, user: User) -> Self:
        """Rows of the projects in which the user holds a role; every row for a superuser (who may only look)."""
        if user.is_superuser:
            return self.all()
        if not user.is_active:
            return self.none()
        path = getattr(self.model, "PROJECT_PATH", "project")
        projects = user.memberships.values("project")
        return self.filter(**{f"{path}__in": projects})
