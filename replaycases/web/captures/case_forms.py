"""The forms that make a case of a draft, and that bring a changed draft into it."""

from __future__ import annotations

from typing import Any

from django import forms

from replaycases.cases import incident_reports, texts
from replaycases.cases.models import Capture, IncidentReport
from replaycases.web.forms import StatementForm, StyledForm


class MakeCaseForm(StatementForm):
    """The failure statement. What was reported stands in the capture already. `despite` is asked where the recorded run
    does not break what is said to be the incident."""

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
        waiting = incident_reports.open_about(capture)
        self.fields["findings"].queryset = waiting  # type: ignore[attr-defined]
        self.fields["findings"].initial = waiting


class ReviseForm(StyledForm):
    changed = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="What is changed",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="In a sentence, for who reviews it.",
    )
    seen_revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
