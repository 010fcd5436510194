"""Who has a redaction before them: a soft claim, so that a queue hands an item to one person at a time.

It keeps nobody from deciding: whoever may decide may do so whoever has it. It is no decision either, and leaves no
event.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import DECIDES_REDACTION
from replaycases.cases.models import Case

CLAIM_MINUTES = 15


def hold(user: User, case: Case) -> bool:
    """The user has it from now on, or for longer; False where somebody else has it, and for who decides nothing of
    it."""
    if user.token is not None or not access.has_any(user, case.project, DECIDES_REDACTION):
        return False
    until = timezone.now() + timedelta(minutes=CLAIM_MINUTES)
    held = Case.objects.filter(free_for(user), pk=case.pk).update(reviewer=user, reviewer_until=until)
    if held:
        case.reviewer, case.reviewer_until = user, until
    return bool(held)


def release(user: User, case: Case) -> None:
    """The user is done with it."""
    Case.objects.filter(pk=case.pk, reviewer=user).update(reviewer=None, reviewer_until=None)


def free_for(user: User) -> Q:
    """Cases that nobody else has now."""
    return Q(reviewer=None) | Q(reviewer=user) | Q(reviewer_until__lte=timezone.now())


def is_held(case: Case) -> bool:
    """Whether somebody has it now."""
    return case.reviewer_until is not None and case.reviewer_until > timezone.now()
