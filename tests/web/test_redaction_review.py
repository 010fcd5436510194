"""The privacy reviewer's page: what is seen of a redaction, what is decided of its places, and what is in the way."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    claims,
    evidence,
    intake,
    jobs,
    raw_reads,
    redacting,
    redaction_marks,
    redaction_policies,
    redaction_rows,
    redaction_rules,
    redaction_scans,
    seen_spans,
    waivers,
)
from replaycases.cases.models import Case, Decision, Payload, Redaction, RedactionRule, RuleAction, Stage, Waiver
from replaycases.redaction.manual import mac
from replaycases.redaction.places import Place
from replaycases.redaction.record import Kept, Open, Record
from replaycases.web.redactions import findings, lines, loading, pointing, spans
from replaycases.web.redactions.pointing import Target
from tests import factories, in_process
from tests.web.conftest import client_of

MAIL = "jane.doe@corp.test"
SAYS = f"I am Jane of desk 4, and Jane writes from {MAIL}."
NESTED = json.dumps({"to": {"mail": MAIL}, "note": "Jane asked."})
PAGE = "/cases/RC-1/review/redaction/"
ORDERS = [{"key": "order", "kind": "id"}]
PLAIN = {"a": "plain", "b": "words", "c": "only", "d": "here"}


@pytest.fixture
def of(db: None) -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def made(of: factories.People) -> Case:
    """In review, redacted by who captured it."""
    data = factories.fixture(input={"message": SAYS, "body": NESTED, **PLAIN})
    case = factories.case(of.project, of.responder, data, classification=factories.Classification.QUARANTINED)
    redacting.redact(of.responder, case=case, seen_revision=1)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    return factories.fresh(case)


@pytest.fixture
def reviewing(of: factories.People, made: Case) -> Client:
    """The reviewer, who said why they read the case."""
    raw_reads.begin(of.privacy, case=made, reason="To review the redaction.")
    return client_of(of.privacy)


def looked(case: Case) -> Redaction:
    return redaction_rows.require_newest(factories.revision(factories.fresh(case)))


def words(answer: Any) -> str:
    html: str = answer.content.decode()
    return html


def told(answer: Any) -> str:
    """The text of a page without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", words(answer)))


def row_of(answer: Any, name: str) -> str:
    """The row of the table that shows a value."""
    rows = re.findall(r'<tr id="row-\d+".*?</tr>', words(answer), re.DOTALL)
    return next(row for row in rows if f">{name}</a>" in row)


def number_of(answer: Any, name: str) -> int:
    found = re.match(r'<tr id="row-(\d+)"', row_of(answer, name))
    assert found is not None
    return int(found[1])


def rule(case: Case, **said: Any) -> dict[str, Any]:
    return {"redaction": str(looked(case).pk), "reason": "It names somebody.", **said}


# --- both sides -----------------------------------------------------------------------------------------------------


def test_raw_and_redacted_stand_side_by_side_with_what_was_replaced(reviewing: Client) -> None:
    row = row_of(reviewing.get(PAGE), "message")
    assert f'<mark class="o">{MAIL}</mark>' in row
    assert re.search(r'<mark class="n">[^<]+\.example</mark>', row)
    assert "e-mail" in row
    assert "not seen" in row


def test_while_something_is_left_to_redact_the_case_says_so_and_whose_it_is(of: factories.People) -> None:
    data = factories.fixture(input={"message": SAYS})
    case = factories.case(of.project, of.responder, data, classification=factories.Classification.QUARANTINED)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    for user in (of.responder, of.privacy):
        page = words(client_of(user).get("/cases/RC-1/"))
        assert f'href="{PAGE}">Redact it</a>' in page
        assert "<strong>Approve the redaction</strong>" not in page
    page = words(client_of(of.viewer).get("/cases/RC-1/"))
    assert "<strong>Redact it</strong>" in page
    assert f'href="{PAGE}"' not in page
    review = words(client_of(of.privacy).get("/cases/RC-1/review/"))
    assert f'href="{PAGE}">Redact and review</a>' in review
    assert f'<a href="{PAGE}">Redaction of revision 1</a>' in review


