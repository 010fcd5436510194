"""A case whose missing red two people approved: no page and no answer of the API calls its fix verified."""

from __future__ import annotations

import pytest

from replaycases.cases import jobs
from replaycases.cases.models import Case
from tests import factories, in_process
from tests.cases.gates.asking import affected_by, override
from tests.factories import People
from tests.web.conftest import client_of

PAGES = (
    "/",
    "/cases/",
    "/cases/RC-1/",
    "/cases/RC-1/promotion/",
    "/cases/RC-1/review/",
    "/cases/RC-1/timeline/",
    "/api/v1/cases/",
    "/api/v1/comparisons/",
)


@pytest.fixture
def overridden(people: People) -> Case:
    """The affected version held, which two people overrode; the fixed one holds too, compared with nothing."""
    case = factories.case(people.project, people.responder)
    affected_by(people, case, factories.NEW_CODE)
    override(people, case)
    fixed = factories.implementation(people.project, people.engineer, factories.FIXED_CODE, version="9")
    jobs.request_comparison(people.engineer, revision=factories.revision(case), old=None, new=fixed)
    in_process.replay_all()
    return case


def test_nothing_says_that_the_fix_is_verified(people: People, overridden: Case) -> None:
    client = client_of(people.qa)
    for address in PAGES:
        response = client.get(address)
        said = response.content.decode()
        assert response.status_code == 200, address
        if address == "/cases/":  # what can be filtered by names every label
            said = said.partition("<tbody")[2]
        assert "verified_red_to_green" not in said, address
        assert "erified red to green" not in said, address


@pytest.mark.parametrize("address", ["/cases/RC-1/", "/cases/RC-1/promotion/", "/cases/RC-1/timeline/"])
def test_its_pages_say_green_without_red(people: People, overridden: Case, address: str) -> None:
    assert "reen without red" in client_of(people.qa).get(address).content.decode()


def test_its_comparison_says_that_no_run_shows_the_red(people: People, overridden: Case) -> None:
    html = client_of(people.qa).get("/cases/RC-1/comparisons/2/").content.decode()
    assert "that old fails was approved without a run that shows it" in html


def test_the_promotion_page_names_the_two_people_who_agreed(people: People, overridden: Case) -> None:
    html = client_of(people.qa).get("/cases/RC-1/promotion/").content.decode()
    [agreed] = overridden.proposals.all()
    assert f"Overridden by {agreed.proposed_by}, second {agreed.decided_by}, until" in html
