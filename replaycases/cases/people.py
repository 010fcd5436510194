"""Who may act in a project: roles, invitations, tokens, teams, and what the project asks for.

An administrator of the project, or a superuser, gives and takes roles, and by that alone decides nothing. Roles are
read again at every act, so what is taken away is gone at once. Every change is one transaction with its audit event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from replaycases.accounts import access, tokens
from replaycases.accounts.models import LONGEST_RETENTION_DAYS, ApiToken, Membership, Project, Scope, Team, User
from replaycases.accounts.roles import ADMINISTERS, Role
from replaycases.cases import events, policies, users
from replaycases.cases.locks import lock_project

LONGEST_TOKEN_DAYS = 365
LONGEST_REVIEW_DAYS = 730
NAME_CAP = 100


# --- who administers ------------------------------------------------------------------------------------------------


def may_administer(user: User, project: Project) -> bool:
    return user.token is None and user.is_active and (user.is_superuser or access.has_any(user, project, ADMINISTERS))


def require_administrator(actor: User, project: Project) -> None:
    """Raise PermissionDenied for a program, and for whoever neither administers the project nor is a superuser."""
    policies.refuse_tokens(actor)
    if not may_administer(actor, project):
        raise PermissionDenied(access.lacking(project, ADMINISTERS))


def _locked(actor: User, project: Project) -> Project:
    """The project as it stands now, locked; whoever administers is read after the lock."""
    lock_project(project)
    require_administrator(actor, project)
    return Project.objects.get(pk=project.pk)


# --- roles ----------------------------------------------------------------------------------------------------------


def grant_role(actor: User, *, project: Project, user: User, role: Role) -> Membership:
    """Give the user one more role in the project. Nobody gives themselves one: a second person must have wanted it.
    Raises PermissionDenied, or ValidationError if they hold it already or are not active."""
    with transaction.atomic():
        _locked(actor, project)
        if actor.pk == user.pk:
            raise PermissionDenied("Nobody gives a role to themselves. Ask another administrator.")
        if not user.is_active:
            raise ValidationError(f"{user} is not active. Activate the account first.")
        before = access.roles_of(user, project)
        if role in before:
            raise ValidationError(f"{user} is {role.label} in {project.key} already.")
        membership = Membership.objects.create(project=project, user=user, role=role)
        record_roles(actor, "role.granted", project=project, user=user, before=before)
        return membership


def revoke_role(actor: User, *, project: Project, user: User, role: Role) -> None:
    """Take the role away, with effect on the very next act of theirs and of their tokens. With the last role they leave
    the project's teams. Raises PermissionDenied, ValidationError if they do not hold it, or InvalidTransition if nobody
    would administer the project any more."""
    with transaction.atomic():
        _locked(actor, project)
        held = Membership.objects.filter(project=project, user=user)
        before = frozenset(Role(name) for name in held.values_list("role", flat=True))
        if role not in before:
            raise ValidationError(f"{user} is not {role.label} in {project.key}.")
        if role in ADMINISTERS and user.is_active and not _other_administrators(project, user):
            raise policies.InvalidTransition(
                f"{user} is the last administrator of {project.key}. Give the role to somebody else first."
            )
        held.filter(role=role).delete()
        left = _leave_teams(project, user) if before == {role} else []
        record_roles(actor, "role.revoked", project=project, user=user, before=before, left_teams=left)


def _other_administrators(project: Project, user: User) -> bool:
    administrators = Membership.objects.filter(project=project, role__in=ADMINISTERS, user__is_active=True)
    return administrators.exclude(user=user).exists()


def _leave_teams(project: Project, user: User) -> list[str]:
    """Take the user out of every team of the project; its ids."""
    teams = list(Team.objects.filter(project=project, members=user))
    user.teams.remove(*teams)
    return [str(team.pk) for team in teams]


def record_roles(
    actor: User, action: str, *, project: Project, user: User, before: frozenset[Role], **more: Any
) -> None:
    """The event of a change of the user's roles: all of them before and after."""
    held = Membership.objects.filter(project=project, user=user).values_list("role", flat=True)
    events.record(
        actor=actor,
        action=action,
        subject=user,
        project=project,
        before={"roles": sorted(before)},
        after={"roles": sorted(held), **more},
    )


# --- who answers for something ---------------------------------------------------------------------------------------


def why_not_answer(owner: User | Team, project: Project) -> str:
    """Why nobody could be asked if this person or team answered for something in the project; "" if somebody can. The
    same rule as `CaseOwner.objects.askable`."""
    if isinstance(owner, User):
        if not Membership.objects.filter(user=owner, project=project).exists():
            return f"{owner} is not a member of project {project.key}."
        return "" if owner.is_active else f"{owner} is not active."
    if owner.project_id != project.pk:
        return f"This is no team of project {project.key}."
    members = owner.members.filter(is_active=True, memberships__project=project)
    return "" if members.exists() else f"Team {owner.name} has no members to answer."


# --- teams ----------------------------------------------------------------------------------------------------------


def create_team(actor: User, *, project: Project, name: str) -> Team:
    with transaction.atomic():
        _locked(actor, project)
        team = Team.objects.create(project=project, name=_team_name(project, name))
        events.record(actor=actor, action="team.created", subject=team, project=project, after={"name": team.name})
        return team


def rename_team(actor: User, *, team: Team, name: str) -> Team:
    """Raises ValidationError if another team of the project has the name, or nothing changes."""
    with transaction.atomic():
        _locked(actor, team.project)
        team = Team.objects.select_related("project").get(pk=team.pk)
        before, team.name = team.name, _team_name(team.project, name)
        team.save(update_fields=["name"])
        events.record(
            actor=actor,
            action="team.renamed",
            subject=team,
            project=team.project,
            before={"name": before},
            after={"name": team.name},
        )
        return team


