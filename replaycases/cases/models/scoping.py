"""Object access: every queryset of the domain can be narrowed to what a user may see."""

from __future__ import annotations

from typing import Self, TypeVar

from django.db import models

from replaycases.accounts.models import Project, User

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """A queryset of models that belong to a project, directly or through `PROJECT_PATH`."""

    def visible_to(self, user: User) -> Self:
        """Rows of the projects that the user may see; every row, also without a project, for a superuser, but not for
        a token of theirs, which sees its own project's."""
        if user.is_superuser and user.is_active and user.token is None:
            return self.all()
        path = getattr(self.model, "PROJECT_PATH", "project")
        return self.filter(**{f"{path}__in": Project.objects.visible_to(user)})
