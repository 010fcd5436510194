"""The forms of what is said about a case apart from its evidence. They check shape; the domain functions decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from replaycases.accounts.models import Team, User
from replaycases.cases import details, texts
from replaycases.cases.models import Boundary, Case, Implementation
from replaycases.web.forms import StatementForm, StyledForm, implementation_label
from replaycases.web.members import grouped, owners_of


class EditStatementForm(StatementForm):
    """`seen` is the statement that the person saw when they began."""

    seen = forms.CharField(widget=forms.HiddenInput)


class ProvenanceForm(StyledForm):
    incident_url = forms.CharField(
        required=False,
        max_length=details.URL_CAP,
        label="Incident",
        help_text="Its address, beginning with https:// or http://.",
    )
    trace_id = forms.CharField(required=False, max_length=texts.NAME_CAP, label="Trace")
    trace_url = forms.CharField(
        required=False,
        max_length=details.URL_CAP,
        label="Address of the trace",
        help_text="Beginning with https:// or http://.",
    )
    affected = forms.ModelChoiceField(
        queryset=Implementation.objects.none(),
        required=False,
        empty_label="not known",
        label="Affected version",
        help_text="In which the incident happened.",
    )
    fixed = forms.ModelChoiceField(
        queryset=Implementation.objects.none(),
        required=False,
        empty_label="none yet",
        label="Fixed version",
        help_text="Which no longer shows it.",
    )
    covering_test = forms.CharField(
        required=False,
        max_length=details.TEST_CAP,
        help_text="The test in the workflow's own repository that covers it now.",
    )

    def __init__(self, *args: Any, case: Case, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for side in ("affected", "fixed"):
            field = self.fields[side]
            field.queryset = Implementation.objects.filter(project=case.project).order_by("name", "-created_at")  # type: ignore[attr-defined]
            field.label_from_instance = implementation_label  # type: ignore[attr-defined]


class OwnersForm(StyledForm):
    """A select for each boundary: nobody, a team or a person of the project."""

    def __init__(self, *args: Any, case: Case, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = owners_of(case.project)
        self.fields |= owner_fields(self.known)

    def owners(self) -> Mapping[Boundary, User | Team | None]:
        return {boundary: self.known.get(self.cleaned_data[boundary.value]) for boundary in Boundary}


def owner_fields(known: Mapping[str, User | Team]) -> dict[str, forms.ChoiceField]:
    """By the boundary's value."""
    choices = [("", "nobody yet"), *grouped(known)]
    return {
        boundary.value: forms.ChoiceField(
            choices=choices,
            required=False,
            label=boundary.label,
            help_text=OWNS[boundary],
            widget=forms.Select(attrs={"class": "input"}),
        )
        for boundary in Boundary
    }


OWNS: Mapping[Boundary, str] = {
    Boundary.PROHIBITED_OUTCOME: "Approves what must never follow, and signs the hand-off.",
    Boundary.WORKFLOW: "Owns the adapter and mends the workflow.",
    Boundary.DEPENDENCY: "Says whether an error came before acceptance, after it, or is not known.",
    Boundary.SUITE_POLICY: "Owns validation, controls and the lanes.",
    Boundary.PRIVACY: "Approves the redaction and who may read.",
}


class GraderForm(StyledForm):
    grader = forms.CharField(max_length=texts.NAME_CAP)
    version = forms.CharField(max_length=texts.NAME_CAP)
    label = forms.CharField(max_length=texts.NAME_CAP, help_text="What it called the incident.")
    result = forms.CharField(
        required=False, max_length=texts.TEXT_CAP, help_text="Its score or its words. Evidence, never an oracle."
    )