def set_team_members(actor: User, *, team: Team, members: Iterable[User]) -> Team:
    """Make exactly these people the team. Each must be active and hold a role in its project; ValidationError
    otherwise."""
    wanted = {user.pk: user for user in members}
    with transaction.atomic():
        project = _locked(actor, team.project)
        held = Membership.objects.filter(project=project, user__in=wanted, user__is_active=True)
        foreign = wanted.keys() - set(held.values_list("user", flat=True))
        if foreign:
            names = ", ".join(sorted(str(wanted[pk]) for pk in foreign))
            raise ValidationError({"members": [f"Only people with a role in {project.key} can be in a team: {names}."]})
        before = set(team.members.values_list("pk", flat=True))
        if before == wanted.keys():
            return team
        team.members.set(wanted.values())
        events.record(
            actor=actor,
            action="team.members_set",
            subject=team,
            project=project,
            before={"members": sorted(map(str, before))},
            after={"members": sorted(map(str, wanted))},
        )
        return team


def _team_name(project: Project, name: str) -> str:
    cleaned = name_of(name)
    if Team.objects.filter(project=project, name=cleaned).exists():
        raise ValidationError({"name": [f"{project.key} has a team of this name already."]})
    return cleaned


def name_of(text: str, cap: int = NAME_CAP) -> str:
    """A name on one line; ValidationError for the field `name` if it is empty, too long or holds what nobody sees."""
    cleaned = " ".join(text.split())
    if not cleaned:
        raise ValidationError({"name": ["Give it a name."]})
    if len(cleaned) > cap:
        raise ValidationError({"name": [f"A name has at most {cap} characters; this one has {len(cleaned)}."]})
    if not cleaned.isprintable():
        raise ValidationError({"name": ["The name holds a character that cannot be seen. Type it again."]})
    return cleaned


# --- projects -------------------------------------------------------------------------------------------------------


def create_project(actor: User, *, key: str, name: str) -> Project:
    """Open a project, which nobody is in yet. For superusers."""
    users.require_superuser(actor)
    project = Project(key=key, name=name_of(name, cap=200))
    project.full_clean()
    with transaction.atomic():
        with users.unless_taken():
            project.save(force_insert=True)
        after = {"key": project.key, "name": project.name}
        events.record(actor=actor, action="project.created", subject=project, project=project, after=after)
    return project


def edit_project(actor: User, *, project: Project, retention_days: int, review_after_days: int) -> Project:
    """How long evidence lives that comes in from now on (1 to 90 days), and after how long a case in a lane is reviewed
    again (1 to 730 days). What is there already keeps its dates."""
    _between("retention_days", retention_days, LONGEST_RETENTION_DAYS)
    _between("review_after_days", review_after_days, LONGEST_REVIEW_DAYS)
    with transaction.atomic():
        project = _locked(actor, project)
        before = _policy(project)
        project.retention_days, project.review_after_days = retention_days, review_after_days
        if before == _policy(project):
            return project
        project.save(update_fields=["retention_days", "review_after_days"])
        events.record(
            actor=actor,
            action="project.edited",
            subject=project,
            project=project,
            before=before,
            after=_policy(project),
        )
        return project


def _policy(project: Project) -> dict[str, int]:
    return {"retention_days": project.retention_days, "review_after_days": project.review_after_days}


def _between(field: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise ValidationError({field: [f"It must be from 1 to {most} days."]})


# --- tokens ---------------------------------------------------------------------------------------------------------


def create_token(actor: User, *, project: Project, name: str, scopes: Sequence[str], days: int) -> tuple[ApiToken, str]:
    """A token of the actor's own for a project in which they hold a role, good for `days`; with its secret, which is
    not kept and cannot be shown again. Raises PermissionDenied or ValidationError."""
    policies.refuse_tokens(actor)
    cleaned = name_of(name)
    _between("days", days, LONGEST_TOKEN_DAYS)
    wanted = [scope for scope in Scope if scope in scopes]
    if not wanted or set(scopes) - set(wanted):
        raise ValidationError({"scopes": [f"Choose at least one of {', '.join(Scope.values)}."]})
    secret = tokens.new_token_secret()
    with transaction.atomic():
        lock_project(project)
        if not access.roles_of(actor, project):
            raise PermissionDenied(f"You hold no role in {project.key}; a token of yours could do nothing there.")
        token = ApiToken.objects.create(
            project=project,
            user=actor,
            name=cleaned,
            prefix=tokens.prefix_of(secret),
            secret_hash=tokens.hash_of(secret),
            scopes=[scope.value for scope in wanted],
            expires_at=timezone.now() + timedelta(days=days),
        )
        after = {"prefix": token.prefix, "scopes": token.scopes, "expires_at": token.expires_at.isoformat()}
        events.record(actor=actor, action="token.created", subject=token, project=project, after=after)
    return token, secret


def revoke_token(actor: User, *, token: ApiToken) -> ApiToken:
    """End one's own token, or as administrator that of anybody in the project, at once. Raises PermissionDenied, or
    InvalidTransition if it is revoked already."""
    policies.refuse_tokens(actor)
    with transaction.atomic():
        lock_project(token.project)
        if token.user_id != actor.pk:
            require_administrator(actor, token.project)
        token = ApiToken.objects.select_for_update(of=("self",)).select_related("project").get(pk=token.pk)
        if token.revoked_at is not None:
            raise policies.InvalidTransition(f"The token {token} is revoked already.")
        token.revoked_at, token.revoked_by = timezone.now(), actor
        token.save(update_fields=["revoked_at", "revoked_by"])
        before = {"prefix": token.prefix, "owner": str(token.user_id)}
        events.record(actor=actor, action="token.revoked", subject=token, project=token.project, before=before)
    return token
