"""Users, projects and memberships. Every role is held in a project."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models

from replaycases.accounts.roles import Role


class User(AbstractUser):
    """A person who logs in. The e-mail address is unique; `display_name` is what pages show."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField("email address", unique=True)
    display_name = models.CharField(max_length=150, blank=True)

    def __str__(self) -> str:
        return self.display_name or self.username


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User) -> ProjectQuerySet:
        """Projects in which the user holds a role; all of them for a superuser, who may look but decides nothing; none
        for somebody who is not active."""
        if not user.is_active:
            return self.none()
        if user.is_superuser:
            return self.all()
        return self.filter(memberships__user=user).distinct()


class Project(models.Model):
    """Everything belongs to a project. The three counters hold the next readable number to hand out."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.CharField(max_length=12, unique=True, validators=[RegexValidator(r"\A[A-Z][A-Z0-9]{0,11}\Z")])
    name = models.CharField(max_length=200)
    next_number = models.PositiveIntegerField(default=1)
    next_run_number = models.PositiveIntegerField(default=1)
    next_comparison_number = models.PositiveIntegerField(default=1)

    objects = ProjectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.key


class Membership(models.Model):
    """One role of one person in one project; a person may hold several."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=32, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user", "role"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} in {self.project_id}"
