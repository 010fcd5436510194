"""A control that is written from the current revision."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import evidence, fixtures, intake
from replaycases.cases.models import Case, Classification, Control, OutcomeType, Payload
from replaycases.cases.neighbours import calls_of, neighbour
from tests import factories
from tests.web.conftest import client_of

NEW = "/cases/RC-1/controls/new/"
WRITE = f"{NEW}?call=1&outcome=rejection"
MOST = 12


def acting(**changes: Any) -> bytes:
    """The lookup has an effect."""
    [event] = json.loads(factories.fixture())["events"]
    return factories.fixture(**{"events": [{**event, "effect": {"action": "look_up", "accepted": True}}], **changes})


@pytest.fixture
def case(project: Project, everyone: User) -> Case:
    return factories.case(project, everyone, acting())


def words(response: Any) -> str:
    return str(response.content.decode())


def texts(html: str) -> dict[str, str]:
    """What stands in the fields to be edited."""
    areas = re.findall(r'<textarea name="(\w+)"[^>]*>\n?(.*?)</textarea>', html, re.DOTALL)
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html)
    name = re.findall(r'<input type="text" name="(name)" value="([^"]*)"', html)
    return {field: unescape(value) for field, value in [*areas, *hidden, *name] if field != "csrfmiddlewaretoken"}


def filled(client: Client, **changes: str) -> dict[str, str]:
    """As the page begins it, with what nobody can know filled in."""
    begun = texts(words(client.get(WRITE)))
    begun["text"] = begun["text"].replace("FILL IN: ", "")
    return {**begun, **changes}


def refused(client: Client, status: int = 422, **changes: str) -> str:
    sent = filled(client, **changes)
    before = (Control.objects.count(), Payload.objects.count())
    response = client.post(WRITE, sent)
    assert response.status_code == status
    assert (Control.objects.count(), Payload.objects.count()) == before
    assert texts(words(response))["text"] == sent["text"]
    return words(response)


def test_every_call_is_offered_with_each_way_to_end_and_the_controls_that_exist(
    signed_in: Client, case: Case, everyone: User
) -> None:
    intake.add_control(
        everyone,
        revision=factories.revision(case),
        name="confirmed <b>",
        outcome_type=OutcomeType.SUCCESS,
        fixture=acting(case_id="control"),
    )
    html = words(signed_in.get(NEW))
    assert set(re.findall(r'href="\?call=1&amp;outcome=(\w+)"', html)) == set(OutcomeType.values)
    assert "exists: confirmed &lt;b&gt;" in html


def test_the_text_begins_as_the_revision_in_which_the_call_ends_otherwise(signed_in: Client, case: Case) -> None:
    fixture = fixtures.of_revision(factories.revision(case))
    begun = texts(words(signed_in.get(WRITE)))
    of = neighbour(fixture, calls_of(fixture)[0], OutcomeType.REJECTION)
    assert (json.loads(begun["text"]), json.loads(begun["mutation"])) == (of.document, of.mutation)
    assert (begun["name"], begun["outcome_type"], begun["seen"]) == (
        "refund.lookup: explicit rejection",
        "rejection",
        "1",
    )


def test_the_posted_control_is_the_one_that_is_added(signed_in: Client, case: Case) -> None:
    sent = filled(signed_in, name="declined")
    answer = signed_in.post(WRITE, {**sent, "text": sent["text"].replace("\n", "\r\n")})
    assert answer.headers["Location"] == "/cases/RC-1/#controls"
    control = factories.revision(case).controls.get()
    assert (control.name, control.outcome_type, control.tool) == ("declined", "rejection", "refund.lookup")
    assert control.mutation is not None
    assert evidence.read(control.payload) == sent["text"].encode()
    assert evidence.read(control.mutation) == sent["mutation"].encode()
    assert "refund.lookup: explicit rejection" in words(signed_in.get(WRITE))


def test_a_name_that_is_taken_is_not_suggested_again(signed_in: Client, case: Case) -> None:
    signed_in.post(WRITE, filled(signed_in))
    assert texts(words(signed_in.get(WRITE)))["name"] == "refund.lookup: explicit rejection 2"


def test_of_several_tools_the_control_is_about_the_one_whose_call_was_chosen(
    signed_in: Client, project: Project, everyone: User
) -> None:
    [first] = json.loads(acting())["events"]
    second = {**first, "seq": 7, "attempt": "a-7", "tool": "refund.create"}
    factories.case(project, everyone, acting(events=[first, second]))
    address = f"{NEW}?call=7&outcome=uncertain"
    begun = texts(words(signed_in.get(address)))
    signed_in.post(address, {**begun, "text": begun["text"].replace("FILL IN: ", "")})
    assert (Control.objects.get().tool, Control.objects.get().outcome_type) == ("refund.create", "uncertain")


def test_what_only_the_author_can_know_is_refused_until_it_is_filled_in(signed_in: Client, case: Case) -> None:
    begun = texts(words(signed_in.get(WRITE)))
    line = begun["text"].split("\n").index(next(row for row in begun["text"].split("\n") if "FILL IN" in row)) + 1
    html = refused(signed_in, text=begun["text"])
    assert f"Line {line} still says “FILL IN: the kind of error by which the tool refuses”." in html


def test_a_finding_stands_beside_its_line(signed_in: Client, case: Case) -> None:
    text = json.dumps(json.loads(acting(case_id="control", frozen_at="yesterday")), indent=1)
    line = next(number for number, row in enumerate(text.split("\n"), 1) if "yesterday" in row)
    html = refused(signed_in, text=text)
    assert "The fixture cannot be used" in html
    assert f">{line}</th>" in html


def test_a_finding_about_the_mutation_stands_beside_a_line_of_the_mutation(signed_in: Client, case: Case) -> None:
    html = refused(signed_in, mutation='[{"op": "remove",\n\n"path": "/expected/boundary"}]')
    assert "The mutation cannot be used" in html
    assert ">3</th>" in html
    assert "<code>mutation.invalid</code>" in html


def test_what_the_domain_refuses_is_said_and_the_text_kept(signed_in: Client, case: Case) -> None:
    signed_in.post(WRITE, filled(signed_in, name="declined"))
    again = filled(signed_in)["text"].replace("--rejection", "--again")
    assert "has a control of this name already" in refused(signed_in, name="declined", text=again)


def test_a_control_of_a_revision_that_is_not_current_any_more_is_a_conflict_that_keeps_the_text(
    signed_in: Client, case: Case, everyone: User
) -> None:
    sent = filled(signed_in)
    factories.redacted_revision(everyone, case, acting(input={"order": "o-2"}))
    html = refused(signed_in, 409, **sent)
    assert "revision 2 came in the meantime" in html
    assert signed_in.post(WRITE, {**sent, "seen": texts(html)["seen"]}).status_code == 302
    assert Control.objects.get().revision.number == 2


def test_a_call_of_the_recorded_kind_says_what_must_be_changed(signed_in: Client, case: Case) -> None:
    already = "recorded with this kind of outcome already"
    assert already in words(signed_in.get(f"{NEW}?call=1&outcome=success"))
    assert already not in words(signed_in.get(WRITE))


@pytest.mark.parametrize("asked", ["call=9&outcome=success", "call=1&outcome=x", "call=1", "call=x&outcome=success"])
def test_what_there_is_not_is_not_found(signed_in: Client, case: Case, asked: str) -> None:
    assert signed_in.get(f"{NEW}?{asked}").status_code == 404


def test_without_a_tool_that_has_an_effect_the_page_says_what_to_do(
    signed_in: Client, project: Project, everyone: User
) -> None:
    factories.case(project, everyone)
    html = words(signed_in.get(NEW))
    assert "No tool of revision 1 has an effect" in html
    assert "/cases/RC-1/revisions/new/" in html
    assert "/cases/RC-1/#controls" in html


def test_a_tool_that_only_an_alternative_calls_has_no_recorded_call(
    signed_in: Client, project: Project, everyone: User
) -> None:
    [event] = json.loads(factories.fixture())["events"]
    other = {key: event[key] for key in ("arguments", "outcome")}
    other |= {"tool": "refund.create", "effect": {"action": "refund", "accepted": True}, "origin": "authored"}
    factories.case(project, everyone, factories.fixture(events=[{**event, "alternatives": [other]}]))
    html = words(signed_in.get(NEW))
    assert "No recorded call has an effect" in html
    assert "Write one" not in html


def test_what_is_too_large_for_a_page_is_made_by_hand(signed_in: Client, project: Project, everyone: User) -> None:
    factories.case(project, everyone, acting(input={"note": "y" * 1_100_000}))
    for address in (NEW, WRITE):
        html = words(signed_in.get(address))
        assert "too much to edit in a page" in html
        assert "<textarea" not in html


def test_raw_evidence_is_shown_to_its_readers_once_they_said_why(project: Project, everyone: User) -> None:
    case = factories.case(project, everyone, acting(), classification=Classification.QUARANTINED)
    responder, engineer = (factories.person(project, role) for role in (Role.RESPONDER, Role.WORKFLOW_ENGINEER))
    asked = words(client_of(responder).get(WRITE))
    assert 'name="next" value="/cases/RC-1/controls/new/?call=1&amp;outcome=rejection"' in asked
    withheld = words(client_of(engineer).get(WRITE))
    assert "your roles do not read" in withheld
    assert "o-1" not in asked + withheld
    factories.opened(case, responder)
    assert "o-1" in words(client_of(responder).get(WRITE))


def test_it_is_for_those_who_may_add_a_control(looking: Client, case: Case) -> None:
    assert looking.get(NEW).status_code == 403
    assert looking.post(WRITE, {}).status_code == 403
    stranger = client_of(factories.everyone(factories.project("XX")))
    assert (stranger.get(NEW).status_code, stranger.post(NEW, {}).status_code) == (404, 404)


def test_both_pages_take_few_queries_however_many_controls_there_are(
    signed_in: Client, case: Case, everyone: User
) -> None:
    taken = [queries(signed_in, address) for address in (NEW, WRITE)]
    assert max(taken) <= MOST
    for number in range(3):
        factories.control(factories.revision(case), everyone, name=f"c-{number}")
    assert [queries(signed_in, address) for address in (NEW, WRITE)] == taken


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)
