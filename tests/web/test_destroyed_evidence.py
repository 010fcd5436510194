"""Raw evidence whose time was over: every page that showed it says so in its place, and shows the rest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.test import Client, override_settings
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases import intake, purging, raw_reads
from replaycases.cases.models import Case, Classification, Comparison, OutcomeType
from tests import factories
from tests.web import recorded

SAID = "was destroyed on"


@pytest.fixture(autouse=True)
def ring(tmp_path: Path) -> Iterator[None]:
    with override_settings(EVIDENCE_KEYS_FILE=tmp_path / "ring.json"):
        yield


@pytest.fixture
def destroyed(project: Project, everyone: User, signed_in: Client) -> Iterator[Case]:
    """A case with two revisions, a control and a verdict, all of whose raw evidence is destroyed; its reader said why
    they need to read it."""
    case = factories.case(project, everyone, classification=Classification.QUARANTINED)
    recorded.compared(case, everyone)
    intake.add_revision(everyone, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    intake.add_control(
        everyone,
        revision=factories.revision(factories.fresh(case)),
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.control_fixture(),
        mutation=factories.MUTATION,
    )
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        purging.look()
        signed_in.force_login(everyone)
        raw_reads.begin(everyone, case=case, reason="ticket 4711")
        yield factories.fresh(case)


def address(case: Case, template: str) -> str:
    revision = factories.revision(case)
    return template.format(control=revision.controls.get().pk, revision=revision.pk)


@pytest.mark.parametrize(
    "template",
    [
        "/cases/RC-1/revisions/1/",
        "/cases/RC-1/revisions/2/differences/",
        "/cases/RC-1/review/",
        "/cases/RC-1/controls/{control}/approval/",
        "/cases/RC-1/comparisons/1/",
        "/runs/RC/1/",
    ],
)
def test_what_is_destroyed_is_said_in_its_place(signed_in: Client, destroyed: Case, template: str) -> None:
    response = signed_in.get(address(destroyed, template))
    assert response.status_code == 200
    assert SAID in response.content.decode()
    assert "why you need to read" not in response.content.decode()


def test_no_revision_is_begun_of_what_is_destroyed(signed_in: Client, destroyed: Case) -> None:
    response = signed_in.get("/cases/RC-1/revisions/new/")
    assert response.status_code == 409
    assert "The time of this case&#x27;s raw evidence is over." in response.content.decode()


def test_the_verdict_stays_on_its_page(signed_in: Client, destroyed: Case) -> None:
    html = signed_in.get("/cases/RC-1/comparisons/1/").content.decode()
    assert "Verified red to green" in html
    assert Comparison.objects.get().label == "verified_red_to_green"


def test_the_case_says_when_it_was_destroyed(signed_in: Client, destroyed: Case) -> None:
    html = signed_in.get("/cases/RC-1/").content.decode()
    assert "when its time was over" in html
    assert SAID in html  # why nothing is replayed


@pytest.mark.parametrize(
    "template",
    [
        "/cases/RC-1/revisions/1/document/",
        "/cases/RC-1/controls/{control}/document/",
        "/cases/RC-1/controls/{control}/mutation/",
        "/runs/RC/1/manifest/",
        "/api/v1/revisions/{revision}/document/",
    ],
)
def test_bytes_that_are_destroyed_are_gone(signed_in: Client, destroyed: Case, template: str) -> None:
    response = signed_in.get(address(destroyed, template))
    assert response.status_code == 410
    assert SAID in response.content.decode()


def test_who_may_not_read_raw_evidence_learns_nothing_of_it(
    signed_in: Client, destroyed: Case, project: Project
) -> None:
    signed_in.force_login(factories.people(project).viewer)
    assert signed_in.get("/cases/RC-1/revisions/1/document/").status_code == 403