def test_what_is_still_to_be_decided_is_marked_beside_what_was_replaced(of: factories.People) -> None:
    said = {"message": f"{MAIL} wrote: Jonathan asks.", "customer_name": "Jonathan Example-Smith"}
    data = factories.fixture(input=said)
    case = factories.case(of.project, of.responder, data, classification=factories.Classification.QUARANTINED)
    redacting.redact(of.responder, case=case, seen_revision=1)
    raw_reads.begin(of.responder, case=case, reason="To look at it.")
    client = client_of(of.responder)
    row = row_of(client.get(PAGE), "message")
    assert row.count('<mark class="f">Jonathan</mark>') == 2
    assert "to decide: name of a person" in row
    value = words(client.get(f"{PAGE}values/{number_of(client.get(PAGE), 'message')}/"))
    assert value.count('<mark class="f">Jonathan</mark>') == 2


def test_how_a_value_was_decoded_is_said(reviewing: Client) -> None:
    assert "in JSON" in row_of(reviewing.get(PAGE), "body")


def test_equal_values_are_folded_with_their_count_and_can_be_opened(reviewing: Client) -> None:
    folded = reviewing.get(PAGE)
    found = re.search(r'\?open=(\d+)#row-\d+">(\d+) equal values', words(folded))
    assert found is not None
    assert "words" not in told(folded)
    every = reviewing.get(PAGE, {"show": "all"})
    assert "equal values" not in words(every)
    assert row_of(every, "b")
    first = number_of(every, "a")
    opened = reviewing.get(PAGE, {"open": first})
    assert row_of(opened, "b")


def test_nothing_raw_is_shown_before_somebody_says_why(of: factories.People, made: Case) -> None:
    client = client_of(of.privacy)
    for address in (PAGE, f"{PAGE}values/0/"):
        html = words(client.get(address))
        assert "Why do you need to read it?" in html
        assert MAIL not in html
        assert "corp.test" not in html


def test_who_may_not_read_raw_evidence_sees_neither_side(of: factories.People, made: Case) -> None:
    for address in (PAGE, f"{PAGE}values/0/"):
        html = words(client_of(of.viewer).get(address))
        assert MAIL not in html
        assert "plain" not in html


def test_no_value_stands_in_titles_or_addresses(reviewing: Client) -> None:
    html = words(reviewing.get(PAGE, {"show": "all"}))
    addresses = " ".join(re.findall(r'(?:href|action|formaction)="([^"]*)"', html))
    assert not re.search("jane|corp|message|/input", addresses, re.IGNORECASE)
    assert "RC-1" in html[html.index("<title>") : html.index("</title>")]
    assert "jane" not in html[: html.index("</title>")].lower()


def test_an_edit_by_hand_that_loses_a_relation_says_which(of: factories.People, made: Case, reviewing: Client) -> None:
    document = json.loads(evidence.read(factories.revision(made).payload))
    document["input"]["body"] = json.dumps({"to": {"mail": "other@shop.example"}, "note": "-"})
    intake.add_revision(of.responder, case=made, fixture=json.dumps(document).encode())
    page = told(reviewing.get(PAGE))
    assert "lost the same e-mail stands at /input/message and /input/body (json:/to/mail)" in page


def test_a_revision_that_was_made_by_hand_stands_in_one_column(of: factories.People) -> None:
    case = factories.case(of.project, of.responder, classification=factories.Classification.QUARANTINED)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    raw_reads.begin(of.privacy, case=case, reason="To review it.")
    html = words(client_of(of.privacy).get(PAGE))
    assert "The revision as it was saved" in html
    assert "o-1" in html
    assert 'scope="col" class="n"' not in html


# --- what must be seen ----------------------------------------------------------------------------------------------


def test_a_place_that_is_marked_as_seen_counts_and_leads_back_to_its_row(
    of: factories.People, reviewing: Client, made: Case
) -> None:
    page = reviewing.get(PAGE)
    button = re.search(r'formaction="([^"]+)" name="spans" value="([^"]+)"', row_of(page, "message"))
    assert button is not None
    answer = reviewing.post(button[1], {"spans": button[2], "page": 1, "show": ""})
    assert answer.headers["Location"] == f"{PAGE}#row-{number_of(page, 'message')}"
    assert seen_spans.of(of.privacy, looked(made)) == {0}
    assert "1 of 3 seen" in words(reviewing.get(PAGE))


def test_a_script_is_told_how_much_is_left(reviewing: Client, made: Case) -> None:
    address = f"/cases/RC-1/redactions/{looked(made).pk}/seen/"
    answer = reviewing.post(address, {"spans": "0-1"}, headers={"accept": "application/json"})
    assert answer.json() == {
        "seen": 2,
        "of": 3,
        "why": "You have not looked at 1 of 3 places. Look at each of them first.",
    }


