"""The list of cases: stage, lane and latest verdict, which are three different things, and the filters in the URL."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet

from replaycases.accounts.models import User
from replaycases.cases.models import Case, FixtureRevision, LaneName, Stage
from replaycases.web.labels import VERDICTS

NO_VERDICT = "none"


def listed_cases(user: User) -> QuerySet[Case]:
    """Cases that the user may see, newest first, each with its newest comparison. A verdict over an earlier revision
    says nothing about the current one, so it is not shown here."""
    cases = Case.objects.visible_to(user).select_related("project", "current_revision", "latest_comparison")
    return cases.order_by("-created_at", "-number")


class CaseFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    q = django_filters.CharFilter(method="search", label="Search", widget=forms.TextInput(attrs={"type": "search"}))
    stage = django_filters.ChoiceFilter(choices=Stage.choices, empty_label="any stage", label="Stage")
    lane = django_filters.ChoiceFilter(choices=LaneName.choices, empty_label="any lane", label="Lane")
    verdict = django_filters.ChoiceFilter(
        choices=[(NO_VERDICT, "None yet"), *((key, look.word) for key, look in VERDICTS.items())],
        method="with_verdict",
        empty_label="any verdict",
        label="Latest verdict",
    )

    class Meta:
        model = Case
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.form.fields.values():
            field.widget.attrs["class"] = "input"

    def search(self, cases: QuerySet[Case], name: str, value: str) -> QuerySet[Case]:
        """By readable id, title, incident, the fixture's case id, or the start of any of its hashes."""
        text = value.strip()
        wanted = Q(title__icontains=text) | Q(incident_id__icontains=text) | Q(case_id__icontains=text)
        key, dash, number = text.upper().rpartition("-")
        if dash and number.isdecimal() and len(number) < 10:
            wanted |= Q(project__key=key, number=int(number))
        digest = text.lower().removeprefix("sha256:")
        if len(digest) >= 4:
            start = f"sha256:{digest}"
            hashed = Q(content_hash__startswith=start) | Q(fixture_hash__startswith=start)
            wanted |= Q(Exists(FixtureRevision.objects.filter(hashed, case=OuterRef("pk"))))
        return cases.filter(wanted)

    def with_verdict(self, cases: QuerySet[Case], name: str, value: str) -> QuerySet[Case]:
        return cases.filter(verdict="" if value == NO_VERDICT else value)
