"""Notifications by mail: one mail a person and look, with ids and states only."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce
from django.template.loader import render_to_string
from django.utils import timezone

from replaycases.accounts.models import Membership, User
from replaycases.cases import beats
from replaycases.cases.models import Notification

logger = logging.getLogger(__name__)

# Older news is on the page; a mail server that was away for a week sends no flood.
NEWS = timedelta(days=3)
MOST_PEOPLE = 50
MOST_LINES = 100


def mail() -> int:
    """Send what was not mailed yet. A notification is claimed before its mail is sent, so that
    it goes out at most once; a mail that is refused gives its claims back and is tried at the next look. Returns how
    many mails were sent."""
    waiting = _waiting()
    people = list(waiting.order_by().values_list("user", flat=True).distinct()[:MOST_PEOPLE])
    return beats.each(User.objects.filter(pk__in=people), _mail)


def _waiting() -> QuerySet[Notification]:
    """Unmailed news of people who still see what it is about."""
    of_project = Coalesce(OuterRef("case__project"), OuterRef("incident_report__project"))
    member = Membership.objects.filter(user=OuterRef("user"), project=of_project)
    return Notification.objects.filter(
        Exists(member), mailed_at=None, created_at__gt=timezone.now() - NEWS, user__is_active=True
    ).exclude(user__email="")


def _mail(user: User) -> bool:
    now, told = timezone.now(), _waiting().filter(user=user).order_by("created_at")[:MOST_LINES]
    mine = [one for one in told if _claim(one, now)]
    if not mine:
        return False
    context = {"notifications": mine, "address": settings.REPLAYCASES_BASE_URL}
    message = EmailMessage(
        subject=f"replaycases: {len(mine)} {'thing' if len(mine) == 1 else 'things'} to know",
        body=render_to_string("email/notifications.txt", context),
        to=[user.email],
    )
    try:
        message.send()
    # Whatever a mail server does must hold up neither the others' mails nor the beat.
    except Exception:
        logger.exception("a mail with %s notifications was refused", len(mine))
        Notification.objects.filter(pk__in=[one.pk for one in mine]).update(mailed_at=None)
        return False
    return True


def _claim(notification: Notification, at: datetime) -> bool:
    return bool(Notification.objects.filter(pk=notification.pk, mailed_at=None).update(mailed_at=at))