def test_a_page_is_read_only_once_nothing_of_it_is_folded(reviewing: Client) -> None:
    assert "I have looked at the 2 places of this page" in told(reviewing.get(PAGE))
    assert "I have looked at this page" in told(reviewing.get(PAGE, {"show": "all"}))


def test_what_the_redaction_does_not_have_is_not_seen(reviewing: Client, made: Case) -> None:
    address = f"/cases/RC-1/redactions/{looked(made).pk}/seen/"
    for numbers in ("7", "0-99999999", "x", "", "1,,2"):
        assert reviewing.post(address, {"spans": numbers}).status_code == 422, numbers
    assert "0 of 3 seen" in words(reviewing.get(PAGE))


def test_places_of_a_redaction_that_is_outrun_are_not_noted(
    of: factories.People, reviewing: Client, made: Case
) -> None:
    before = looked(made)
    redaction_rules.add(
        of.responder,
        source=before.source,
        action=RuleAction.KEEP,
        place=Place(pointer="/input/message", start=SAYS.index(MAIL), end=SAYS.index(MAIL) + len(MAIL)),
        reason="It is made up.",
    )
    redacting.redact(of.responder, case=factories.fresh(made), seen_revision=2)
    assert reviewing.post(f"/cases/RC-1/redactions/{before.pk}/seen/", {"spans": "0"}).status_code == 409


def test_why_one_cannot_approve_stands_in_the_bar(of: factories.People, reviewing: Client, made: Case) -> None:
    text = told(reviewing.get(PAGE))
    assert "You have not looked at 3 of 3 places. Next unseen place" in text
    Membership = of.responder.memberships.model
    Membership.objects.create(project=of.project, user=of.responder, role=Role.PRIVACY_REVIEWER)
    assert "You cannot approve: You captured this case." in told(client_of(of.responder).get(PAGE))


def test_the_confirmation_shows_hash_and_counts_and_the_server_asks_that_all_was_seen(
    of: factories.People, reviewing: Client, made: Case
) -> None:
    seen = factories.revision(made)
    text = told(reviewing.get(f"{PAGE[:-10]}redaction-approval/"))
    assert seen.content_hash[7:23] in text
    for said in ("2 e-mail", "0 open, 0 waived", "0 of 3"):
        assert said in text, said
    answer = reviewing.post(
        f"{PAGE[:-10]}redaction-approval/", {"revision": seen.number, "content_hash": seen.content_hash}
    )
    assert answer.status_code == 409
    assert not Decision.objects.exists()


def test_a_decision_leads_to_the_next_item_of_the_queue(of: factories.People, reviewing: Client, made: Case) -> None:
    other = factories.case(
        of.project, of.responder, factories.fixture(case_id="b"), classification=factories.Classification.QUARANTINED
    )
    Case.objects.filter(pk=other.pk).update(stage=Stage.IN_REVIEW)
    assert re.search(r"<b>\d of 2</b>", words(reviewing.get(PAGE)))
    seen = factories.revision(made)
    said = {"revision": seen.number, "content_hash": seen.content_hash, "note": "Jane stands in the note."}
    answer = reviewing.post(f"{PAGE[:-10]}redaction-return/", said)
    assert answer.headers["Location"] == "/cases/RC-2/review/redaction/"
    assert factories.fresh(other).reviewer is None  # nobody asked for it yet
    assert "<b>1 of 1</b>" in words(reviewing.get("/cases/RC-2/review/redaction/"))


def test_the_queue_hands_an_item_to_one_person_at_a_time(of: factories.People, made: Case) -> None:
    other = factories.person(of.project, Role.PRIVACY_REVIEWER)
    first, second = client_of(of.privacy), client_of(other)
    assert first.post("/reviews/turns/").headers["Location"] == PAGE
    assert "Yours until" in told(first.get(PAGE))
    assert f"{of.privacy} has it until" in told(second.get(PAGE))
    assert second.post("/reviews/turns/").headers["Location"] == "/reviews/"
    assert not claims.hold(other, made)
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        assert second.post("/reviews/turns/").headers["Location"] == PAGE


def test_who_decides_nothing_of_it_has_no_item(of: factories.People, made: Case) -> None:
    client_of(of.viewer).post(f"{PAGE}skip/withdrawal/")
    assert factories.fresh(made).reviewer is None


