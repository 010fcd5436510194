"""Cases with the same fixture share their runs, and their pages say so to whoever sees both."""

from __future__ import annotations

import pytest
from django.test import Client

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases.models import Case
from tests import factories
from tests.web import recorded
from tests.web.conftest import client_of

SAID = "this run also stands for"
ON_CASE = "Runs of the same fixture count here too, those of"


def html_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def compared(case: Case, everyone: User) -> Case:
    recorded.compared(case, everyone)
    return case


def test_a_run_and_its_case_name_the_other_case_of_the_same_fixture(
    signed_in: Client, compared: Case, everyone: User
) -> None:
    factories.case(compared.project, everyone)
    run = html_of(signed_in, "/runs/RC/1/")
    assert SAID in run
    assert '<a href="/cases/RC-2/">RC-2</a>.' in run
    for own, other in (("RC-1", "RC-2"), ("RC-2", "RC-1")):
        told = html_of(signed_in, f"/cases/{own}/").partition(ON_CASE)[2].partition("</footer>")[0]
        assert f'<a href="/cases/{other}/">{other}</a>.' in told


def test_a_case_with_another_fixture_shares_nothing(signed_in: Client, compared: Case, everyone: User) -> None:
    factories.case(compared.project, everyone, factories.fixture(input={"order": "o-2"}))
    assert SAID not in html_of(signed_in, "/runs/RC/1/")
    assert ON_CASE not in html_of(signed_in, "/cases/RC-1/")


def test_a_case_of_another_project_shares_nothing_and_is_not_named(compared: Case, everyone: User) -> None:
    elsewhere = factories.project("PAY")
    both = factories.person(compared.project, Role.VIEWER)
    factories.case(elsewhere, factories.everyone(elsewhere))
    for client in (client_of(everyone), client_of(both)):
        assert "PAY-1" not in html_of(client, "/runs/RC/1/")
        assert "PAY-1" not in html_of(client, "/cases/RC-1/")
