"""The list of captures, with its filters in the URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from replaycases.accounts.models import Project, User
from replaycases.cases import capture_searching, held_documents
from replaycases.cases.models import Capture, Draft, Origin
from replaycases.importers.registry import FORMATS
from replaycases.web.widgets import Select

TITLES = {format.name: format.title for format in FORMATS}
STATES = (("open", "without a case"), ("drafted", "with a draft"), ("made", "with a case"), ("destroyed", "destroyed"))


class CaptureFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    q = django_filters.CharFilter(method="search", label="Capture, trace id or file name")
    project = django_filters.ChoiceFilter(
        field_name="project__key", widget=Select, empty_label="any project", label="Project"
    )
    format = django_filters.ChoiceFilter(
        choices=list(TITLES.items()),
        widget=Select,
        empty_label="any format",
        label="Format",
    )
    origin = django_filters.ChoiceFilter(choices=Origin.choices, widget=Select, empty_label="any way", label="Came in")
    holds = django_filters.CharFilter(method="holding", label="Document or chunk id")
    state = django_filters.ChoiceFilter(
        choices=STATES, method="in_state", widget=Select, empty_label="any", label="What came of it"
    )

    class Meta:
        model = Capture
        fields: list[str] = []

    def __init__(self, *args: Any, user: User, projects: Sequence[Project], **kwargs: Any) -> None:
        super().__init__(*args, queryset=listed(projects), **kwargs)
        self.user = user
        self.filters["project"].extra["choices"] = [(project.key, project.key) for project in projects]
        for field in self.form.fields.values():
            field.widget.attrs["class"] = "input"

    def search(self, captures: QuerySet[Capture], name: str, value: str) -> QuerySet[Capture]:
        return captures.filter(capture_searching.matching(value))

    def holding(self, captures: QuerySet[Capture], name: str, value: str) -> QuerySet[Capture]:
        return captures.filter(pk__in=held_documents.holding(self.user, value).values("capture"))

    def in_state(self, captures: QuerySet[Capture], name: str, value: str) -> QuerySet[Capture]:
        drafts = Draft.objects.filter(capture=OuterRef("pk"))
        if value == "destroyed":
            return captures.exclude(purged_at=None)
        if value == "drafted":
            return captures.filter(Exists(drafts))
        return captures.filter(has_case=value == "made")


def listed(projects: Sequence[Project]) -> QuerySet[Capture]:
    made = Draft.objects.exclude(case=None).select_related("case__project").order_by("run").defer("choices")
    captures = Capture.objects.filter(project__in=[project.pk for project in projects])
    return (
        captures.select_related("project", "captured_by", "on_behalf_of")
        .prefetch_related(Prefetch("drafts", queryset=made, to_attr="made"))
        .order_by("-captured_at", "-number")
    )
