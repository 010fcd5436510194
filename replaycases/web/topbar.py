"""What the bar at the top of every page knows of the person: one query."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Subquery

from replaycases.accounts.models import Membership, Project, User
from replaycases.accounts.roles import AUDITS
from replaycases.cases.models import Notification


@dataclass(frozen=True, kw_only=True)
class Bar:
    """`unread` notifications of what the person still sees; whether they `audit` a project."""

    unread: int
    audits: bool


def of(user: User) -> Bar:
    seen = Project.objects.visible_to(user)
    unread = Notification.objects.filter(user=OuterRef("pk"), read_at=None).in_projects(seen.values("pk"))
    counted = unread.order_by().values("user").annotate(count=Count("*")).values("count")
    audits = Exists(Membership.objects.filter(user=OuterRef("pk"), role__in=AUDITS))
    found = User.objects.filter(pk=user.pk).values_list(Subquery(counted), audits).first()
    count, audited = found or (0, False)
    return Bar(unread=count or 0, audits=bool(audited) or user.is_superuser)
