"""The forms of the pages. They check shape; what is allowed is decided by the domain functions they feed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import CREATES_CASES, REGISTERS_IMPLEMENTATIONS, Role
from replaycases.cases import texts
from replaycases.cases.declaring import MAX_SET_SIZE
from replaycases.cases.models import Case, FixtureRevision, Implementation, OutcomeType
from replaycases.verdict.sides import FEWEST_RESULTS
from replaycases.web.members import members_of
from replaycases.web.templatetags.ui import short_commit


def projects_where(user: User, roles: Iterable[Role]) -> Any:
    """Projects in which the user holds one of the roles: the only ones a form offers."""
    return Project.objects.filter(memberships__user=user, memberships__role__in=roles).distinct().order_by("key")


class StyledForm(forms.Form):
    """Gives every text-like control our class; the templates lay the fields out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        for field in self.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput | forms.RadioSelect | forms.HiddenInput):
                field.widget.attrs.setdefault("class", "input")


def validate_size(file: UploadedFile[bytes]) -> None:
    if (file.size or 0) > settings.MAX_UPLOAD_BYTES:
        raise forms.ValidationError(f"The file has {file.size} bytes; at most {settings.MAX_UPLOAD_BYTES} are kept.")


def detect_field() -> forms.FileField:
    return forms.FileField(
        required=False,
        validators=[validate_size],
        label="Detect rules",
        help_text="Only for 1.0: {statement: rule}. Without them a claim counts only if it is reported word for word.",
    )


class ProjectForm(StyledForm):
    project = forms.ModelChoiceField(queryset=Project.objects.none(), empty_label=None)
    roles: frozenset[Role] = frozenset()

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects_where(user, self.roles)  # type: ignore[attr-defined]


class StatementForm(StyledForm):
    """The failure statement: three named parts. What is too vague is said beside the part by the domain."""

    title = forms.CharField(
        max_length=texts.TITLE_CAP, help_text="One line: what went wrong, as an observer would say it."
    )
    trigger = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="1. Trigger",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What happened to the workflow. Example: the status call timed out after dispatch.",
    )
    prohibited_outcome = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="2. Prohibited outcome",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What must never follow. “The answer was bad” cannot be decided; name the claim or the effect.",
    )
    deciding_evidence = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="3. Deciding evidence",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Where it can be seen. Example: the final message and the recorded error of call 2.",
    )
    reported_symptom = forms.CharField(
        max_length=texts.TEXT_CAP,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What was reported, in whatever words. It decides nothing.",
    )


