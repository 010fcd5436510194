"""The forms that make a case of a draft, and that bring a changed draft into it."""

from __future__ import annotations

from typing import Any

from django import forms

from replaycases.cases import incident_reports, texts
from replaycases.cases.models import Boundary, Capture, IncidentReport
from replaycases.web.forms import StatementForm, StyledForm
from replaycases.web.forms_details import owner_fields
from replaycases.web.members import owners_of


class MakeCaseForm(StatementForm):
    """The failure statement. What was reported stands in the capture already. `despite` is asked where the recorded run
    does not break what is said to be the incident. Owners may be named with it, and the trace where the capture names
    none: both are asked for before the case goes into a lane."""

    trace_id = forms.CharField(
        required=False,
        max_length=texts.NAME_CAP,
        label="Trace",
        help_text="Its id. Where there never was one, say so.",
    )

    despite = forms.CharField(
        required=False,
        max_length=texts.TEXT_CAP,
        label="Why the case is made all the same",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="It stands in the timeline of the case, for everyone.",
    )

    security_incident = forms.BooleanField(
        required=False,
        label="This is a security incident",
        help_text="It is contained first, and nothing is replayed before the security owner confirms that.",
    )
    findings = forms.ModelMultipleChoiceField(
        queryset=IncidentReport.objects.none(),
        required=False,
        label="Findings about this trace that the case settles",
        help_text="The case keeps what was found as a grader's. Those that are not chosen wait on.",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, capture: Capture, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reported_symptom"]
        if capture.trace_id:
            del self.fields["trace_id"]
        self.known = owners_of(capture.project)
        self.fields |= {_owner(name): field for name, field in owner_fields(self.known).items()}
        waiting = incident_reports.open_about(capture)
        self.fields["findings"].queryset = waiting  # type: ignore[attr-defined]
        self.fields["findings"].initial = waiting

    @property
    def owner_choices(self) -> list[forms.BoundField]:
        return [self[_owner(boundary)] for boundary in Boundary]

    @property
    def owners_are_open(self) -> bool:
        return any(field.value() or field.errors for field in self.owner_choices)

    def said(self) -> dict[str, Any]:
        """As `drafts.make_case` takes it."""
        names = {_owner(boundary): boundary for boundary in Boundary}
        said = {name: value for name, value in self.cleaned_data.items() if name not in names}
        owners = {names[name]: self.known.get(self.cleaned_data[name]) for name in names}
        return {**said, "owners": {boundary: owner for boundary, owner in owners.items() if owner is not None}}


def _owner(boundary: str) -> str:
    """One boundary has the name of a part of the statement."""
    return f"owner_{boundary}"


class ReviseForm(StyledForm):
    changed = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="What is changed",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="In a sentence, for who reviews it.",
    )
    seen_revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
