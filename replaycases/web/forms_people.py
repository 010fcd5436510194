"""Forms about people: roles, invitations, teams, tokens, passwords. They check shape; the domain decides."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm

from replaycases.accounts.models import LONGEST_RETENTION_DAYS, Project, Scope, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import people, users
from replaycases.web.forms import StyledForm, projects_where
from replaycases.web.members import members_of

PASSWORD_RULES = "At least 12 characters, not a common one, not only digits and not like your name."  # noqa: S105


def person_label(user: User) -> str:
    return f"{user} ({user.username})" if user.display_name else user.username


class ProjectForm(StyledForm):
    key = forms.RegexField(
        r"\A[A-Za-z][A-Za-z0-9]{0,11}\Z",
        help_text="At most 12 letters and digits, a letter first. Case ids begin with it, as in RC-17. It stays.",
        error_messages={"invalid": "A key has at most 12 letters and digits, and begins with a letter."},
    )
    name = forms.CharField(max_length=200)

    def clean_key(self) -> str:
        return str(self.cleaned_data["key"]).upper()


class RoleForm(StyledForm):
    """One more role for somebody who is in the project already."""

    user = forms.ModelChoiceField(queryset=User.objects.none(), label="Person", empty_label="Choose a person")
    role = forms.ChoiceField(choices=Role.choices, label="Role")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["user"]
        field.queryset = members_of([project])  # type: ignore[attr-defined]
        field.label_from_instance = person_label  # type: ignore[attr-defined]

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])


class InvitationForm(StyledForm):
    email = forms.EmailField(label="E-mail address", help_text="The invitation is for this address alone.")
    roles = forms.MultipleChoiceField(choices=Role.choices, widget=forms.CheckboxSelectMultiple, label="Roles")

    def clean_roles(self) -> list[Role]:
        return [Role(role) for role in self.cleaned_data["roles"]]


class TeamForm(StyledForm):
    name = forms.CharField(max_length=people.NAME_CAP, label="Name of the team")


class TeamMembersForm(StyledForm):
    """Everybody in the project; who has left it cannot be chosen again."""

    members = forms.ModelMultipleChoiceField(
        queryset=User.objects.none(), required=False, widget=forms.CheckboxSelectMultiple, label="Members"
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["members"]
        field.queryset = members_of([team.project])  # type: ignore[attr-defined]
        field.label_from_instance = person_label  # type: ignore[attr-defined]


class ProjectSettingsForm(StyledForm):
    retention_days = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_RETENTION_DAYS,
        label="Raw evidence lives (days)",
        help_text=f"1 to {LONGEST_RETENTION_DAYS}, for evidence that comes in from now on.",
    )
    review_after_days = forms.IntegerField(
        min_value=1,
        max_value=people.LONGEST_REVIEW_DAYS,
        label="Cases in a lane are reviewed again after (days)",
        help_text=f"1 to {people.LONGEST_REVIEW_DAYS}, counted from the next promotion or review.",
    )


class TokenForm(StyledForm):
    project = forms.ModelChoiceField(queryset=Project.objects.none(), empty_label=None)
    name = forms.CharField(max_length=people.NAME_CAP, help_text="What uses it. Example: nightly build.")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=forms.CheckboxSelectMultiple, label="What it may be used for"
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=people.LONGEST_TOKEN_DAYS,
        initial=90,
        label="Good for (days)",
        help_text=f"1 to {people.LONGEST_TOKEN_DAYS}. It cannot be made longer; make another one then.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects_where(user, Role)  # type: ignore[attr-defined]


class AccountForm(StyledForm):
    """What somebody who was invited says about themselves."""

    username = forms.CharField(
        max_length=150,
        label="User name",
        help_text="What you sign in with: letters, digits and @ . + - _",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    display_name = forms.CharField(
        max_length=150,
        label="Your name",
        help_text="As it stands beside what you decide.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label="Password",
        help_text=PASSWORD_RULES,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        strip=False,
    )


class NewPasswordForm(SetPasswordForm):  # type: ignore[type-arg] # generic in its stubs only
    """Django's, with our look and an audit event."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"
        self.fields["new_password1"].help_text = PASSWORD_RULES
        self.fields["new_password2"].help_text = "The same once more."

    def save(self, commit: bool = True) -> User:
        user: User = self.user
        users.set_own_password(user, password=self.cleaned_data["new_password1"])
        return user


class OldPasswordForm(NewPasswordForm, PasswordChangeForm):
    """The same, for whoever knows the old one."""
