"""Secrets that people and programs are given once: how they are made, kept and recognised."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.db.models import Q, QuerySet
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import ApiToken, User

SECRET_PREFIX = "rc_"  # noqa: S105  by which scanners and people recognise a token of ours
PREFIX_LENGTH = 11
USE_NOTED_EVERY = timedelta(minutes=1)


def new_secret() -> str:
    """256 random bits, safe in a URL."""
    return secrets.token_urlsafe(32)


def new_token_secret() -> str:
    return SECRET_PREFIX + new_secret()


def hash_of(secret: str) -> str:
    """ "sha256:…", which is all that is kept. A fast hash is enough: nobody guesses 256 random bits."""
    return f"sha256:{sha256(secret.encode('utf-8', 'surrogatepass')).hexdigest()}"


def prefix_of(secret: str) -> str:
    """What people tell tokens apart by: "rc_" and 48 of the 256 bits."""
    return secret[:PREFIX_LENGTH]


def authenticate(secret: str) -> User | None:
    """The owner of the token with `.token` set; None if the token is unknown, expired or revoked, or its owner is not
    active or holds no role in its project any more. It is looked up by its hash: the time that takes tells nothing
    about the secret. Two queries, a third at most once a minute."""
    if not secret.startswith(SECRET_PREFIX):
        return None
    now = timezone.now()
    token = live().select_related("user", "project").filter(secret_hash=hash_of(secret)).first()
    if token is None:
        return None
    user = token.user
    user.token = token
    if not access.roles_of(user, token.project):
        return None
    _note_use(token, now)
    return user


def live() -> QuerySet[ApiToken]:
    """Those that are neither expired nor revoked."""
    return ApiToken.objects.filter(revoked_at=None, expires_at__gt=timezone.now())


def _note_use(token: ApiToken, now: datetime) -> None:
    before = now - USE_NOTED_EVERY
    if token.last_used_at is not None and token.last_used_at > before:
        return
    stale = ApiToken.objects.filter(Q(last_used_at=None) | Q(last_used_at__lte=before), pk=token.pk)
    stale.update(last_used_at=now)
