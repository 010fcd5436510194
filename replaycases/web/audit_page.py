"""The audit page's filters, and paging by the event's own number: fast however long the chain is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases import searching
from replaycases.cases.audit_actions import ACTIONS
from replaycases.cases.audit_export import Filters
from replaycases.cases.models import AuditEvent, Case
from replaycases.web import timeline
from replaycases.web.forms import StyledForm

ROWS = 100


@dataclass(frozen=True, kw_only=True)
class Page:
    """`older` is the number before which the next page begins, None on the last one. `first` says whether this is the
    page of the newest."""

    days: list[timeline.Day]
    older: int | None
    first: bool


def page_of(found: QuerySet[AuditEvent], before: str) -> Page:
    """The newest events before number `before`; the newest of all if that is no number."""
    at = int(before) if before.isascii() and before.isdecimal() and len(before) < 19 else None
    rows = found.order_by("-sequence").select_related("actor", "case__project", "project")
    events = list((rows.filter(sequence__lt=at) if at else rows)[: ROWS + 1])
    more = len(events) > ROWS
    shown = events[:ROWS]
    return Page(days=timeline.days(shown), older=shown[-1].sequence if more else None, first=at is None)


class AuditForm(StyledForm):
    """Filters of the audit page, as they stand in its URL. The projects, people and cases are those the user audits."""

    project = forms.ModelChoiceField(Project.objects.none(), to_field_name="key", required=False, empty_label="all")
    case = forms.CharField(max_length=24, required=False, label="Case")
    person = forms.ModelChoiceField(
        User.objects.none(), to_field_name="username", required=False, empty_label="anybody"
    )
    action = forms.ChoiceField(required=False, choices=[("", "any")] + [(name, name) for name in sorted(ACTIONS)])
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, data: object, *, projects: Sequence[Project], **kwargs: object) -> None:
        super().__init__(data, **kwargs)
        keys = [project.pk for project in projects]
        self._projects = keys
        self.fields["project"].queryset = Project.objects.filter(pk__in=keys).order_by("key")  # type: ignore[attr-defined]
        people = User.objects.filter(memberships__project__in=keys).distinct().order_by("username")
        self.fields["person"].queryset = people  # type: ignore[attr-defined]

    def clean_case(self) -> Case | None:
        said: str = self.cleaned_data["case"]
        if not said:
            return None
        key, number = searching.case_id_of(said) or ("", 0)
        case = Case.objects.filter(project__in=self._projects, project__key=key, number=number).first()
        if case is None:
            raise ValidationError("There is no such case in your projects. Give an id like RC-17.")
        return case

    def names_one_project(self) -> bool:
        return self.is_valid() and bool(self.cleaned_data["project"] or self.cleaned_data["case"])

    def filters(self) -> Filters:
        """Of a valid form. Both days are local ones and whole."""
        said = self.cleaned_data
        return Filters(
            project=said["project"],
            case=said["case"],
            person=said["person"].pk if said["person"] else None,
            action=said["action"],
            since=_begin(said["since"]) if said["since"] else None,
            until=_begin(said["until"] + timedelta(days=1)) if said["until"] else None,
        )


def _begin(day: datetime) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