def test_what_was_skipped_is_not_handed_out_again_until_the_skip_is_taken_back(
    of: factories.People, made: Case
) -> None:
    client = client_of(of.privacy)
    client.post("/reviews/turns/")
    assert client.post(f"{PAGE}skip/").headers["Location"] == "/reviews/"
    assert factories.fresh(made).reviewer is None
    assert client.post("/reviews/turns/").headers["Location"] == "/reviews/"
    assert client.post(f"{PAGE}skip/withdrawal/").headers["Location"] == PAGE
    assert factories.fresh(made).reviewer == of.privacy


# --- redacting ------------------------------------------------------------------------------------------------------


def test_redacting_again_with_nothing_new_is_a_conflict(of: factories.People, made: Case) -> None:
    client = client_of(of.responder)
    assert client.post("/cases/RC-1/redactions/", {"revision": 2, "how": "redact"}).status_code == 409
    assert client.post("/cases/RC-1/redactions/", {"revision": 1, "how": "redact"}).status_code == 409
    assert client.post("/cases/RC-1/redactions/", {"revision": "", "how": "redact"}).status_code == 422
    assert client.post("/cases/RC-1/redactions/", {"revision": 2, "how": "look"}).status_code == 302
    assert Redaction.objects.filter(revision__number=2).count() == 2


def test_redacting_what_is_approved_asks_once_more_and_looking_at_it_does_not(of: factories.People) -> None:
    case = factories.redaction_approved(of)
    redaction_policies.save(of.privacy, project=of.project, data={"fields": ORDERS}, note="Orders too.", seen=0)
    client, asked = client_of(of.responder), {"revision": 1, "how": "redact"}
    assert 'name="how" value="look">Look again' in words(client.get(PAGE))
    looking = client.post("/cases/RC-1/redactions/", {**asked, "how": "look"}, follow=True)
    assert "Revision 1 was looked through under the policy in force: 2 findings are open." in told(looking)
    assert "Open findings in revision 1" in told(client_of(of.qa).get("/cases/RC-1/"))
    assert "its approvals are void" in told(client.post("/cases/RC-1/redactions/", asked))
    assert factories.fresh(case).stage == Stage.REDACTION_APPROVED
    client.post("/cases/RC-1/redactions/", {**asked, "confirmed": "yes"})
    assert factories.fresh(case).stage == Stage.IN_REVIEW


def test_a_look_says_that_a_relation_is_lost(of: factories.People, made: Case) -> None:
    document = json.loads(evidence.read(factories.revision(made).payload))
    document["input"]["body"] = json.dumps({"to": {"mail": "other@shop.example"}, "note": "-"})
    intake.add_revision(of.responder, case=made, fixture=json.dumps(document).encode())
    looking = client_of(of.responder).post("/cases/RC-1/redactions/", {"revision": 3, "how": "look"}, follow=True)
    assert "under the policy in force: 1 finding is open and 1 relation is lost." in told(looking)


def test_redacting_again_by_a_new_policy_that_changes_no_byte_says_what_is_replaced(
    of: factories.People, made: Case
) -> None:
    redaction_policies.save(of.privacy, project=of.project, data={"kinds_off": ["iban"]}, note="None there.", seen=0)
    answer = client_of(of.responder).post("/cases/RC-1/redactions/", {"revision": 2, "how": "redact"}, follow=True)
    assert "Replaced as before: 2 e-mail." in told(answer)


# --- rules ----------------------------------------------------------------------------------------------------------


def test_a_text_is_marked_wherever_its_value_holds_it_and_is_gone_after_the_next_redaction(
    of: factories.People, made: Case
) -> None:
    raw_reads.begin(of.responder, case=made, reason="To mark a name.")
    client = client_of(of.responder)
    line = number_of(client.get(PAGE), "message")
    assert "The exact text" in words(client.get(f"{PAGE}values/{line}/"))
    said = rule(made, action="mark", at=f"line:{line}", row=line, kind="person", text="Jane")
    assert client.post("/cases/RC-1/redaction-rules/", said).status_code == 302
    assert RedactionRule.objects.count() == 2
    client.post("/cases/RC-1/redactions/", {"revision": 2, "how": "redact"})
    row = row_of(client.get(PAGE), "message")
    assert row.count('<mark class="o">Jane</mark>') == 2
    assert len(set(re.findall(r'<mark class="n">([^<@]+)</mark>', row))) == 1