class NewCaseForm(StatementForm, ProjectForm):
    """A case starts from a failure statement, and from a fixture or a blank form."""

    roles = CREATES_CASES
    FIXTURE, BLANK = "fixture", "blank"

    incident_id = forms.CharField(max_length=texts.NAME_CAP, label="Incident", help_text="The incident's own id.")
    start = forms.ChoiceField(
        choices=[(FIXTURE, "From a fixture"), (BLANK, "From a blank form; the fixture comes later")],
        initial=FIXTURE,
        required=False,
        widget=forms.RadioSelect(attrs={"class": ""}),
        label="How it starts",
    )
    fixture = forms.FileField(required=False, validators=[validate_size], help_text="Fixture JSON, schema 1.0 or 2.0.")
    detect = detect_field()
    evidence_days = forms.IntegerField(
        required=False,
        min_value=1,
        label="Keep raw evidence for",
        help_text="Days. Left empty: as long as the project keeps any, and never longer than that.",
    )
    security_incident = forms.BooleanField(
        required=False,
        label="This is a security incident",
        help_text="It is contained first, and nothing is replayed before the security owner confirms that.",
    )
    on_behalf_of = forms.ModelChoiceField(
        queryset=User.objects.none(),
        required=False,
        empty_label="nobody else",
        label="Captured on behalf of",
        help_text="They approve nothing of it, as you do not.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        colleagues = members_of(projects_where(user, self.roles)).exclude(pk=user.pk)
        self.fields["on_behalf_of"].queryset = colleagues  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if said.get("start") == self.BLANK:
            said["fixture"] = said["detect"] = None
        elif not said.get("fixture") and "fixture" not in self.errors:
            self.add_error("fixture", "Choose the fixture, or start from a blank form.")
        return said


class NamedControlForm(StyledForm):
    """What a control is about. The tool is asked for where `revision` has several with an effect; the only one is taken
    without asking."""

    name = forms.CharField(
        max_length=texts.NAME_CAP, help_text="What happens in it. Example: confirmed before the timeout."
    )
    outcome_type = forms.ChoiceField(
        choices=OutcomeType.choices, label="Kind of outcome", help_text="How the recorded dependency ends in it."
    )
    tool = forms.ChoiceField(label="Tool", help_text="Whose outcome that is.")

    def __init__(self, *args: Any, revision: FixtureRevision | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tools = revision.effectful_tools if revision else []
        if len(tools) < 2:
            del self.fields["tool"]
        else:
            self.fields["tool"].choices = [("", "Choose the tool"), *((tool, tool) for tool in tools)]  # type: ignore[attr-defined]


class ControlForm(NamedControlForm):
    """A neighbouring case for the current revision. The mutation is required: a control that was never seen to fail
    is not passed, whatever its runs say."""

    fixture = forms.FileField(validators=[validate_size], help_text="Fixture JSON on which the new version must hold.")
    mutation = forms.FileField(
        validators=[validate_size],
        help_text="A JSON Patch on its recorded answers. Once applied, the new version must fail it.",
    )
    detect = detect_field()


class ArchiveForm(ProjectForm):
    roles = REGISTERS_IMPLEMENTATIONS
    archive = forms.FileField(validators=[validate_size], help_text="A .tar.gz or .zip of the source tree.")
    spec_path = forms.CharField(
        max_length=400,
        label="Path of the specification",
        initial="implementation.json",
        help_text="Inside the archive: the JSON file with name, version, commit, path and adapter.",
    )


class PathForm(ProjectForm):
    roles = REGISTERS_IMPLEMENTATIONS
    path = forms.CharField(
        max_length=1000,
        label="Path of the specification on the server",
        help_text="Only under a directory that an administrator allowed.",
    )


class ComparisonForm(StyledForm):
    """Ask for replays of an old and a new implementation of one case, or of one of them alone."""

    old = forms.ModelChoiceField(
        queryset=Implementation.objects.none(),
        required=False,
        label="Old implementation",
        empty_label="none: the new one alone",
        help_text="The affected version. Alone it shows whether the incident is red.",
    )
    new = forms.ModelChoiceField(
        queryset=Implementation.objects.none(),
        required=False,
        label="New implementation",
        empty_label="none: the old one alone",
        help_text="The fixed version. It needs no replay before the case goes to review.",
    )
    size = forms.IntegerField(
        label="Runs a side",
        initial=FEWEST_RESULTS,
        min_value=FEWEST_RESULTS,
        max_value=MAX_SET_SIZE,
        help_text=f"At least {FEWEST_RESULTS}. Every run counts; none is retried.",
    )
    with_controls = forms.BooleanField(
        required=False, initial=True, label="Run the controls too", help_text="Without them no gate accepts the result."
    )

    def __init__(self, *args: Any, case: Case, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = Implementation.objects.visible_to(user).filter(project=case.project).order_by("name", "-created_at")
        self.known = [(version.pk, implementation_label(version)) for version in known.defer("spec")]
        for side in ("old", "new"):
            field = self.fields[side]
            field.queryset = known  # type: ignore[attr-defined]
            # One query for both sides.
            field.choices = [("", field.empty_label), *self.known]  # type: ignore[attr-defined]


def implementation_label(implementation: Implementation) -> str:
    return f"{implementation.name} {implementation.version} ({short_commit(implementation.commit)})"
