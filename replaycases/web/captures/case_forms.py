"""The forms that make a case of a draft, and that bring a changed draft into it."""

from __future__ import annotations

from typing import Any

from django import forms

from replaycases.cases import texts
from replaycases.web.forms import StatementForm, StyledForm


class MakeCaseForm(StatementForm):
    """The failure statement. What was reported stands in the capture already."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reported_symptom"]


class ReviseForm(StyledForm):
    changed = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="What is changed",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="In a sentence, for who reviews it.",
    )
    seen_revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
