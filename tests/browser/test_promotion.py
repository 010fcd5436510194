"""Into a lane and out of it in a browser: a button that says why it is off, a preview of many, two to demote."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from replaycases.cases.models import LaneEntry
from tests import factories, in_process
from tests.factories import People

pytestmark = pytest.mark.service


def described_by(page: Page, button: str) -> str:
    """What a screen reader says of why the button is off."""
    described = page.get_by_role("button", name=button).get_attribute("aria-describedby")
    assert described is not None
    return page.locator(f"#{described}").inner_text()


def test_a_button_that_is_off_can_be_reached_and_says_why_and_pressing_it_changes_nothing(
    entered: Any, people: People
) -> None:
    factories.nonblocking(people)
    page = entered(people.qa).open("/cases/RC-1/promotion/")
    button = page.get_by_role("button", name="Promote RC-1")
    expect(button).to_have_attribute("aria-disabled", "true")
    button.focus()
    expect(button).to_be_focused()
    assert "2 gates block: one observation in repeated runs, minimum history" in described_by(page, "Promote RC-1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed")
    assert LaneEntry.objects.get().lane.name == "nonblocking"


def test_runs_that_were_queued_from_the_page_open_the_last_gate(entered: Any, people: People) -> None:
    case = factories.nonblocking(people)
    page = entered(people.qa).open("/cases/RC-1/promotion/")
    page.get_by_label("Runs to ask for").fill("10")
    page.get_by_role("button", name="Queue them now").click()
    expect(page.get_by_role("img", name="10 waiting")).to_be_visible()
    in_process.replay_all()
    page.get_by_role("link", name="Look again").click()
    expect(page.get_by_role("img", name="10 held")).to_be_visible()
    page.get_by_label("Note for the timeline").fill("Green for ten runs.")
    page.get_by_role("button", name="Promote RC-1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("RC-1 stands in lane blocking")
    assert factories.fresh(case).lane == "blocking"


def test_many_are_promoted_after_a_preview(entered: Any, people: People) -> None:
    factories.reproduced(people)
    factories.reproduced(people, factories.fixture(case_id="second"))
    page = entered(people.qa).open("/lanes/RC/nonblocking/")
    for name in ("RC-1", "RC-2"):
        page.get_by_label(f"Choose {name}").check()
    page.get_by_role("button", name="Preview the promotion to nonblocking").click()
    expect(page.get_by_text("2 will move, 0 will not")).to_be_visible()
    assert not LaneEntry.objects.exists()
    page.get_by_role("button", name="Promote the 2 that can").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 of 2 moved to nonblocking")
    assert LaneEntry.objects.count() == 2


def test_a_demotion_takes_two_people(entered: Any, people: People) -> None:
    case = factories.blocking(people)
    page = entered(people.qa).open("/cases/RC-1/promotion/")
    page.get_by_role("link", name="Demote…").click()
    page.get_by_label("Reason").fill("The vendor changed its timeout.")
    page.get_by_label("Owner").select_option(label=f"{people.engineer}")
    page.get_by_role("button", name="Propose the demotion").click()
    expect(page.get_by_text("You cannot decide this. You proposed it.")).to_be_visible()
    assert factories.fresh(case).lane == "blocking"
    second = entered(people.owner).open("/proposals/")
    second.get_by_role("button", name="Confirm").click()
    expect(second.get_by_text("Nothing waits for you")).to_be_visible()
    assert factories.fresh(case).lane == "nonblocking"
    lane = second.goto(second.url.replace("/proposals/", "/lanes/RC/nonblocking/"))
    assert lane is not None
    expect(second.get_by_text("The vendor changed its timeout.")).to_be_visible()
