from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import QuerySet, Value
from django.test.utils import CaptureQueriesContext

from replaycases.accounts.models import Project, User
from replaycases.cases import kept_queries
from replaycases.cases.models import Case
from tests import factories

pytestmark = pytest.mark.django_db


def with_a_percent_sign(keys: Sequence[UUID]) -> QuerySet[Case, Any]:
    found = Case.objects.filter(pk__in=keys, title__contains="5%").annotate(said=Value("it's 100%s"))
    return found.select_related("project").order_by("-number")


@pytest.fixture
def cases(project: Project, responder: User) -> list[Case]:
    made = [factories.case(project, responder, factories.fixture(case_id=f"case-{n}")) for n in range(2)]
    Case.objects.update(title="5% lost")
    return made


def test_a_kept_query_is_asked_of_each_key_anew(cases: list[Case]) -> None:
    for case in (*cases, cases[0]):
        with CaptureQueriesContext(connection) as asked:
            [found] = kept_queries.about(with_a_percent_sign, [case.pk])
            assert (found, found.project.key) == (case, "RC")
        assert len(asked) == 1


def test_what_is_constant_in_a_kept_query_may_hold_any_character(cases: list[Case]) -> None:
    [found] = kept_queries.about(with_a_percent_sign, [cases[0].pk])
    assert found.said == "it's 100%s"  # type: ignore[attr-defined]


def test_several_keys_and_none_are_asked_for_as_they_are(cases: list[Case]) -> None:
    assert kept_queries.about(with_a_percent_sign, [case.pk for case in cases]) == cases[::-1]
    assert kept_queries.about(with_a_percent_sign, []) == []
