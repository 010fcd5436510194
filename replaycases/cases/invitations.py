"""An administrator's offer of roles to somebody who may have no account yet: by a secret link, once, for a week."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from replaycases.accounts import access, tokens
from replaycases.accounts.models import Invitation, Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import events, people, policies, users
from replaycases.cases.locks import lock_project

logger = logging.getLogger(__name__)

GOOD_FOR = timedelta(days=7)
# Mail backends that send nothing.
STAYS_HERE = ("console", "dummy", "filebased", "locmem")
TO_ONESELF = "Nobody gives a role to themselves. Ask another administrator."
USED = "This invitation is not good any more: it was used, revoked or is older than a week. Ask for another one."


def open_invitations(project: Project) -> QuerySet[Invitation]:
    """Those that can still be accepted."""
    return _good(Invitation.objects.filter(project=project), timezone.now())


def find(secret: str) -> Invitation | None:
    """The invitation that the secret opens; None if there is none, or it cannot be accepted any more."""
    wanted = Invitation.objects.filter(secret_hash=tokens.hash_of(secret))
    found = _good(wanted, timezone.now()).select_related("project", "invited_by").first()
    return found if found is not None and people.may_administer(found.invited_by, found.project) else None


def _good(invitations: QuerySet[Invitation], now: datetime) -> QuerySet[Invitation]:
    return invitations.filter(accepted_at=None, revoked_at=None, expires_at__gt=now)


def link_to(secret: str) -> str:
    return settings.REPLAYCASES_BASE_URL + reverse("invitation_link", args=[secret])


def invite(actor: User, *, project: Project, email: str, roles: Iterable[Role]) -> tuple[Invitation, str]:
    """Offer the roles, by a mail once the transaction holds. Returns the invitation and its secret, of which only the
    hash is kept. Raises PermissionDenied, or ValidationError for no address or no role."""
    address = _address(email)
    offered = sorted(set(roles))
    if not offered:
        raise ValidationError({"roles": ["Choose at least one role."]})
    secret = tokens.new_secret()
    with transaction.atomic():
        lock_project(project)
        people.require_administrator(actor, project)
        if address.lower() == actor.email.lower():
            raise ValidationError({"email": [TO_ONESELF]})
        invitation = Invitation.objects.create(
            project=project,
            email=address,
            roles=[role.value for role in offered],
            secret_hash=tokens.hash_of(secret),
            invited_by=actor,
            expires_at=timezone.now() + GOOD_FOR,
        )
        after = {"email": address, "roles": invitation.roles, "expires_at": invitation.expires_at.isoformat()}
        events.record(actor=actor, action="invitation.made", subject=invitation, project=project, after=after)
        transaction.on_commit(lambda: _send(invitation, secret))
    return invitation, secret


def mail_is_sent() -> bool:
    """Whether mails leave this installation, and are not written to files or to the server's log."""
    return settings.EMAIL_BACKEND not in {f"django.core.mail.backends.{kind}.EmailBackend" for kind in STAYS_HERE}


def _address(email: str) -> str:
    try:
        validate_email(email.strip())
    except ValidationError:
        raise ValidationError({"email": ["This is no e-mail address."]}) from None
    return User.objects.normalize_email(email.strip())


def _send(invitation: Invitation, secret: str) -> None:
    """A mail that cannot be sent undoes nothing: whoever invited has the link too."""
    context = {"invitation": invitation, "link": link_to(secret)}
    subject = f"Invitation to {invitation.project.key} on replaycases"
    try:
        send_mail(subject, render_to_string("email/invitation.txt", context), None, [invitation.email])
    except OSError:  # smtplib's errors are too
        logger.exception("the mail of invitation %s was not sent", invitation.pk)


def revoke_invitation(actor: User, *, invitation: Invitation) -> None:
    """Raises PermissionDenied, or InvalidTransition if it was accepted or revoked before."""
    with transaction.atomic():
        lock_project(invitation.project)
        people.require_administrator(actor, invitation.project)
        locked = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
        if locked.accepted_at is not None or locked.revoked_at is not None:
            raise policies.InvalidTransition(f"The invitation of {locked.email} was accepted or revoked before.")
        locked.revoked_at = timezone.now()
        locked.save(update_fields=["revoked_at"])
        before = {"email": locked.email, "roles": locked.roles}
        events.record(
            actor=actor, action="invitation.revoked", subject=locked, project=invitation.project, before=before
        )


def accept_invitation(secret: str, *, username: str, display_name: str, password: str) -> User:
    """Open an account for the invited address, with the offered roles. Raises InvalidTransition if the invitation is
    not good any more, or ValidationError (by field) for a name that is taken, a weak password, or an address that has
    an account: its owner signs in and joins."""
    with transaction.atomic():
        invitation = _locked(secret)
        if User.objects.filter(email__iexact=invitation.email).exists():
            raise ValidationError(f"{invitation.email} has an account already. Sign in with it and accept again.")
        user = User(username=username.strip(), email=invitation.email, display_name=" ".join(display_name.split()))
        _check_account(user, password)
        user.set_password(password)
        with users.unless_taken():
            user.save(force_insert=True)
        after = {"username": user.username, "email": user.email}
        events.record(actor=user, action="user.created", subject=user, project=None, after=after)
        _give(user, invitation)
        return user


def _check_account(user: User, password: str) -> None:
    faults = []
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as invalid:
        faults.append(invalid.message_dict)
    try:
        validate_password(password, user)
    except ValidationError as weak:
        faults.append({"password": weak.messages})
    if faults:
        raise ValidationError({field: said for fault in faults for field, said in fault.items()})


def join(actor: User, *, secret: str) -> Invitation:
    """Accept as somebody who is signed in with the invited address. Raises PermissionDenied for anybody else and for
    whoever made the invitation, or InvalidTransition if it is not good any more."""
    policies.refuse_tokens(actor)
    with transaction.atomic():
        invitation = _locked(secret)
        if not actor.is_active or actor.email.lower() != invitation.email.lower():
            raise PermissionDenied(f"This invitation is for {invitation.email}. Sign in with that account.")
        if invitation.invited_by_id == actor.pk:  # their address was another one when they made it
            raise PermissionDenied(TO_ONESELF)
        _give(actor, invitation)
        return invitation


def _locked(secret: str) -> Invitation:
    """The invitation, its project and itself locked, if it is still good. It holds no longer than whoever made it
    administers the project."""
    found = find(secret)
    if found is None:
        raise policies.InvalidTransition(USED)
    lock_project(found.project)
    rows = Invitation.objects.select_for_update(of=("self",)).select_related("project", "invited_by")
    locked = _good(rows.filter(pk=found.pk), timezone.now()).first()
    if locked is None or not people.may_administer(locked.invited_by, locked.project):
        raise policies.InvalidTransition(USED)
    return locked


def _give(user: User, invitation: Invitation) -> None:
    project = invitation.project
    before = access.roles_of(user, project)
    for role in invitation.roles:
        Membership.objects.get_or_create(project=project, user=user, role=role)
    invitation.accepted_at, invitation.accepted_by = timezone.now(), user
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    after = {"user": str(user.pk), "roles": invitation.roles, "invited_by": str(invitation.invited_by_id)}
    events.record(actor=user, action="invitation.accepted", subject=invitation, project=project, after=after)
    people.record_roles(user, "role.granted", project=project, user=user, before=before, invitation=str(invitation.pk))
