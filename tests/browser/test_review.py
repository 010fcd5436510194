"""Reviewing in a browser: two people, comments at their place, what changed since an approval, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from replaycases.accounts.models import Project, User
from replaycases.cases import comments, intake
from replaycases.cases.models import Case, Classification, Decision, Stage
from tests import factories
from tests.browser.conftest import Session, look_through, say_why, signed_in

pytestmark = pytest.mark.service


@pytest.fixture
def waiting(project: Project, responder: User) -> Case:
    case = factories.case(project, responder, classification=Classification.QUARANTINED)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    case.refresh_from_db()
    return case


@pytest.fixture
def reviewing(browser: Browser, live_server: Any, reviewer: User) -> Iterator[Session]:
    made = signed_in(browser, live_server.url, reviewer)
    yield made
    made.context.close()


def test_a_reviewer_goes_from_the_queue_to_an_approval_without_scripts(
    browser: Browser, live_server: Any, waiting: Case, reviewer: User
) -> None:
    made = signed_in(browser, live_server.url, reviewer, java_script_enabled=False)
    page = made.open("/reviews/")
    page.get_by_role("link", name=re.compile("RC-1")).click()
    expect(page.get_by_role("cell", name="c-1", exact=True)).to_have_count(0)
    say_why(page)
    expect(page.get_by_role("cell", name="c-1", exact=True)).to_be_visible()
    look_through(page)
    page.get_by_role("link", name="Approve…").click()
    expect(page.get_by_text(factories.revision(waiting).content_hash[7:23]).first).to_be_visible()
    page.get_by_label("Note").fill("Looked at every value.")
    page.get_by_role("button", name="Approve the redaction").click()
    expect(page.get_by_text("The redaction of revision 1 is approved.")).to_be_visible()
    assert Decision.objects.get().decided_by == reviewer
    made.context.close()


def test_a_comment_stands_at_its_place_and_blocks_until_it_is_resolved(
    browser: Browser, live_server: Any, reviewing: Session, waiting: Case, reviewer: User, responder: User
) -> None:
    factories.see_everything(reviewer, waiting)
    page = reviewing.open("/cases/RC-1/revisions/1/")
    page.get_by_role("link", name="Comment on /events/0/outcome", exact=True).click()
    page.get_by_label("Comment", exact=True).fill("Whose state is this?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_text("Whose state is this?").first).to_be_visible()
    assert page.url.endswith("#/events/0/outcome")
    page.get_by_role("link", name="Review", exact=True).click()
    expect(page.get_by_text("1 gate blocks.")).to_be_visible()
    other = signed_in(browser, live_server.url, responder)
    there = other.open("/cases/RC-1/revisions/1/")
    say_why(there)
    there.get_by_label("How it was resolved").fill("Nobody's: it is made up.")
    there.get_by_role("button", name="Resolve").click()
    expect(there.get_by_text("The comment is resolved.")).to_be_visible()
    other.context.close()
    page.reload()
    expect(page.get_by_text("Nothing stands in the way.")).to_be_visible()
    assert reviewing.violations() == []


def test_an_edit_between_the_page_and_the_button_approves_nothing(
    reviewing: Session, waiting: Case, reviewer: User, responder: User
) -> None:
    factories.see_everything(reviewer, waiting)
    page = reviewing.open("/cases/RC-1/review/")
    page.get_by_role("link", name="Approve the redaction…").first.click()
    intake.add_revision(responder, case=waiting, fixture=factories.fixture(input={"order": "o-2"}))
    page.get_by_role("button", name="Approve the redaction").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("This is not possible now")
    assert not Decision.objects.exists()


def test_the_same_reviewer_sees_what_changed_since_their_approval(
    reviewing: Session, waiting: Case, reviewer: User, responder: User
) -> None:
    factories.see_everything(reviewer, waiting)
    page = reviewing.open("/cases/RC-1/review/redaction-approval/")
    page.get_by_role("button", name="Approve the redaction").click()
    for order in ("o-2", "o-3"):
        intake.add_revision(responder, case=waiting, fixture=factories.fixture(input={"order": order}))
    page = reviewing.open("/cases/RC-1/review/")
    expect(page.get_by_role("heading", name="Since you approved revision 1")).to_be_visible()
    expect(page.locator("tr.chg .n mark")).to_have_text("3")
    page.keyboard.press("n")
    expect(page.locator("tr.chg").first).to_be_focused()


def test_a_refused_text_keeps_what_was_typed_and_a_conflict_shows_both(
    browser: Browser, live_server: Any, waiting: Case, responder: User
) -> None:
    made = signed_in(browser, live_server.url, responder)
    page = made.open("/cases/RC-1/revisions/new/")
    say_why(page)
    text = page.get_by_label("Fixture as JSON")
    good = text.input_value()
    text.fill(good.replace('"result"', '"neither"'))
    page.get_by_label("What is changed").fill("Another outcome")
    page.get_by_role("button", name="Save the revision").click()
    expect(page.get_by_role("heading", name="The fixture cannot be used")).to_be_visible()
    expect(page.get_by_label("Fixture as JSON")).to_have_value(good.replace('"result"', '"neither"'))
    page.get_by_label("Fixture as JSON").fill(good.replace("o-1", "o-7"))
    intake.add_revision(responder, case=waiting, fixture=factories.fixture(input={"order": "o-2"}))
    page.get_by_role("button", name="Save the revision").click()
    expect(page.get_by_role("heading", name=re.compile("revision 2 came in the meantime"))).to_be_visible()
    page.get_by_role("button", name="Save the revision").click()
    expect(page.get_by_text("Revision 3 is the current one.")).to_be_visible()
    made.context.close()


def test_a_link_to_a_place_far_down_opens_its_page_at_it(reviewing: Session, project: Project, responder: User) -> None:
    data = factories.fixture(input=[{"order": f"o-{n}", "note": "x" * 90} for n in range(700)])
    case = factories.case(project, responder, data)
    comments.add(responder, revision=factories.revision(case), pointer="/input/650/order", text="Here")
    page = reviewing.open("/cases/RC-1/revisions/1/")
    page.get_by_role("link", name="/input/650/order").click()
    expect(page.locator("[id='/input/650']")).to_be_in_viewport()


def test_keys_walk_the_queue_and_only_open_what_asks_once_more(
    reviewing: Session, waiting: Case, reviewer: User
) -> None:
    factories.see_everything(reviewer, waiting)
    page = reviewing.open("/reviews/")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="RC-1")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("previous item")
    page = reviewing.open("/cases/RC-1/review/")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile("#return-redaction$"))
    page.keyboard.press("a")
    expect(page).to_have_url(re.compile("/cases/RC-1/review/redaction-approval/"))
    expect(page.get_by_role("button", name="Approve the redaction")).to_be_visible()
    assert not Decision.objects.exists()
