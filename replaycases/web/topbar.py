"""What the bar at the top of every page knows of the person: one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from replaycases.accounts.models import Membership, Project, User
from replaycases.accounts.roles import AUDITS
from replaycases.cases import kept_queries
from replaycases.cases.kept_queries import Asker
from replaycases.cases.models import Notification


@dataclass(frozen=True, kw_only=True)
class Bar:
    """`unread` notifications of what the person still sees; whether they `audit` a project."""

    unread: int
    audits: bool


def of(user: User) -> Bar:
    build = _of_superuser if user.is_superuser else _of_member
    found = kept_queries.rows(build, Asker(user=user, soon=timezone.now()), {}, 1)
    count, audits = found[0] if found else (0, False)
    return Bar(unread=count or 0, audits=bool(audits) or user.is_superuser)


def _of_member(asker: Asker, projects: Mapping[str, Sequence[UUID]], most: int) -> list[QuerySet[User, Any]]:
    return [_known(asker, Project.objects.visible_to(asker.user))]


def _of_superuser(asker: Asker, projects: Mapping[str, Sequence[UUID]], most: int) -> list[QuerySet[User, Any]]:
    return [_known(asker, Project.objects.all())]


def _known(asker: Asker, seen: QuerySet[Project]) -> QuerySet[User, Any]:
    unread = Notification.objects.filter(user=OuterRef("pk"), read_at=None).in_projects(seen.values("pk"))
    counted = unread.order_by().values("user").annotate(count=Count("*")).values("count")
    audits = Exists(Membership.objects.filter(user=OuterRef("pk"), role__in=AUDITS))
    return User.objects.filter(pk=asker.user.pk).order_by().values_list(Subquery(counted), audits)
