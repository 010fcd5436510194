"""Users, projects, memberships, teams, invitations and tokens. Every role is held in a project."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Lower

from replaycases.accounts.roles import Role

LONGEST_RETENTION_DAYS = 90


class Scope(models.TextChoices):
    """What a token may be used for. A token holds at most what its owner's roles allow, and never approves."""

    READ = "read", "Read cases, runs and verdicts"
    LANE_PULL = "lane:pull", "Fetch a lane's redacted fixtures"
    RESULTS_PUSH = "results:push", "Report results of a lane run elsewhere"
    REPLAYS = "replays", "Register implementations and ask for replays"
    CASES = "cases", "Write drafts of recorded runs, open cases, add revisions and controls"
    CAPTURES = "captures", "Send recorded runs, capture traces that came, report findings"
    OTLP = "otlp", "Send traces and logs as a collector, and nothing else"


class User(AbstractUser):
    """A person who logs in. The e-mail address is unique, however it is written: two accounts of one person would be
    two pairs of eyes. `display_name` is what pages show. `token` is the API token
    that the person's program shows, None for the person themselves at a page: whoever decides looks at it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField("email address", unique=True)
    display_name = models.CharField(max_length=150, blank=True)

    token: ApiToken | None = None

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="user_email_once_in_any_case",
                violation_error_message="There is an account with this e-mail address already.",
            ),
        ]

    def __str__(self) -> str:
        return self.display_name or self.username


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User) -> ProjectQuerySet:
        """Projects in which the user holds a role; all of them for a superuser, who may look but decides nothing; none
        for somebody who is not active. A token sees at most its own project."""
        if not user.is_active:
            return self.none()
        seen = self if user.token is None else self.filter(pk=user.token.project_id)
        if user.is_superuser:
            return seen.all()
        return seen.filter(memberships__user=user).distinct()


class Project(models.Model):
    """Everything belongs to a project. The three counters hold the next readable number to hand out. Raw evidence
    expires `retention_days` after it came in; a case in a lane is reviewed again every `review_after_days`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.CharField(max_length=12, unique=True, validators=[RegexValidator(r"\A[A-Z][A-Z0-9]{0,11}\Z")])
    name = models.CharField(max_length=200)
    retention_days = models.PositiveSmallIntegerField(
        default=30, validators=[MinValueValidator(1), MaxValueValidator(LONGEST_RETENTION_DAYS)]
    )
    review_after_days = models.PositiveSmallIntegerField(default=180, validators=[MinValueValidator(1)])
    next_number = models.PositiveIntegerField(default=1)
    next_run_number = models.PositiveIntegerField(default=1)
    next_comparison_number = models.PositiveIntegerField(default=1)
    next_capture_number = models.PositiveIntegerField(default=1)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(retention_days__gte=1, retention_days__lte=LONGEST_RETENTION_DAYS),
                name="project_retention_bounded",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Membership(models.Model):
    """One role of one person in one project; a person may hold several."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=32, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user", "role"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.get_role_display()} in {self.project}"


class Team(models.Model):
    """A named group of people who own boundaries of cases together. Being in a team gives no role."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="teams")
    name = models.CharField(max_length=100)
    members: models.ManyToManyField[User, models.Model] = models.ManyToManyField(User, blank=True, related_name="teams")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="team_name_once_per_project")]

    def __str__(self) -> str:
        return self.name


class Invitation(models.Model):
    """An administrator's offer of roles in a project to an e-mail address. Only the SHA-256 of its secret is kept
    ("sha256:" + hex); it is used once, before it expires."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField()
    roles: models.JSONField[list[str], list[str]] = models.JSONField()
    secret_hash = models.CharField(max_length=71, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(accepted_at=None, accepted_by=None)
                | models.Q(accepted_at__isnull=False, accepted_by__isnull=False, revoked_at=None),
                name="invitation_accepted_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email} to {self.project}"

    @property
    def role_labels(self) -> list[str]:
        return [Role(role).label for role in self.roles]


class ApiToken(models.Model):
    """A secret by which a program acts for its owner in one project, within `scopes`. Shown once; only its SHA-256
    ("sha256:" + hex) is kept, and `prefix`, its first characters, by which people tell tokens apart."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tokens")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    secret_hash = models.CharField(max_length=71, unique=True)
    scopes: models.JSONField[list[str], list[str]] = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    objects: ClassVar[models.Manager[ApiToken]] = models.Manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(revoked_at=None, revoked_by=None)
                | models.Q(revoked_at__isnull=False, revoked_by__isnull=False),
                name="token_revoked_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
