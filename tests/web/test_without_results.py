"""A case that blocks while every result of it is void says so wherever it is looked at, and is green nowhere."""

from __future__ import annotations

import re

import pytest

from replaycases.cases import comparing, jobs, lane_export
from replaycases.cases.models import Case, Comparison, Lane, LaneName, RunSet
from replaycases.verdict.labels import Label, exit_code
from tests import factories
from tests.web.conftest import client_of


@pytest.fixture
def emptied(people: factories.People) -> Case:
    made = factories.blocking(people)
    for run_set in RunSet.objects.all():
        jobs.void(people.lead, run_set=run_set, reason="The host had no clock.")
    comparing.refresh_waiting()
    return factories.fresh(made)


def test_nothing_of_it_is_green_any_more(people: factories.People, emptied: Case) -> None:
    assert (emptied.lane, emptied.verdict) == (LaneName.BLOCKING, Label.NOT_COMPARABLE)
    assert [exit_code(Label(one.label)) for one in Comparison.objects.all()] == [40]
    (listed,) = lane_export.take(people.viewer, lane=Lane.objects.get(name=LaneName.BLOCKING)).index.entries
    assert not [file.path for file in listed.files if file.path.startswith("old/")]
    for address in ("/cases/RC-1/", "/lanes/RC/blocking/", "/lanes/"):
        page = client_of(people.qa).get(address).content.decode()
        assert "Not comparable" in page
        assert "Verified red to green" not in page


def test_its_page_asks_for_results_and_does_not_say_that_all_is_well(people: factories.People, emptied: Case) -> None:
    page = client_of(people.qa).get("/cases/RC-1/").content.decode()
    (asked,) = re.findall(r"<p class=\"sub\">(It blocks, and no result[^<]*)</p>", page)
    assert "Compare again" in asked
    assert "stands where it should" not in page
