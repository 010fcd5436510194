"""Forms of a redaction review. They check shape; what a form points at is looked up, and domain functions decide."""

from __future__ import annotations

import re
from datetime import datetime, time

from django import forms
from django.utils import timezone

from replaycases.cases import texts, waivers
from replaycases.cases.models import RuleAction
from replaycases.redaction.manual import LONGEST_SURROGATE
from replaycases.web.forms import StyledForm
from replaycases.web.redactions import told

_NUMBERS = re.compile(r"\d{1,7}(?:-\d{1,7})?(?:,\d{1,7}(?:-\d{1,7})?)*", re.ASCII)
MOST_SPANS = 200_000


class RedactForm(StyledForm):
    """`how`: replace what is found, or only look again. `confirmed`: though it voids what is approved."""

    revision = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    how = forms.ChoiceField(choices=[("redact", "Redact"), ("look", "Look again")], widget=forms.HiddenInput)
    confirmed = forms.BooleanField(required=False, widget=forms.HiddenInput)


class SeenForm(StyledForm):
    """Numbers of places, "3,7-9"; `page` and `show` lead back to what was looked at, `part` on to the next part of
    a long text."""

    spans = forms.CharField(max_length=20_000, widget=forms.HiddenInput)
    page = forms.IntegerField(min_value=1, max_value=10_000_000, required=False, widget=forms.HiddenInput)
    show = forms.ChoiceField(choices=[("", ""), ("all", "all")], required=False, widget=forms.HiddenInput)
    part = forms.IntegerField(min_value=1, max_value=10_000_000, required=False, widget=forms.HiddenInput)
    line = forms.IntegerField(min_value=0, max_value=100_000_000, required=False, widget=forms.HiddenInput)

    def clean_spans(self) -> set[int]:
        said = self.cleaned_data["spans"]
        if not _NUMBERS.fullmatch(said):
            raise forms.ValidationError("Name the places by their numbers.")
        found: set[int] = set()
        for part in said.split(","):
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            if len(found) + len(numbers) > MOST_SPANS:
                raise forms.ValidationError("These are too many places at once.")
            found.update(numbers)
        return found


class RuleForm(StyledForm):
    """What is decided of one place: `at` is "span:3", "finding:0", "line:57" or "document", counted as the page of the
    redaction counts them. `text` is marked wherever the line holds it; `up` is how far out the member lies."""

    redaction = forms.UUIDField(widget=forms.HiddenInput)
    action = forms.ChoiceField(choices=RuleAction.choices)
    at = forms.RegexField(r"\A(?:(?:span|finding|line):\d{1,8}|document)\Z", widget=forms.HiddenInput)
    kind = forms.ChoiceField(choices=told.MARKED, required=False)
    text = forms.CharField(required=False, strip=False, max_length=2_000)
    inside = forms.BooleanField(required=False)
    surrogate = forms.CharField(required=False, max_length=LONGEST_SURROGATE)
    other = forms.IntegerField(required=False, min_value=0, max_value=10_000_000)
    up = forms.IntegerField(required=False, min_value=0, max_value=200)
    reason = forms.CharField(max_length=texts.TEXT_CAP)


class WaiverForm(StyledForm):
    """`finding` is the number of an open finding in the record of the redaction."""

    redaction = forms.UUIDField(widget=forms.HiddenInput)
    finding = forms.IntegerField(min_value=0, max_value=10_000_000, widget=forms.HiddenInput)
    reason = forms.CharField(
        max_length=texts.TEXT_CAP, label="Why it may stand", widget=forms.Textarea(attrs={"rows": 2})
    )
    until = forms.DateField(
        label="Until",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=f"At most {waivers.LONGEST_DAYS} days from now. A second person agrees to it.",
    )

    def ends(self) -> datetime:
        """The end of that day."""
        day = self.cleaned_data["until"]
        return timezone.make_aware(datetime.combine(day, time(23, 59)))