def test_a_text_inside_a_decoded_one_is_marked_there(of: factories.People, made: Case) -> None:
    raw_reads.begin(of.responder, case=made, reason="To mark a name.")
    client = client_of(of.responder)
    line = number_of(client.get(PAGE), "body")
    client.post(
        "/cases/RC-1/redaction-rules/", rule(made, action="mark", at=f"line:{line}", kind="person", text="Jane")
    )
    assert "json" in RedactionRule.objects.get().place


def test_what_two_readings_show_of_the_same_characters_is_one_place() -> None:
    document = {"a": "Jane%20Roe wrote to Jane", "Jane": 1, "b": json.dumps({"c": "Jane", "d": ["Jane"]})}
    found = redaction_marks.places(document, "/a", False, "Jane")
    assert [(place.path, place.start) for place in found] == [((), 0), ((), 20)]
    assert [len(place.path) for place in redaction_marks.places(document, "/b", False, "Jane")] == [1, 1]
    assert len(redaction_marks.places(document, "/Jane", True, "Jane")) == 1
    assert not redaction_marks.places(document, "/Jane", False, "Jane")
    assert not redaction_marks.places(document, "/a", False, "Jan")
    assert len(redaction_marks.places(document, "/a", False, "Jan", inside_words=True)) == 2


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"action": "mark", "text": "Nobody", "kind": "person"}, "does not hold that text"),
    ({"action": "mark", "text": "Jan", "kind": "person"}, "as whole words"),
    ({"action": "mark", "text": "Jane"}, "Say what it is"),
    ({"action": "surrogate"}, "what stands for it"),
    ({"action": "join", "at": "span:0"}, "with which value"),
    ({"action": "keep", "at": "span:99"}, "nothing to decide"),
    ({"action": "keep", "at": "finding:0"}, "nothing to decide"),
    ({"action": "drop", "up": 9}, "no member"),
    ({"action": "mark", "at": "/input/message"}, "at:"),
    ({"action": "mark", "text": "Jane", "kind": "person", "reason": ""}, "reason:"),
)


def test_a_rule_that_is_none_is_refused_on_the_page_it_came_from(of: factories.People, made: Case) -> None:
    raw_reads.begin(of.responder, case=made, reason="To mark a name.")
    client = client_of(of.responder)
    line = number_of(client.get(PAGE), "message")
    for said, why in REFUSED:
        answer = client.post("/cases/RC-1/redaction-rules/", rule(made, **{"at": f"line:{line}", "row": line, **said}))
        assert answer.status_code == 422, said
        assert why in told(answer)
    assert not RedactionRule.objects.exists()


def test_what_was_typed_into_a_waiver_that_is_refused_stays_in_its_open_form(of: factories.People) -> None:
    data = factories.fixture(input={"message": SAYS})
    case = factories.case(of.project, of.responder, data, classification=factories.Classification.QUARANTINED)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    raw_reads.begin(of.privacy, case=case, reason="To review the redaction.")
    said = {"finding": 0, "reason": "It is our own.", "until": "2001-01-01", "redaction": str(looked(case).pk)}
    answer = client_of(of.privacy).post("/cases/RC-1/waivers/", said)
    assert answer.status_code == 422
    form = words(answer).partition("<details open><summary>Let it stand")[2].partition("</details>")[0]
    assert "Name a time in the future" in form
    assert 'value="It is our own."' in form
    assert 'value="2001-01-01"' in form


def test_what_was_typed_into_a_rule_that_is_refused_stays(reviewing: Client, made: Case) -> None:
    line = number_of(reviewing.get(PAGE), "message")
    said = {"at": f"line:{line}", "row": line, "form": "part", "action": "mark", "text": "Joan", "kind": "person"}
    answer = words(reviewing.post("/cases/RC-1/redaction-rules/", rule(made, **said)))
    assert 'value="Joan"' in answer
    assert 'value="It names somebody."' in answer
    assert '<option value="person" selected>' in answer


def test_a_return_that_is_refused_is_shown_on_the_page_it_came_from(reviewing: Client) -> None:
    page = reviewing.get(PAGE)
    said = {**page.context["returning"].initial, "page": "redaction", "note": "  "}
    answer = reviewing.post("/cases/RC-1/review/redaction-return/", said)
    assert answer.status_code == 422
    assert "Redaction review of RC-1, revision 2" in told(answer)
    assert "It is not returned" in told(answer)


