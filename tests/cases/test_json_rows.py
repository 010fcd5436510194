"""What stands beside a row, as JSON in a subquery."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db.models import Count, Exists, OuterRef, Subquery

from replaycases.accounts.models import Project, User
from replaycases.cases import intake
from replaycases.cases.json_rows import first_of, instant, written
from replaycases.cases.models import Case, FixtureRevision
from tests import factories

pytestmark = pytest.mark.django_db


def test_what_is_written_out_finds_what_the_expressions_find(project: Project, responder: User) -> None:
    case, other = factories.case(project, responder), factories.case(project, responder)
    intake.add_revision(responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    revisions = FixtureRevision.objects.filter(case=OuterRef("pk")).order_by()
    beside: dict[str, Any] = {
        "count": Subquery(revisions.values("case").annotate(n=Count("pk")).values("n")),
        "second": Exists(revisions.filter(number=2)),
        "newest": first_of(revisions.order_by("-number"), number="number", hash="fixture_hash", at="created_at"),
    }
    theirs = Case.objects.annotate(**beside).order_by("number").values("number", *beside)
    ours = Case.objects.annotate(**written(Case, **beside)).order_by("number").values("number", *beside)
    assert list(ours) == list(theirs)
    assert [(row["number"], row["count"], row["second"]) for row in ours] == [
        (case.number, 2, True),
        (other.number, 1, False),
    ]


def test_an_instant_in_json_is_the_row_s(project: Project, responder: User) -> None:
    case = factories.case(project, responder)
    revisions = FixtureRevision.objects.filter(case=OuterRef("pk"))
    found = Case.objects.annotate(first=first_of(revisions, at="created_at")).get(pk=case.pk)
    assert instant(found.first["at"]) == factories.revision(case).created_at


def test_an_instant_without_a_zone_is_in_utc() -> None:
    assert instant("2026-03-09 10:00:00.5") == datetime(2026, 3, 9, 10, 0, 0, 500_000, tzinfo=UTC)
