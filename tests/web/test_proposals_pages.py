"""What waits for a second person: who may decide it, from the list and from the case's page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import proposals
from replaycases.cases.models import Proposal
from tests import factories
from tests.factories import People
from tests.web.conftest import client_of


@pytest.fixture
def demotion(people: People) -> Proposal:
    case = factories.blocking(people)
    until = timezone.now() + timedelta(days=7)
    return proposals.propose_demotion(
        people.qa, case=case, reason="It waits for a vendor.", until=until, owner=people.engineer
    )


def html_of(user: User, address: str = "/proposals/") -> str:
    response = client_of(user).get(address)
    assert response.status_code == 200
    return response.content.decode()


def decided(user: User, proposal: Proposal, how: str, **said: str) -> int:
    status = client_of(user).post(f"/proposals/{proposal.pk}/{how}/", said).status_code
    proposal.refresh_from_db()
    return status


def for_me(html: str) -> str:
    return html.partition('id="mine"')[2].partition("</section>")[0]


def test_the_list_shows_first_what_this_person_may_decide(people: People, demotion: Proposal) -> None:
    assert "It waits for a vendor." in for_me(html_of(people.owner))
    own = html_of(people.qa)
    assert "Nothing waits for you" in for_me(own)
    assert "It waits for a vendor." in own
    assert "You proposed it." in own


def test_who_may_not_decide_is_told_why(people: People, demotion: Proposal) -> None:
    html = html_of(people.viewer)
    assert "You cannot decide this. This needs the role" in html
    assert "Confirm</button>" not in html


def test_the_second_person_confirms_and_the_case_leaves_the_lane(people: People, demotion: Proposal) -> None:
    assert decided(people.owner, demotion, "confirmation", note="Agreed.") == 302
    assert (demotion.state, demotion.note) == ("confirmed", "Agreed.")
    assert factories.fresh(demotion.case).lane == "nonblocking"
    for address in (f"/cases/{demotion.case}/", f"/cases/{demotion.case}/promotion/"):
        html = html_of(people.qa, address)
        assert "Demoted from blocking" in html
        assert "It waits for a vendor." in html
        assert "owns what must be mended, until" in html
    assert "Needed: every gate on the way to lane blocking." in html_of(people.qa, f"/cases/{demotion.case}/")
    assert "Nothing waits for you" in html_of(people.owner)


def test_nobody_confirms_their_own_proposal(people: People, demotion: Proposal) -> None:
    assert decided(people.qa, demotion, "confirmation") == 403
    assert demotion.state == "pending"
    assert factories.fresh(demotion.case).lane == "blocking"


def test_a_refusal_needs_a_reason(people: People, demotion: Proposal) -> None:
    response = client_of(people.owner).post(f"/proposals/{demotion.pk}/refusal/", {"note": " "}, follow=True)
    assert "Say why." in response.content.decode()
    assert decided(people.owner, demotion, "refusal", note="It must block.") == 302
    assert (demotion.state, demotion.note) == ("declined", "It must block.")


def test_only_who_proposed_it_takes_it_back(people: People, demotion: Proposal) -> None:
    assert decided(people.owner, demotion, "withdrawal") == 403
    assert decided(people.qa, demotion, "withdrawal") == 302
    assert demotion.state == "withdrawn"
    assert decided(people.owner, demotion, "confirmation") == 409


def test_a_proposal_that_its_case_outran_says_so_and_offers_no_confirmation(people: People, demotion: Proposal) -> None:
    retirement = proposals.propose_retirement(people.lead, case=demotion.case, reason="The tool is gone.")
    proposals.confirm(people.owner, proposal=retirement)
    html = for_me(html_of(people.owner))
    assert "The revision left the lane in the meantime. Decline it." in html
    assert "Confirm</button>" not in html
    assert "Decline</button>" in html


def test_a_proposal_of_another_project_is_not_there(people: People, demotion: Proposal) -> None:
    stranger = factories.everyone(factories.project("XX"))
    for how in ("confirmation", "refusal", "withdrawal"):
        assert decided(stranger, demotion, how, note="n") == 404
    assert "It waits for a vendor." not in html_of(stranger)
    assert demotion.state == "pending"


def test_a_decision_is_a_post(people: People, demotion: Proposal) -> None:
    for how in ("confirmation", "refusal", "withdrawal"):
        assert client_of(people.owner).get(f"/proposals/{demotion.pk}/{how}/").status_code == 405


def test_one_returns_to_the_page_from_which_one_decided(people: People, demotion: Proposal) -> None:
    address = f"/proposals/{demotion.pk}/refusal/"
    on_list = client_of(people.owner).post(address, {"note": " ", "back": "list"})
    on_case = client_of(people.owner).post(address, {"note": " "})
    assert (on_list["Location"], on_case["Location"]) == ("/proposals/", "/cases/RC-1/promotion/#pending")