def test_a_chosen_text_that_cannot_stand_there_says_why_and_which_rule_it_was(
    of: factories.People, reviewing: Client, made: Case
) -> None:
    said = {"action": "surrogate", "at": "span:0", "surrogate": MAIL, "reason": "It reads better."}
    reviewing.post("/cases/RC-1/redaction-rules/", rule(made, **said))
    reviewing.post("/cases/RC-1/redactions/", {"revision": 2, "how": "redact"})
    text = told(reviewing.get(PAGE))
    assert "Choose what stands for it: “It reads better.”" in text
    assert "The chosen text cannot stand there" in text
    assert "Take back “Choose what stands for it”" in text


RULES: tuple[dict[str, Any], ...] = (
    {"action": "keep", "at": "span:0"},
    {"action": "split", "at": "span:0"},
    {"action": "surrogate", "at": "span:0", "surrogate": "one@made.example"},
    {"action": "join", "at": "span:0", "other": 1},
    {"action": "drop", "up": 0},
    {"action": "structural", "at": "document"},
    {"action": "mark", "kind": "text"},
)


def test_each_decision_about_a_place_is_a_rule(of: factories.People, made: Case) -> None:
    raw_reads.begin(of.responder, case=made, reason="To decide.")
    client = client_of(of.responder)
    line = number_of(client.get(PAGE), "message")
    for said in RULES:
        added = client.post("/cases/RC-1/redaction-rules/", rule(made, **{"at": f"line:{line}", **said}))
        assert added.status_code == 302, said
    kept = RedactionRule.objects.order_by("added_at").values_list("action", flat=True)
    assert list(kept) == [said["action"] for said in RULES]
    assert "7 changed since" in told(client.get(PAGE))


def test_a_rule_is_taken_back_once(of: factories.People, made: Case) -> None:
    raw_reads.begin(of.responder, case=made, reason="To decide.")
    client = client_of(of.responder)
    client.post("/cases/RC-1/redaction-rules/", rule(made, action="keep", at="span:0"))
    address = f"/cases/RC-1/redaction-rules/{RedactionRule.objects.get().pk}/withdrawal/"
    assert client.post(address).status_code == 302
    assert "taken back by" in told(client.get(PAGE))
    assert client.post(address).status_code == 409


# --- waivers --------------------------------------------------------------------------------------------------------


@pytest.fixture
def open_finding(of: factories.People) -> Case:
    """In review as it was captured: an address stands in it."""
    data = factories.fixture(input={"message": SAYS})
    case = factories.case(of.project, of.responder, data, classification=factories.Classification.QUARANTINED)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    return factories.fresh(case)


def test_a_finding_is_waived_by_one_person_and_a_second_one_who_agrees(
    of: factories.People, open_finding: Case
) -> None:
    second: User = factories.person(of.project, Role.PRIVACY_REVIEWER)
    factories.opened(open_finding, of.privacy, second)
    asking, agreeing = client_of(of.privacy), client_of(second)
    page = told(asking.get(PAGE))
    assert "1 finding is open." in page
    assert "To decide e-mail" in page
    assert "Redact: Whoever redacts it does not approve it." in page
    assert "Whoever redacts it does not" not in told(client_of(of.responder).get(PAGE))
    said = {
        "redaction": str(looked(open_finding).pk),
        "finding": 0,
        "reason": "A published address.",
        "until": (timezone.localdate() + timedelta(days=9)).isoformat(),
    }
    assert asking.post("/cases/RC-1/waivers/", {**said, "reason": ""}).status_code == 422
    assert asking.post("/cases/RC-1/waivers/", {**said, "finding": 5}).status_code == 422
    assert asking.post("/cases/RC-1/waivers/", {**said, "until": "2020-01-01"}).status_code == 422
    assert asking.post("/cases/RC-1/waivers/", said).status_code == 302
    waiver = Waiver.objects.get()
    assert re.search(r"You asked for it. A second person agrees to it. .*Take it back", told(asking.get(PAGE)))
    assert asking.post(f"/cases/RC-1/waivers/{waiver.pk}/confirmation/").status_code == 403
    assert "Agree that it may stand Refuse it" in told(agreeing.get(PAGE))
    assert agreeing.post(f"/cases/RC-1/waivers/{waiver.pk}/confirmation/").status_code == 302
    assert "Waived e-mail" in told(asking.get(PAGE))
    assert "finding is open" not in told(asking.get(PAGE))
    assert asking.post(f"/cases/RC-1/waivers/{waiver.pk}/ending/").status_code == 302
    assert "1 finding is open." in told(asking.get(PAGE))


