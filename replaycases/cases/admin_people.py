"""People in the administrators' site: every change goes through `cases.people`, `cases.users` and `cases.invitations`,
with their rules and their audit events."""

from __future__ import annotations

from typing import Any, cast

from axes.models import AccessAttempt
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import BaseUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from replaycases.accounts.models import ApiToken, Invitation, Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import invitations, people, users
from replaycases.cases.read_only_admin import ReadOnlyAdmin, ThroughServices, for_each

admin.site.unregister(Group)  # rights are roles in projects, and nothing else


def actor_of(request: HttpRequest) -> User:
    return cast("User", request.user)


class NewUserForm(BaseUserCreationForm):  # type: ignore[type-arg]  # not generic at run time
    class Meta:
        model = User
        fields = ["username", "email", "display_name"]


class EditUserForm(UserChangeForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = "__all__"


@admin.register(User)
class OurUserAdmin(ThroughServices[User], UserAdmin):  # type: ignore[type-arg]
    """An account is closed, never deleted: what it decided keeps its name."""

    form = EditUserForm
    add_form = NewUserForm
    list_display = ["username", "display_name", "email", "is_active", "is_superuser", "last_login"]
    list_filter = ["is_active", "is_superuser"]
    search_fields = ["username", "display_name", "email"]
    filter_horizontal = []
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        ("Person", {"fields": ["display_name", "email"]}),
        ("Account", {"fields": ["is_active", "is_superuser", "last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["username", "email", "display_name", "password1", "password2"]})]

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        if change:
            said = {name: form.cleaned_data[name] for name in users.EDITED if name in form.cleaned_data}
            users.edit_user(actor_of(request), user=obj, changes=said)
        else:
            users.create_user(actor_of(request), user=obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Groups and permissions of Django's mean nothing here."""

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        with transaction.atomic():
            response = super().user_change_password(request, id, form_url)
            if request.method == "POST" and response.status_code == 302:
                users.note_password_set(actor_of(request), user=User.objects.get(pk=id))
        return response


@admin.register(Project)
class ProjectAdmin(ThroughServices[Project]):
    list_display = ["key", "name", "retention_days", "review_after_days"]
    search_fields = ["key", "name"]

    def get_fields(self, request: HttpRequest, obj: Project | None = None) -> list[Any]:
        return ["key", "name"] if obj is None else ["key", "name", "retention_days", "review_after_days"]

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> list[str]:
        return [] if obj is None else ["key", "name"]

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        said = form.cleaned_data
        if change:
            people.edit_project(
                actor_of(request),
                project=obj,
                retention_days=said["retention_days"],
                review_after_days=said["review_after_days"],
            )
        else:
            _become(obj, people.create_project(actor_of(request), key=said["key"], name=said["name"]))


@admin.register(Membership)
class MembershipAdmin(ThroughServices[Membership]):
    list_display = ["user", "project", "role"]
    list_filter = ["project", "role"]
    list_select_related = ["user", "project"]
    search_fields = ["user__username", "user__display_name", "user__email"]
    autocomplete_fields = ["user", "project"]
    actions = ["take_away"]

    def has_change_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        _become(obj, people.grant_role(actor_of(request), project=obj.project, user=obj.user, role=Role(obj.role)))

    @admin.action(description="Take the chosen roles away")
    def take_away(self, request: HttpRequest, chosen: QuerySet[Membership]) -> None:
        def revoke(held: Membership) -> None:
            people.revoke_role(actor_of(request), project=held.project, user=held.user, role=Role(held.role))

        for_each(request, chosen.select_related("user", "project"), revoke, "taken away")


@admin.register(Team)
class TeamAdmin(ThroughServices[Team]):
    list_display = ["name", "project"]
    list_filter = ["project"]
    list_select_related = ["project"]
    search_fields = ["name"]
    fields = ["project", "name", "members"]
    autocomplete_fields = ["members"]

    def get_readonly_fields(self, request: HttpRequest, obj: Team | None = None) -> list[str]:
        return [] if obj is None else ["project"]

    def save_model(self, request: HttpRequest, obj: Team, form: Any, change: bool) -> None:
        if not change:
            _become(obj, people.create_team(actor_of(request), project=obj.project, name=obj.name))
        elif "name" in form.changed_data:
            people.rename_team(actor_of(request), team=obj, name=obj.name)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        people.set_team_members(actor_of(request), team=form.instance, members=form.cleaned_data["members"])


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin[Invitation]):
    """Made on the project's page, where the link is shown."""

    exclude = ["secret_hash"]
    list_display = ["email", "project", "roles", "invited_by", "expires_at", "accepted_at", "revoked_at"]
    list_filter = ["project"]
    list_select_related = ["project", "invited_by"]
    search_fields = ["email"]
    date_hierarchy = "created_at"
    actions = ["revoke"]

    @admin.action(description="Revoke the chosen invitations")
    def revoke(self, request: HttpRequest, chosen: QuerySet[Invitation]) -> None:
        def end(invitation: Invitation) -> None:
            invitations.revoke_invitation(actor_of(request), invitation=invitation)

        for_each(request, chosen.select_related("project"), end, "revoked")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin[ApiToken]):
    """Made by their owners, on the account page."""

    exclude = ["secret_hash"]
    list_display = ["name", "prefix", "user", "project", "scopes", "expires_at", "last_used_at", "revoked_at"]
    list_filter = ["project"]
    list_select_related = ["user", "project"]
    search_fields = ["name", "prefix", "user__username"]
    date_hierarchy = "created_at"
    actions = ["revoke"]

    @admin.action(description="Revoke the chosen tokens")
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        def end(token: ApiToken) -> None:
            people.revoke_token(actor_of(request), token=token)

        for_each(request, chosen.select_related("user", "project"), end, "revoked")


@admin.register(AccessAttempt)
class AccessAttemptAdmin(ReadOnlyAdmin[AccessAttempt]):
    """Sign-ins that failed and are counted: see `AXES_…` in the settings."""

    exclude = ["get_data", "post_data", "http_accept"]
    list_display = ["username", "ip_address", "failures_since_start", "attempt_time"]
    search_fields = ["username", "ip_address"]
    actions = ["forget"]

    @admin.action(description="Let them try again now")
    def forget(self, request: HttpRequest, chosen: QuerySet[AccessAttempt]) -> None:
        def unlock(attempt: AccessAttempt) -> None:
            users.forget_attempts(actor_of(request), username=attempt.username, address=attempt.ip_address)

        for_each(request, chosen, unlock, "forgotten")


def _become(obj: Any, stored: Any) -> None:
    """The admin's unsaved row takes the identity of the one that the service stored."""
    obj.pk, obj._state.adding = stored.pk, False
