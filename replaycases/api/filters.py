"""Exact filters on lists; they are part of the API's contract."""

from __future__ import annotations

import django_filters

from replaycases.cases.models import Case, Comparison, Control, FixtureRevision, Implementation, Run, RunSet


class OfProject(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    project = django_filters.CharFilter(field_name="project__key", help_text="A project's key.")


class CaseFilter(OfProject):
    class Meta:
        model = Case
        fields = ["project", "stage", "incident_id", "case_id", "number"]


class RevisionFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    class Meta:
        model = FixtureRevision
        fields = ["case", "fixture_hash", "content_hash", "checks_hash"]


class ControlFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    case = django_filters.UUIDFilter(field_name="revision__case")

    class Meta:
        model = Control
        fields = ["case", "revision", "name", "outcome_type", "fixture_hash"]


class ImplementationFilter(OfProject):
    class Meta:
        model = Implementation
        fields = ["project", "name", "version", "digest"]


class RunSetFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    class Meta:
        model = RunSet
        fields = ["revision", "implementation", "control", "fixture_hash"]


class RunFilter(OfProject):
    case = django_filters.UUIDFilter(field_name="run_set__revision__case")

    class Meta:
        model = Run
        fields = ["project", "case", "run_set", "state", "number"]


class ComparisonFilter(OfProject):
    case = django_filters.UUIDFilter(field_name="revision__case")

    class Meta:
        model = Comparison
        fields = ["project", "case", "revision", "label", "number"]