def test_where_a_waiver_of_what_is_approved_has_ended_the_page_says_the_way(of: factories.People) -> None:
    case = factories.in_review(of, factories.fixture(input={"message": f"write to {MAIL}"}))
    found = looked(case).open[0]["finding"]
    until = timezone.now() + timedelta(days=3)
    waiver = waivers.ask(of.privacy, redaction=looked(case), findings=[found], reason="It is ours.", until=until)[0]
    waivers.confirm(of.security, waiver=waiver)
    factories.approve_redaction(of, case)
    with time_machine.travel(until + timedelta(minutes=1), tick=False):
        raw_reads.begin(of.privacy, case=case, reason="To look at it.")
        text = told(client_of(of.privacy).get(PAGE))
    assert "its time is over" in text
    assert "Send the case back to review: there it is replaced, or waived." in text


def test_a_finding_is_marked_only_where_the_raw_revision_has_its_value(of: factories.People, made: Case) -> None:
    redaction = looked(made)
    key = redaction_scans.opened(redaction.mapping).key
    place = Place(pointer="/input/message", start=0, end=4)
    for value, fits in (("I am", True), ("Jane", False)):
        one = Open(kind="person", detector="x", certainty="suggested", place=place, length=4, fits=mac(key, value))
        read = replace(loading.read(loading.sides_of(factories.revision(made)), redaction), record=Record(open=(one,)))
        if fits:
            assert pointing.place_of(Target.of("finding:0"), read, redaction, redaction.source) == place
        else:
            with pytest.raises(ValidationError):
                pointing.place_of(Target.of("finding:0"), read, redaction, redaction.source)


def test_a_long_list_of_findings_is_cut_and_says_so(of: factories.People) -> None:
    mails = [f"jane{number}@corp.test" for number in range(101)]
    data = factories.fixture(input={"mails": mails})
    case = factories.case(of.project, of.responder, data, classification=factories.Classification.QUARANTINED)
    raw_reads.begin(of.privacy, case=case, reason="To review it.")
    text = told(client_of(of.privacy).get(PAGE))
    assert "1 more, each marked where it stands" in text


def test_what_changed_since_my_approval_stands_on_the_page(of: factories.People) -> None:
    case = factories.case(of.project, of.responder, classification=factories.Classification.QUARANTINED)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    factories.see_everything(of.privacy, factories.fresh(case))
    factories.decide_redaction(of.privacy, factories.fresh(case))
    intake.add_revision(of.responder, case=factories.fresh(case), fixture=factories.fixture(input={"order": "o-2"}))
    text = told(client_of(of.privacy).get(PAGE))
    assert "Since you approved revision 1" in text
    assert "changed /input/order" in text


# --- what is not there ----------------------------------------------------------------------------------------------


def ended(*payloads: Any) -> None:
    """The time of these bytes is over."""
    over = timezone.now() - timedelta(minutes=1)
    Payload.objects.filter(pk__in=[payload.pk for payload in payloads]).update(expires_at=over)


def test_an_approved_revision_is_still_read_when_the_raw_one_is_destroyed(
    of: factories.People, reviewing: Client, made: Case
) -> None:
    before = looked(made)
    factories.released(factories.revision(made))
    ended(before.source.payload, before.record)
    text = told(client_of(of.viewer).get(PAGE))
    assert "The raw revision that it was made of is destroyed." in text
    assert "What was found is destroyed with the raw evidence" in text
    assert "plain" in text
    assert MAIL not in text


def test_of_a_revision_that_is_destroyed_nothing_is_shown(reviewing: Client, made: Case) -> None:
    ended(factories.revision(made).payload)
    for address in (PAGE, f"{PAGE}values/0/"):
        text = told(reviewing.get(address))
        assert "was raw evidence" in text
        assert "plain" not in text


def test_damaged_evidence_shows_nothing_of_it(reviewing: Client, made: Case) -> None:
    payload = factories.revision(made).payload
    Payload.objects.filter(pk=payload.pk).update(body=b"broken")
    answer = reviewing.get(PAGE)
    assert answer.status_code == 500
    assert "plain" not in told(answer)


def test_a_line_that_is_not_there_is_not_found(reviewing: Client) -> None:
    assert reviewing.get(f"{PAGE}values/9999/").status_code == 404


# --- lines ----------------------------------------------------------------------------------------------------------


def test_what_is_left_as_it_stands_is_counted_by_field_rule_or_reason() -> None:
    at = Place(pointer="/a", start=0, end=1)
    kept = [
        Kept(kind="text", detector=detector, certainty="certain", place=at, length=1, why=why)
        for detector, why in [("field:id", "x"), ("personal:email", "a person keeps it"), ("field:id", "x")]
    ]
    assert findings.kept_by(kept) == [("field:id", 2), ("a person keeps it", 1)]


