"""The comparison page in a browser: from waiting to a verdict, with keys, focus, and without scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from replaycases.accounts.models import Project, User
from replaycases.cases.models import Comparison
from tests import factories
from tests.browser.conftest import Session, signed_in
from tests.web import recorded

pytestmark = pytest.mark.service


@pytest.fixture
def waiting(project: Project, everyone: User) -> Comparison:
    case = factories.case(project, everyone)
    old = factories.implementation(project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(project, everyone, factories.NEW_CODE, version="2")
    return recorded.requested(case, everyone, old, new)


@pytest.fixture
def computed(waiting: Comparison) -> Comparison:
    return recorded.finish(waiting, recorded.RED, recorded.GREEN)


ADDRESS = "/cases/RC-1/comparisons/1/"


def test_signing_in_leads_to_the_page_that_was_asked_for(
    browser: Browser, live_server: Any, everyone: User, computed: Comparison
) -> None:
    everyone.set_password("a long pass phrase")
    everyone.save()
    page = browser.new_context().new_page()
    page.goto(f"{live_server.url}{ADDRESS}")
    page.get_by_label("User name").fill(everyone.username)
    page.get_by_label("Password").fill("a long pass phrase")
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{live_server.url}{ADDRESS}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("in 2 of 2 runs; 2 holds every check")
    page.context.close()


def test_a_waiting_page_moves_to_the_verdict_by_itself_and_keeps_the_focus(
    session: Session, waiting: Comparison
) -> None:
    page = session.open(ADDRESS)
    expect(page.get_by_text("0 of 4 done")).to_be_visible()
    recorded.end(waiting.runs()[0], recorded.RED)
    page.locator("#look-again").focus()
    expect(page.get_by_text("1 of 4 done", exact=True)).to_be_visible()
    expect(page.locator("#look-again")).to_be_focused()
    recorded.finish(waiting, recorded.RED, recorded.GREEN)
    expect(page.locator(".verdict .badge")).to_have_text("Verified red to green")
    expect(page.locator(".docket .badge")).to_have_text("Verified red to green")
    expect(page.get_by_text("Replays in progress")).to_have_count(0)
    assert session.violations() == []


def test_the_key_d_leads_to_the_first_divergence(session: Session, computed: Comparison) -> None:
    page = session.open(ADDRESS)
    page.keyboard.press("d")
    expect(page.locator("#outcome-status")).to_be_focused()


def test_the_keys_n_and_p_walk_the_differences_round(session: Session, computed: Comparison) -> None:
    page = session.open(ADDRESS)
    rows = page.locator("tr.chg")
    last = rows.count() - 1
    page.keyboard.press("n")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("n")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("p")
    page.keyboard.press("p")
    expect(rows.nth(last)).to_be_focused()
    page.keyboard.press("n")
    expect(rows.nth(0)).to_be_focused()


def test_the_key_question_mark_opens_the_sheet_and_escape_closes_it(session: Session, computed: Comparison) -> None:
    page = session.open(ADDRESS)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)


def test_a_key_typed_into_a_field_or_with_a_modifier_does_nothing(session: Session, computed: Comparison) -> None:
    page = session.open(ADDRESS)
    page.locator("#find").press("d")
    page.locator("#find").press("?")
    expect(page.locator("#find")).to_have_value("d?")
    expect(page.locator("#find")).to_be_focused()
    page.locator("#view").focus()
    page.keyboard.press("Control+d")
    expect(page.locator("#view")).to_be_focused()


def test_a_copy_button_copies_the_whole_hash(session: Session, computed: Comparison) -> None:
    session.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = session.open(ADDRESS)
    page.get_by_role("button", name=re.compile("Copy fixture hash")).first.click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_contain_text(computed.revision.fixture_hash)
    assert page.evaluate("navigator.clipboard.readText()") == computed.revision.fixture_hash


def test_print_shows_hashes_whole_and_no_buttons(session: Session, computed: Comparison) -> None:
    page = session.open(ADDRESS)
    page.emulate_media(media="print")
    expect(page.locator(".same .hash .printed")).to_be_visible()
    expect(page.locator(".same .hash .printed")).to_have_text(computed.revision.fixture_hash)
    expect(page.get_by_role("button")).to_have_count(0)


def test_everything_works_without_scripts(
    browser: Browser, live_server: Any, everyone: User, computed: Comparison
) -> None:
    made = signed_in(browser, live_server.url, everyone, java_script_enabled=False)
    page = made.open(ADDRESS)
    page.get_by_role("link", name="Go to it").click()
    expect(page.locator("#outcome-status")).to_be_in_viewport()
    page.get_by_role("button", name="Show every row").click()
    expect(page.locator("#step-1")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Copy"))).to_have_count(0)
    page.get_by_role("link", name="Compare again").click()
    page.get_by_label("Old implementation").select_option(label="agent 1 (commit-1)")
    page.get_by_label("New implementation").select_option(label="agent 2 (commit-2)")
    page.get_by_role("button", name="Request the replays").click()
    expect(page.get_by_text("4 of 8 done", exact=True)).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled 4 runs.")).to_be_visible()
    made.context.close()
