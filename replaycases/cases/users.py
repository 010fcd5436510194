"""Accounts as a superuser keeps them. Nobody is deleted: what they decided keeps their name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from axes.models import AccessAttempt
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction

from replaycases.accounts.models import User
from replaycases.cases import events, policies

EDITED = ("username", "email", "display_name", "is_active", "is_superuser")


def require_superuser(actor: User) -> None:
    """Raise PermissionDenied for a program, and for whoever is no active superuser."""
    policies.refuse_tokens(actor)
    if not (actor.is_active and actor.is_superuser):
        raise PermissionDenied("This is for superusers.")


@contextmanager
def unless_taken() -> Iterator[None]:
    """A name or an address that was free when it was checked, and that somebody else stored first, is a
    ValidationError."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise ValidationError("Somebody else took this name or address just now. Choose another one.") from None


def create_user(actor: User, *, user: User) -> User:
    """Store a new account, whose password is set and checked. It holds no role and is no superuser yet."""
    require_superuser(actor)
    user.is_superuser = user.is_staff = False
    user.full_clean()
    with transaction.atomic():
        with unless_taken():
            user.save(force_insert=True)
        events.record(actor=actor, action="user.created", subject=user, project=None, after=_account(user))
    return user


def edit_user(actor: User, *, user: User, changes: Mapping[str, str | bool]) -> User:
    """Set some of EDITED. An account that is not active is signed out at its next request, and its tokens are worth
    nothing. Nobody takes their own account away. Raises PermissionDenied, InvalidTransition or ValidationError."""
    require_superuser(actor)
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        before = _account(locked)
        for name in EDITED:
            setattr(locked, name, changes.get(name, getattr(locked, name)))
        locked.is_staff = locked.is_superuser
        if locked.pk == actor.pk and not (locked.is_active and locked.is_superuser):
            raise policies.InvalidTransition("You cannot take your own account away. Another superuser can.")
        locked.full_clean()
        after = _account(locked)
        if before == after:
            return locked
        with unless_taken():
            locked.save(update_fields=[*EDITED, "is_staff"])
        changed = [name for name in EDITED if before[name] != after[name]]
        events.record(
            actor=actor,
            action="user.edited",
            subject=locked,
            project=None,
            before={name: before[name] for name in changed},
            after={name: after[name] for name in changed},
        )
        return locked


def set_own_password(user: User, *, password: str) -> None:
    """Set a password that was checked already. Every session of the account ends."""
    policies.refuse_tokens(user)
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        note_password_set(user, user=user)


def note_password_set(actor: User, *, user: User) -> None:
    """The event, in the transaction of the change. It holds nothing of the password."""
    events.record(actor=actor, action="user.password_set", subject=user, project=None)


def forget_attempts(actor: User, *, username: str, address: str | None) -> None:
    """Let somebody sign in who failed too often, before the time is over."""
    require_superuser(actor)
    with transaction.atomic():
        AccessAttempt.objects.filter(username=username, ip_address=address).delete()
        before = {"username": username, "address": address or ""}
        events.record(actor=actor, action="sign_in.unlocked", subject=actor, project=None, before=before)


def _account(user: User) -> dict[str, str | bool]:
    return {name: getattr(user, name) for name in EDITED}
