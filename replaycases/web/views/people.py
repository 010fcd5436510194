"""The people of a project: who holds which role, teams, who owns what, and who was invited."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from replaycases.accounts.models import ApiToken, Invitation, Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import invitations, people, users
from replaycases.cases.models import Case, CaseOwner
from replaycases.web import owners_page, people_page
from replaycases.web.forms_people import (
    AccountForm,
    InvitationForm,
    ProjectForm,
    ProjectSettingsForm,
    RoleForm,
    TeamForm,
    TeamMembersForm,
)
from replaycases.web.pages import page_of
from replaycases.web.scope import project_or_404, team_or_404, user_of

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
# Where the secret of an opened invitation waits while somebody signs in or makes an account.
OPENED = "invitation"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_list(request: HttpRequest) -> HttpResponse:
    """Straight to the project for whoever is in one. A superuser creates others here."""
    user = user_of(request)
    if request.method == "POST":
        return _create_project(request)
    projects = Project.objects.visible_to(user).order_by("key")[:500]
    if len(projects) == 1 and not user.is_superuser:
        return redirect("people", projects[0].key)
    return _render_projects(request, ProjectForm())


def _create_project(request: HttpRequest) -> HttpResponse:
    users.require_superuser(user_of(request))
    form = ProjectForm(request.POST)
    if form.is_valid():
        try:
            made = people.create_project(user_of(request), **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"Project {made.key} is created. Invite who administers it, and who works in it.")
            return redirect("people", made.key)
    return _render_projects(request, form, status=422)


def _render_projects(request: HttpRequest, form: ProjectForm, *, status: int = 200) -> HttpResponse:
    user = user_of(request)
    projects = Project.objects.visible_to(user).order_by("key")[:500]
    context = {"section": "people", "projects": projects, "form": form if user.is_superuser else None}
    return render(request, "people/list.html", context, status=status)


@login_required
@require_safe
def project_people(request: HttpRequest, key: str) -> HttpResponse:
    return _render_people(request, project_or_404(request, key))


def _render_people(request: HttpRequest, project: Project, *, status: int = 200, **shown: Any) -> HttpResponse:
    """`shown` replaces a form that was refused, or holds the `link` of an invitation, which is shown this once."""
    administers = people.may_administer(user_of(request), project)
    members, teams = people_page.members_and_teams(project)
    tokens = ApiToken.objects.filter(project=project, revoked_at=None).select_related("user").order_by("expires_at")
    context = {
        "section": "people",
        "project": project,
        "administers": administers,
        "members": members,
        "teams": teams,
        "role_form": RoleForm(project=project),
        "invitation_form": InvitationForm(),
        "team_form": TeamForm(),
        "settings_form": ProjectSettingsForm(
            initial={"retention_days": project.retention_days, "review_after_days": project.review_after_days}
        ),
        "invited": invitations.open_invitations(project).select_related("invited_by") if administers else (),
        "tokens": tokens if administers else (),
        **shown,
    }
    return render(request, "people/detail.html", context, status=status)


@login_required
@require_POST
def grant_role(request: HttpRequest, key: str) -> HttpResponse:
    project = project_or_404(request, key)
    people.require_administrator(user_of(request), project)
    form = RoleForm(request.POST, project=project)
    if form.is_valid():
        try:
            held = people.grant_role(user_of(request), project=project, **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"{held.user} is {held.get_role_display()} now.")
            return redirect("people", project.key)
    return _render_people(request, project, role_form=form, status=422)


@login_required
@require_POST
def revoke_role(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    project = project_or_404(request, key)
    held = get_object_or_404(Membership.objects.select_related("user"), project=project, pk=pk)
    people.revoke_role(user_of(request), project=project, user=held.user, role=Role(held.role))
    messages.success(request, f"{held.user} is no longer {held.get_role_display()}.")
    return redirect("people", project.key)


@login_required
@require_POST
def revoke_token(request: HttpRequest, key: str, pk: UUID) -> HttpResponse:
    project = project_or_404(request, key)
    people.require_administrator(user_of(request), project)
    token = get_object_or_404(ApiToken.objects.select_related("project"), project=project, pk=pk)
    people.revoke_token(user_of(request), token=token)
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("people", project.key)


@login_required
@require_POST
def edit_settings(request: HttpRequest, key: str) -> HttpResponse:
    project = project_or_404(request, key)
    people.require_administrator(user_of(request), project)
    form = ProjectSettingsForm(request.POST)
    if form.is_valid():
        people.edit_project(user_of(request), project=project, **form.cleaned_data)
        messages.success(request, "The settings are kept.")
        return redirect("people", project.key)
    return _render_people(request, project, settings_form=form, status=422)


# --- teams and owners -----------------------------------------------------------------------------------------------


@login_required
@require_POST
def create_team(request: HttpRequest, key: str) -> HttpResponse:
    project = project_or_404(request, key)
    people.require_administrator(user_of(request), project)
    form = TeamForm(request.POST)
    if form.is_valid():
        try:
            team = people.create_team(user_of(request), project=project, name=form.cleaned_data["name"])
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"The team {team.name} is there. Choose its members.")
            return redirect("team", project.key, team.pk)
    return _render_people(request, project, team_form=form, status=422)


@login_required
@require_safe
def team_detail(request: HttpRequest, key: str, pk: UUID) -> HttpResponse:
    return _render_team(request, team_or_404(request, key, pk))


def _render_team(request: HttpRequest, team: Team, *, status: int = 200, **shown: Any) -> HttpResponse:
    members = list(team.members.order_by("display_name", "username"))
    owned = CaseOwner.objects.filter(team=team).select_related("case__project").order_by("case__number", "boundary")
    page = page_of(request, owned)
    context = {
        "section": "people",
        "project": team.project,
        "team": team,
        "members": members,
        "page": page,
        "administers": people.may_administer(user_of(request), team.project),
        "name_form": TeamForm(initial={"name": team.name}),
        "members_form": TeamMembersForm(team=team, initial={"members": members}),
        **shown,
    }
    return render(request, "people/team.html", context, status=status)


@login_required
@require_POST
def rename_team(request: HttpRequest, key: str, pk: UUID) -> HttpResponse:
    team = team_or_404(request, key, pk)
    people.require_administrator(user_of(request), team.project)
    form = TeamForm(request.POST)
    if form.is_valid():
        try:
            team = people.rename_team(user_of(request), team=team, name=form.cleaned_data["name"])
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"The team is called {team.name} now.")
            return redirect("team", team.project.key, team.pk)
    return _render_team(request, team, name_form=form, status=422)


@login_required
@require_POST
def set_team_members(request: HttpRequest, key: str, pk: UUID) -> HttpResponse:
    team = team_or_404(request, key, pk)
    people.require_administrator(user_of(request), team.project)
    form = TeamMembersForm(request.POST, team=team)
    if form.is_valid():
        try:
            people.set_team_members(user_of(request), team=team, members=form.cleaned_data["members"])
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, "The members are set.")
            return redirect("team", team.project.key, team.pk)
    return _render_team(request, team, members_form=form, status=422)


@login_required
@require_safe
def owners(request: HttpRequest, key: str) -> HttpResponse:
    project = project_or_404(request, key)
    form = owners_page.OwnerFilter(request.GET, project=project)
    page = page_of(request, owners_page.listed(project, form))
    context = {
        "section": "people",
        "project": project,
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "has_cases": bool(page.object_list) or Case.objects.filter(project=project).exists(),
        "page": page,
        "rows": owners_page.rows(list(page.object_list)),
    }
    return render(request, "people/owners.html", context)


# --- invitations ----------------------------------------------------------------------------------------------------


@login_required
@require_POST
def invite(request: HttpRequest, key: str) -> HttpResponse:
    """The answer shows the link: nobody can show it again."""
    project = project_or_404(request, key)
    people.require_administrator(user_of(request), project)
    form = InvitationForm(request.POST)
    if form.is_valid():
        try:
            made, secret = invitations.invite(user_of(request), project=project, **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            # Under the name by which this page was opened: whoever copies the link reaches the server by it.
            link = request.build_absolute_uri(reverse("invitation_link", args=[secret]))
            return _render_people(
                request, project, invitation=made, link=link, mail_is_sent=invitations.mail_is_sent(), status=201
            )
    return _render_people(request, project, invitation_form=form, status=422)


@login_required
@require_POST
def revoke_invitation(request: HttpRequest, key: str, pk: UUID) -> HttpResponse:
    project = project_or_404(request, key)
    people.require_administrator(user_of(request), project)
    invitation = get_object_or_404(Invitation.objects.select_related("project"), project=project, pk=pk)
    invitations.revoke_invitation(user_of(request), invitation=invitation)
    messages.success(request, f"The invitation of {invitation.email} is revoked.")
    return redirect("people", project.key)


@require_safe
def open_invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """The secret moves into the session and out of the address, so that no Referer and no log line of a later request
    holds it."""
    request.session[OPENED] = secret
    return redirect("invitation")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def accept_invitation(request: HttpRequest) -> HttpResponse:
    secret = request.session.get(OPENED, "")
    invitation = invitations.find(secret)
    if invitation is None:
        return render(request, "people/invitation_over.html", {"reason": invitations.USED}, status=404)
    if request.user.is_authenticated:
        return _join(request, invitation, secret)
    form = AccountForm(request.POST or None)
    if form.is_valid():
        try:
            user = invitations.accept_invitation(secret, **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            del request.session[OPENED]
            login(request, user, backend=MODEL_BACKEND)
            messages.success(request, f"Welcome. You are in {invitation.project.key} now.")
            return redirect("home")
    known = User.objects.filter(email__iexact=invitation.email).exists()
    context = {"invitation": invitation, "form": form, "known": known}
    return render(request, "people/invitation.html", context, status=422 if request.method == "POST" else 200)


def _join(request: HttpRequest, invitation: Invitation, secret: str) -> HttpResponse:
    user = user_of(request)
    if request.method == "POST":
        invitations.join(user, secret=secret)
        del request.session[OPENED]
        messages.success(request, f"You are in {invitation.project.key} now.")
        return redirect("home")
    own = user.email.lower() == invitation.email.lower()
    context = {"invitation": invitation, "own": own}
    return render(request, "people/invitation.html", context)
