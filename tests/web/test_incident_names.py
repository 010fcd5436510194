"""A fixture that names another incident than its case is taken, and said to."""

from __future__ import annotations

import io

import pytest
from django.test import Client

from replaycases.accounts.models import Project
from replaycases.cases.models import Case
from tests import factories
from tests.factories import People
from tests.web.conftest import client_of

SAID = "The fixture names the incident INC-2, and the case is about INC-1."


def other(order: str = "o-1") -> bytes:
    return factories.fixture(incident_id="INC-2", input={"order": order})


@pytest.mark.parametrize(("data", "warned"), [(other(), True), (factories.fixture(), False)])
def test_opening_a_case_with_anothers_fixture_warns(
    signed_in: Client, project: Project, data: bytes, warned: bool
) -> None:
    said = {**factories.STATEMENT, "project": str(project.pk), "fixture": io.BytesIO(data)}
    html = signed_in.post("/cases/new/", said, follow=True).content.decode()
    assert "RC-1 is open." in html
    assert (SAID in html) is warned


@pytest.mark.parametrize(("data", "warned"), [(other("o-2"), True), (factories.fixture(input={"order": "o-2"}), False)])
def test_a_revision_with_anothers_fixture_warns(signed_in: Client, case: Case, data: bytes, warned: bool) -> None:
    html = signed_in.post(
        "/cases/RC-1/revisions/new/",
        {"fixture": io.BytesIO(data), "seen": "1", "changed": "Another order."},
        follow=True,
    ).content.decode()
    assert "Revision 2 is the current one." in html
    assert (SAID in html) is warned


def test_who_reviews_is_told_and_only_where_they_may_read_it(people: People) -> None:
    factories.opened(factories.in_review(people, other()), people.privacy)
    assert SAID in client_of(people.privacy).get("/cases/RC-1/review/").content.decode()
    assert "INC-2" not in client_of(people.viewer).get("/cases/RC-1/review/").content.decode()


def test_a_review_of_the_right_fixture_warns_of_nothing(people: People) -> None:
    factories.opened(factories.in_review(people), people.privacy)
    assert "names the incident" not in client_of(people.privacy).get("/cases/RC-1/review/").content.decode()
