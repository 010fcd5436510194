"""Who read raw evidence, why, and for how long they could."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q

from replaycases.accounts.models import Project, User
from replaycases.cases.models.capture import Capture
from replaycases.cases.models.case import Case
from replaycases.cases.models.scoping import ScopedQuerySet


class RawReadQuerySet(ScopedQuerySet["RawRead"]):
    def live(self, user: User, now: datetime) -> Self:
        """Those by which the user reads now; none for a program."""
        return self.none() if user.token is not None else self.filter(user=user, until__gt=now)


class RawRead(models.Model):
    """Somebody said why they need to read the raw evidence of one case (its revisions, controls, manifests and
    verdicts) or of one capture, and may read it until `until`, as long as they hold a role that does. Kept for ever,
    never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    case = models.ForeignKey(Case, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    capture = models.ForeignKey(Capture, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    made_at = models.DateTimeField()
    until = models.DateTimeField()

    objects: ClassVar[RawReadQuerySet] = RawReadQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-made_at"]
        indexes = [
            models.Index(fields=["user", "until"], name="raw_read_live"),
            models.Index(fields=["case", "-made_at"], name="raw_read_by_case"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(case=None, capture__isnull=False) | Q(case__isnull=False, capture=None),
                name="raw_read_of_a_case_or_a_capture",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="raw_read_says_why"),
            models.CheckConstraint(condition=Q(until__gt=F("made_at")), name="raw_read_ends"),
        ]

    def __str__(self) -> str:
        return f"raw read of {self.case or self.capture}"
