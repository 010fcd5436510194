"""Waivers whose time is over: which cases the calendar flags for them, and what it does not look at again and again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import waivers
from replaycases.cases.models import Case, Waiver
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def second(project: Project) -> User:
    return factories.person(project, Role.SECURITY_OWNER)


def ended(project: Project, second: User, **changes: str) -> Waiver:
    """Of a finding in an approved case that is open again since yesterday; `changes` are the case's."""
    case = factories.case(project, factories.person(project, Role.RESPONDER))
    Case.objects.filter(pk=case.pk).update(**{"stage": "redaction_approved", **changes})
    factories.look(case, open=[factories.FOUND])
    yesterday = timezone.now() - timedelta(days=1)
    return factories.waiver(
        case, case.created_by, confirmed_by=second, confirmed_at=yesterday - timedelta(days=1), until=yesterday
    )


@pytest.mark.parametrize(
    "changes", [{"stage": "redaction_approved"}, {"stage": "reproduced"}, {"stage": "in_review", "lane": "nonblocking"}]
)
def test_a_case_that_is_approved_or_stands_in_a_lane_is_flagged_once(
    project: Project, second: User, changes: dict[str, str]
) -> None:
    case = ended(project, second, **changes).case
    assert [waivers.look(), waivers.look()] == [1, 0]
    assert [flag.reason for flag in case.flags.all()] == ["waiver_ended"]


@pytest.mark.parametrize("changes", [{"stage": "in_review"}, {"stage": "retired"}])
def test_a_case_that_is_asked_by_a_gate_or_closed_is_not_even_looked_at(
    project: Project, second: User, changes: dict[str, str], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ended(project, second, **changes)
    with django_assert_num_queries(2):
        assert waivers.look() == 0


def test_a_waiver_of_what_stands_nowhere_any_more_is_not_even_looked_at(
    project: Project, second: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    factories.look(ended(project, second).case, open=[])
    with django_assert_num_queries(2):
        assert waivers.look() == 0


def test_the_rest_of_a_long_list_waits_for_the_next_look(
    project: Project, second: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waivers, "BATCH", 1)
    for _ in range(2):
        ended(project, second)
    assert [waivers.look(), waivers.look(), waivers.look()] == [1, 1, 0]


def test_one_that_was_renewed_since_it_was_found_flags_nothing(project: Project, second: User) -> None:
    waiver, now = ended(project, second), timezone.now()
    [found] = waivers._unanswered(now)
    Waiver.objects.filter(pk=waiver.pk).update(ended_by=waiver.asked_by, ended_at=now)
    factories.waiver(waiver.case, waiver.asked_by, confirmed_by=second, confirmed_at=now)
    assert waivers._flag_ended(found) == 0
    assert waiver.case.flags.count() == 0