def test_what_was_left_out_renamed_or_added_stands_where_it_stood() -> None:
    raw = {"a": "x", "gone": {"deep": 1}, "jane": {"b": "y"}}
    now = {"a": "x", "someone": {"b": "z"}, "missing": ["m"]}
    found = lines.side_by_side(raw, now, lines.Renamed(names={"/jane": "someone"}))
    assert [(line.sort, line.source, line.pointer) for line in found.lines] == [
        ("value", "/a", "/a"),
        ("gone", "/gone", None),
        ("key", "/jane", "/someone"),
        ("value", "/jane/b", "/someone/b"),
        ("added", None, "/missing/0"),
    ]


def test_another_type_is_another_value() -> None:
    raw, now = [1, True, "1", {}, []], [1.0, 1, "1", [], []]
    found = lines.side_by_side(raw, now, lines.Renamed())
    assert [line.sort for line in found.lines if line.differs or line.sort != "value"] == [
        "value",
        "value",
        "gone",
        "added",
    ]


@pytest.mark.parametrize("count", [0, 1, 500, 501, 1000])
def test_pages_are_counted_as_what_must_be_seen_is_counted(count: int) -> None:
    document = {"values": [str(number) for number in range(count)], "flag": True, "empty": {}, "none": None}
    found = lines.of_one(document)
    assert found.pages == seen_spans.to_be_seen(Record(), seen_spans.pages_and_pieces(document))
    assert {line.page for line in found.lines} == set(range(found.pages))


def test_a_text_that_no_page_shows_whole_is_read_on_its_own_page_part_by_part(of: factories.People) -> None:
    text = "word " * 5_000
    data = factories.fixture(input={"message": MAIL, "log": text, "short": "brief"})
    case = factories.case(of.project, of.responder, data, classification=factories.Classification.QUARANTINED)
    redacting.redact(of.responder, case=case, seen_revision=1)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    redaction = looked(case)
    raw_reads.begin(of.privacy, case=case, reason="To review the redaction.")
    seen_spans.mark(of.privacy, redaction=redaction, spans=[0, 1])
    client, marking = client_of(of.privacy), f"/cases/RC-1/redactions/{redaction.pk}/seen/"
    every = client.get(PAGE, {"show": "all"})
    assert "not read whole" in row_of(every, "log")
    assert "not read whole" not in row_of(every, "short")
    assert "not looked at 2 of 4 places" in told(every)
    value = f"{PAGE}values/{number_of(every, 'log')}/"
    assert f'href="{value}">Next unseen place' in words(every)
    assert text[:20_000] in words(client.get(value))
    back = client.post(f"{marking}?line={number_of(every, 'log')}", {"spans": "2", "part": "2"})
    assert back["Location"] == f"{value}?part=2"
    assert "this part is read" in told(client.get(value))
    client.post(f"{marking}?line={number_of(every, 'log')}", {"spans": "3"})
    assert "not read whole" not in row_of(client.get(PAGE, {"show": "all"}), "log")


def test_a_redaction_from_before_long_texts_were_counted_keeps_its_count(of: factories.People) -> None:
    document = {"log": "word " * 1_000}
    found = lines.of_one(document)
    assert spans.pieces(Record(), found, seen_spans.to_be_seen(Record(), 1)) == {}
    assert spans.pieces(Record(), found, seen_spans.to_be_seen(Record(), 2)) == {0: range(1, 2)}


def test_where_the_redaction_took_the_bug_with_it_the_page_says_what_happens_otherwise(of: factories.People) -> None:
    case = factories.in_review(of)
    place = Place(pointer="/events/0/arguments/order", start=0, end=0)
    redaction_rules.add(
        of.responder, source=factories.revision(case), action=RuleAction.MARK, kind="id", place=place, reason="An id."
    )
    redacting.redact(of.responder, case=case, seen_revision=1)
    case = factories.fresh(case)
    affected = case.provenance.affected
    jobs.request_run_set(of.engineer, revision=factories.revision(case), implementation=affected, size=2)
    in_process.replay_all()
    raw_reads.begin(of.privacy, case=case, reason="To review it.")
    shown = words(client_of(of.privacy).get(PAGE))
    assert "What it does otherwise now" in shown
    assert re.search(r"Call 1[^<]*refund\.lookup", shown)
