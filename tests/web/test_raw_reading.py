"""The form that stands in the place of raw evidence, and where it leads."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta

import pytest
import time_machine
from django.test import Client, override_settings
from django.utils import timezone

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import Role
from replaycases.cases import intake, raw_reads
from replaycases.cases.models import AuditEvent, Case, Comparison, Decision, RawRead, Stage
from tests import factories, raw_world
from tests.raw_world import CANARY
from tests.web.conftest import client_of
from tests.web.test_every_answer import NOT_BY_OTHERS

SAY_WHY = "/cases/RC-1/raw-reads/"
FORM = "Why do you need to read it?"
TWO = "/cases/RC-1/revisions/2/"


@pytest.fixture(scope="module")
def built(made_once: Callable[..., tuple[factories.People, Case]]) -> tuple[factories.People, Case]:
    def build() -> tuple[factories.People, Case]:
        people = factories.people(factories.project())
        return people, raw_world.raw_case(people)

    return made_once(build)


@pytest.fixture
def people(built: tuple[factories.People, Case], db: None) -> factories.People:
    return deepcopy(built[0])


@pytest.fixture
def raw(built: tuple[factories.People, Case], db: None) -> Case:
    return deepcopy(built[1])


@pytest.fixture
def reading(people: factories.People) -> Client:
    return client_of(people.privacy)


def told(client: Client, address: str) -> str:
    return html.unescape(client.get(address).content.decode())


@pytest.mark.parametrize(
    "address", ["/cases/RC-1/review/", TWO, f"{TWO}differences/", "/cases/RC-1/comparisons/2/", "/runs/RC/1/"]
)
def test_the_form_leads_back_to_the_page_that_it_stood_on(reading: Client, raw: Case, address: str) -> None:
    page = told(reading, address)
    assert page.count(FORM) == 1
    back = re.search(r'name="next" value="([^"]+)"', page)
    assert back is not None
    assert reading.post(SAY_WHY, {"next": back[1], "reason": "Ticket 4711."}).headers["Location"] == address
    page = told(reading, address)
    assert FORM not in page
    assert CANARY in page
    assert "open to you until" in page
    assert "“Ticket 4711.”" in page


def test_without_a_reason_a_page_shows_what_can_be_decided_with(reading: Client, raw: Case) -> None:
    page, revision = told(reading, "/cases/RC-1/review/"), factories.revision(raw)
    for shown in (
        revision.content_hash,
        revision.checks_hash,
        raw.prohibited_outcome,
        "Gates to an approved redaction",
    ):
        assert shown in page
    page = told(reading, "/cases/RC-1/comparisons/1/")
    assert Comparison.objects.get(number=1).reason in page
    assert CANARY not in page


@pytest.mark.parametrize("address", sorted(NOT_BY_OTHERS))
def test_the_form_leads_to_no_other_site(reading: Client, raw: Case, address: str) -> None:
    answer = reading.post(SAY_WHY, {"next": address, "reason": "Ticket 4711."})
    assert answer.headers["Location"] == "/cases/RC-1/review/"


def test_a_reason_that_says_nothing_is_asked_for_again(reading: Client, raw: Case) -> None:
    answer = reading.post(SAY_WHY, {"next": TWO, "reason": "  "})
    assert answer.status_code == 422
    page = html.unescape(answer.content.decode())
    assert "Say why you need to read it: the ticket" in page
    assert f'name="next" value="{TWO}"' in page
    assert not RawRead.objects.exists()
    long = reading.post(SAY_WHY, {"next": TWO, "reason": "x" * 501})
    assert (long.status_code, "x" * 501 in long.content.decode()) == (422, True)


def test_a_download_asks_too_and_leads_back_to_its_page(reading: Client, raw: Case) -> None:
    control = factories.revision(raw).controls.get()
    for address, back in (
        (f"{TWO}document/", TWO),
        ("/runs/RC/1/manifest/", "/runs/RC/1/"),
        (f"/cases/RC-1/controls/{control.pk}/mutation/", f"/cases/RC-1/controls/{control.pk}/approval/"),
    ):
        answer = reading.get(address)
        assert answer.status_code == 403
        assert f'name="next" value="{back}"' in answer.content.decode()


def test_who_lacks_the_role_is_asked_nothing(people: factories.People, raw: Case) -> None:
    client = client_of(people.qa)
    for address in ("/cases/RC-1/review/", "/cases/RC-1/comparisons/1/", "/runs/RC/1/"):
        assert FORM not in told(client, address)
    assert client.get(TWO).status_code == 403
    assert client.post(SAY_WHY, {"reason": "Let me."}).status_code == 403
    assert not RawRead.objects.exists()


def test_a_lost_role_closes_the_page_at_once(people: factories.People, reading: Client, raw: Case) -> None:
    factories.opened(raw, people.privacy)
    assert CANARY in told(reading, TWO)
    Membership.objects.filter(user=people.privacy).update(role=Role.QA)
    assert reading.get(TWO).status_code == 403


def test_after_its_time_it_asks_again_with_what_was_said(people: factories.People, reading: Client, raw: Case) -> None:
    over = timezone.now() - timedelta(hours=1)
    RawRead.objects.create(
        user=people.privacy,
        project=people.project,
        case=raw,
        reason="Ticket 4711.",
        made_at=over,
        until=over + timedelta(minutes=30),
    )
    page = told(reading, TWO)
    assert FORM in page
    assert 'value="Ticket 4711."' in page
    assert CANARY not in page


def test_what_is_redacted_asks_nobody(people: factories.People) -> None:
    case = factories.redaction_approved(people)
    for who in (people.viewer, people.privacy):
        assert FORM not in told(client_of(who), f"/cases/{case.readable_id}/revisions/1/")


def test_a_slow_reviewer_is_not_refused_and_is_told_that_it_is_closed(
    people: factories.People, reading: Client, raw: Case
) -> None:
    Case.objects.filter(pk=raw.pk).update(stage=Stage.IN_REVIEW)
    revision = factories.revision(raw)
    with time_machine.travel(timezone.now() - timedelta(hours=1)):
        factories.see_everything(people.privacy, raw)
    confirm = told(reading, "/cases/RC-1/review/redaction-approval/")
    assert "You do not have it open now." in confirm
    seen = {"revision": revision.number, "content_hash": revision.content_hash, "note": "It holds a name."}
    assert reading.post("/cases/RC-1/review/redaction-return/", seen).status_code == 302
    assert Decision.objects.get().decided_by == people.privacy


def test_who_sends_a_revision_sees_what_is_wrong_with_it_without_being_asked(
    people: factories.People, raw: Case
) -> None:
    client = client_of(people.responder)
    sent = {"text": '{"mine": "own words"}', "changed": "x", "seen": 2}
    answer = client.post("/cases/RC-1/revisions/new/", sent)
    page = html.unescape(answer.content.decode())
    assert answer.status_code == 422
    assert "The fixture cannot be used" in page
    assert '{"mine": "own words"}' in page
    assert CANARY not in page
    assert "no-store" in answer.headers["Cache-Control"]


def test_a_conflict_shows_the_other_revision_only_where_it_is_open(people: factories.People, raw: Case) -> None:
    client = client_of(people.responder)
    mine = factories.fixture(case_id="raw", input={"order": "mine"})
    sent = {"text": mine.decode(), "changed": "x", "seen": 1}
    answer = client.post("/cases/RC-1/revisions/new/", sent)
    assert (answer.status_code, CANARY in answer.content.decode()) == (409, False)
    factories.opened(raw, people.responder)
    answer = client.post("/cases/RC-1/revisions/new/", sent)
    assert (answer.status_code, CANARY in answer.content.decode()) == (409, True)


def test_the_owner_reads_a_new_expectation_with_a_reason(people: factories.People) -> None:
    case = factories.redaction_approved(people)
    intake.add_revision(people.engineer, case=case, fixture=factories.fixture(expected=factories.EXPECTED_MORE))
    client, of = client_of(people.owner), f"/cases/{case.readable_id}/"
    two = f"{of}revisions/2/"
    assert FORM in told(client, two)
    assert client.post(f"{of}raw-reads/", {"next": two, "reason": "I decide about it."}).headers["Location"] == two
    assert "Event 1" in told(client, two)


def test_the_timeline_says_who_read_it_and_why(people: factories.People, raw: Case) -> None:
    raw_reads.begin(people.privacy, case=raw, reason="Ticket 4711.")
    for address in ("/cases/RC-1/", "/cases/RC-1/timeline/", "/cases/RC-1/timeline/?action=evidence.raw_read"):
        assert re.search(r"read raw evidence.*“Ticket 4711\.”", told(client_of(people.viewer), address)), address
    only = told(client_of(people.viewer), "/cases/RC-1/timeline/?action=evidence.raw_read")
    assert "opened the case" not in only
    assert "No such event" in told(client_of(people.viewer), "/cases/RC-1/timeline/?action=nothing")
    audited = told(client_of(people.qa), "/audit/?case=RC-1&action=evidence.raw_read")
    assert "“Ticket 4711.”" in audited
    assert AuditEvent.objects.filter(action="evidence.raw_read").count() == 1


def test_a_case_says_to_privacy_and_auditors_who_read_it_lately(people: factories.People, raw: Case) -> None:
    said = "Read lately by"
    assert said not in told(client_of(people.privacy), "/cases/RC-1/")
    factories.opened(raw, people.responder, people.privacy, people.responder)
    for who, link in (
        (people.privacy, "/cases/RC-1/timeline/?action=evidence.raw_read"),
        (people.qa, "/audit/?case=RC-1&action=evidence.raw_read"),
    ):
        page = told(client_of(who), "/cases/RC-1/")
        assert page.partition(said)[2].partition("</dd>")[0].count(str(people.responder)) == 1
        assert link in page
        assert client_of(who).get(link).status_code == 200
    assert said not in told(client_of(people.viewer), "/cases/RC-1/")


@override_settings(REPLAYCASES_RAW_READ_MINUTES=5)
def test_the_form_says_what_it_opens_and_for_how_long(reading: Client, raw: Case) -> None:
    opens = "Opens all revisions, controls, manifests and verdicts of RC-1 to you for 5 minutes."
    assert opens in told(reading, TWO)


def test_nobody_says_why_for_a_case_that_is_not_theirs(raw: Case) -> None:
    stranger: User = factories.everyone(factories.project("XX"))
    assert client_of(stranger).post(SAY_WHY, {"reason": "Let me."}).status_code == 404
    assert client_of(stranger).post("/captures/RC-T1/raw-reads/", {"reason": "Let me."}).status_code == 404
