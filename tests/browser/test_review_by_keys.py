"""A privacy reviewer decides about three redactions with the keyboard alone: one is approved, one goes back to its
author, and of one a finding may stand, to which a second person agrees."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import jobs, redacting
from replaycases.cases.models import Case, Decision, Waiver
from tests import factories, in_process
from tests.browser.conftest import Session, axe_faults
from tests.factories import People

pytestmark = pytest.mark.service

MAIL, OTHER_MAIL = "jane.doe@corp.test", "desk-4@corp.test"
MOST_TABS = 150


def test_three_redactions_are_decided_with_the_keyboard_alone(
    entered: Callable[..., Session], people: People, axe: str
) -> None:
    second = factories.person(people.project, Role.PRIVACY_REVIEWER)
    for name in ("approved", "returned"):
        redacted(people, case_named(people, name, {"message": f"write to {MAIL}", "reply_to": OTHER_MAIL}))
    case_named(people, "waived", {"message": f"write to {MAIL}"})
    page = entered(people.privacy).open("/reviews/")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="RC-1")).to_be_focused()
    page.keyboard.press("Enter")
    say_why(page, "RC-1")
    assert axe_faults(page, axe) == []
    look_at_every_change(page)
    approve(page, "RC-1")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1024, "height": 900})
    say_why(page, "RC-2")
    go_through_the_queue(page)
    give_back(page)
    say_why(page, "RC-3")
    look_at_the_finding(page)
    ask_for_a_waiver(page)
    assert axe_faults(page, axe) == []
    agree(entered(second).open("/cases/RC-3/review/redaction/"))
    page.reload()
    approve(page, "RC-3")
    assert decided() == {
        ("RC-1", "approved", people.privacy),
        ("RC-2", "returned", people.privacy),
        ("RC-3", "approved", people.privacy),
    }
    assert [(one.asked_by, one.confirmed_by) for one in Waiver.objects.all()] == [(people.privacy, second)]


def case_named(people: People, name: str, said: dict[str, str]) -> Case:
    return factories.in_review(people, factories.fixture(case_id=name, input=said))


def redacted(people: People, case: Case) -> None:
    """And replayed: what it does is still the same."""
    made = redacting.redact(people.responder, case=case, seen_revision=1)
    jobs.request_run_set(people.engineer, revision=made, implementation=case.provenance.affected, size=2)
    in_process.replay_all()


def decided() -> set[tuple[str, str, User]]:
    return {(made.case.readable_id, made.outcome, made.decided_by) for made in Decision.objects.all()}


# --- keys -------------------------------------------------------------------------------------------------------------


def tab_to(page: Page, wanted: Locator) -> None:
    expect(wanted).to_be_visible()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"No way by Tab to {wanted}")


def press_on(page: Page, role: Any, name: str | re.Pattern[str]) -> None:
    tab_to(page, page.get_by_role(role, name=name))
    page.keyboard.press("Enter")


def say_why(page: Page, name: str) -> None:
    """Of the case in whose review the page is."""
    page.wait_for_url(f"**/cases/{name}/review/redaction/")
    tab_to(page, page.get_by_label("Why do you need to read it?"))
    page.keyboard.type("Ticket 4711.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Raw evidence, open to you until")).to_be_visible()
    page.wait_for_load_state()


def mark_seen(page: Page, row: Locator) -> None:
    expect(row).to_be_focused()
    page.keyboard.press("v")
    expect(row.locator(".viewed")).to_be_visible()


def look_at_every_change(page: Page) -> None:
    """Change by change, and then at what did not change. The list of keys says how."""
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("mark the change under the focus as seen")
    page.keyboard.press("Escape")
    # A closing dialog gives the focus back, and would take it from what a key leads to.
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    first, last = (page.locator("tr.chg").nth(number) for number in (0, 1))
    page.keyboard.press("n")
    mark_seen(page, first)
    page.keyboard.press("n")
    mark_seen(page, last)
    page.keyboard.press("p")
    expect(first).to_be_focused()
    cannot_approve(page, "You have not looked at 1 of 3 places.")
    press_on(page, "link", "Every value")
    page.wait_for_url("**/review/redaction/?show=all")
    look_at_the_page(page)


def look_at_the_page(page: Page) -> None:
    press_on(page, "button", re.compile("I have looked at"))
    expect(page.get_by_text("page read")).to_be_visible()
    page.wait_for_load_state()


def cannot_approve(page: Page, why: str) -> None:
    """The key leads nowhere, and the page says why."""
    address = page.url
    page.keyboard.press("a")
    expect(page.get_by_role("link", name="Approve…")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#why-not")).to_contain_text(why)
    assert page.url == address


def approve(page: Page, name: str) -> None:
    """The key opens what asks once more."""
    before = decided()
    page.keyboard.press("a")
    page.wait_for_url(f"**/cases/{name}/review/redaction-approval/?*")
    assert decided() == before
    press_on(page, "button", "Approve the redaction")
    expect(page.get_by_text(f"{name}: the redaction of revision")).to_be_visible()
    page.wait_for_load_state()


def go_through_the_queue(page: Page) -> None:
    page.keyboard.press("j")
    page.wait_for_url("**/cases/RC-3/review/redaction/")
    page.keyboard.press("k")
    page.wait_for_url("**/cases/RC-2/review/redaction/")


def give_back(page: Page) -> None:
    before = decided()
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile("#return$"))
    assert decided() == before
    page.keyboard.press("Tab")
    page.keyboard.type("A name is left.")
    press_on(page, "button", "Return the redaction")
    expect(page.get_by_text("RC-2: the redaction of revision 2 is returned")).to_be_visible()


def look_at_the_finding(page: Page) -> None:
    page.keyboard.press("n")
    mark_seen(page, page.locator("tr.opn"))
    look_at_the_page(page)


def ask_for_a_waiver(page: Page) -> None:
    page.keyboard.press("f")
    expect(page.locator("[data-finding]")).to_be_focused()
    tab_to(page, page.get_by_text("Let it stand", exact=True))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("Why it may stand"))
    page.keyboard.type("It is made up.")
    press_on(page, "button", "Ask for it")
    expect(page.get_by_text("It is asked for.")).to_be_visible()
    expect(page.locator("[data-finding]")).to_contain_text("waits for a second person")
    page.wait_for_load_state()
    cannot_approve(page, "1 finding is open.")


def agree(page: Page) -> None:
    say_why(page, "RC-3")
    press_on(page, "button", "Agree that it may stand")
    expect(page.get_by_text("The finding is waived.")).to_be_visible()
