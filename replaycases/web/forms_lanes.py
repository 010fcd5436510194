"""The forms of promotion, of lanes and of proposals. They check shape; the domain functions decide."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any, ClassVar

from django import forms
from django.utils import timezone

from replaycases.accounts.models import Project, Team, User
from replaycases.cases.models import Lane, LaneName
from replaycases.cases.texts import TEXT_CAP
from replaycases.web.forms import StyledForm
from replaycases.web.members import grouped, owners_of

REASON_ROWS = 3


def _reason(help_text: str) -> forms.CharField:
    return forms.CharField(
        label="Reason",
        max_length=TEXT_CAP,
        widget=forms.Textarea(attrs={"rows": REASON_ROWS}),
        help_text=help_text,
    )


class UntilField(forms.DateField):
    """A day; the value is the end of it, in the zone of the server."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=forms.DateInput(attrs={"type": "date"}), **kwargs)

    def clean(self, value: Any) -> datetime:
        day = super().clean(value)
        return timezone.make_aware(datetime.combine(day, time(23, 59, 59)))


class PromotionForm(StyledForm):
    """`fixture_hash` is the one that the page showed."""

    lane = forms.ChoiceField(choices=LaneName.choices, widget=forms.HiddenInput)
    fixture_hash = forms.CharField(widget=forms.HiddenInput, required=False)
    note = forms.CharField(
        required=False,
        label="Note for the timeline",
        max_length=TEXT_CAP,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the fixture hash and your name.",
    )


class BulkForm(StyledForm):
    note = forms.CharField(
        required=False,
        label="Note for the timelines",
        max_length=TEXT_CAP,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with each case, its fixture hash and your name.",
    )


class HistoryForm(StyledForm):
    MOST: ClassVar[int] = 20
    runs = forms.IntegerField(min_value=1, max_value=MOST, label="Runs to ask for")


class OverrideForm(StyledForm):
    gate = forms.CharField(widget=forms.HiddenInput, max_length=40)
    reason = _reason("Which evidence stands in for the gate. It stays on the case for ever.")
    until = UntilField(label="Until", help_text="On this day it ends, and the gate blocks again.")


class RetirementForm(StyledForm):
    reason = _reason("Why this need not be looked for any more. It stays on the case for ever.")


class DemotionForm(StyledForm):
    """The owner is a person with a role in the project, or one of its teams."""

    reason = _reason("Why it must not block releases for now.")
    owner = forms.ChoiceField(label="Owner", help_text="Who mends what made it leave the lane.")
    until = UntilField(
        label="Look at it again by", help_text="When this day has passed, the case asks for a re-review."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = owners_of(project)
        self.fields["owner"].choices = [("", "Choose a person or a team"), *grouped(self.known)]  # type: ignore[attr-defined]

    def clean_owner(self) -> User | Team:
        return self.known[self.cleaned_data["owner"]]


class PolicyForm(StyledForm):
    repeated_runs = forms.IntegerField(label="Repeated runs", help_text="So many runs must give one observation.")
    minimum_history = forms.IntegerField(label="Runs before blocking", help_text="Counted runs in nonblocking.")

    def __init__(self, *args: Any, lane: Lane, **kwargs: Any) -> None:
        self.lane_name = lane.name
        said = {"repeated_runs": lane.repeated_runs, "minimum_history": lane.minimum_history}
        super().__init__(*args, **{"initial": said, "auto_id": f"id_{lane.name}_%s", **kwargs})


def in_days(days: int) -> str:
    """The day that many days from now, as a date input takes it."""
    return (timezone.localtime() + timedelta(days=days)).date().isoformat()
