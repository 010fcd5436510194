"""One case from its capture to the lane that blocks releases and out of it again, in a browser: each step by the person
whose it is, by what the pages offer, and with a word for everybody else of why it is not theirs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from replaycases.cases import events
from replaycases.cases.models import Boundary, Case, Decision, LaneEntry
from tests import factories, in_process
from tests.browser.conftest import look_through, say_why
from tests.factories import People

pytestmark = pytest.mark.service


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """What people upload."""
    (tmp_path / "incident.json").write_bytes(factories.fixture())
    (tmp_path / "control.json").write_bytes(factories.fixture(case_id="control-1"))
    (tmp_path / "mutation.json").write_bytes(factories.MUTATION)
    return tmp_path


def panel(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def stage(page: Page) -> Locator:
    return page.get_by_role("list", name="Stages").locator("[aria-current=step]")


def off(page: Page, name: str) -> str:
    """Why the button or link of this name is off, as a screen reader says it."""
    found = page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first
    expect(found).to_have_attribute("aria-disabled", "true")
    return page.locator(f"#{found.get_attribute('aria-describedby')}").inner_text()


def waits(page: Page, address: str, reason: str) -> None:
    """Whoever is signed in there finds the next step of the case, without a button, and why it is not theirs."""
    page.goto(address)
    step = panel(page, "Next step")
    expect(step).to_contain_text("waits for somebody else")
    expect(step).to_contain_text(reason)


def test_a_case_goes_from_its_capture_to_blocking_and_out_of_it(entered: Any, people: People, files: Path) -> None:
    for code, version in ((factories.OLD_CODE, "1"), (factories.FIXED_CODE, "2")):
        factories.implementation(people.project, people.engineer, code, version=version)
    responder, privacy, owner, qa, lead = (
        entered(who).open("/") for who in (people.responder, people.privacy, people.owner, people.qa, people.lead)
    )
    capture(responder, files)
    describe(responder, people)
    compare(responder)
    submit(responder, privacy)
    approve(responder, privacy, owner)
    factories.no_effect(people, Case.objects.get())
    reproduce(privacy, qa)
    promote(owner, qa)
    demote(qa, lead)
    assert events.verify() == []
    assert {made.decided_by for made in Decision.objects.all()} == {people.privacy, people.owner}


def capture(page: Page, files: Path) -> None:
    """From an uploaded fixture, with a control beside it."""
    page.get_by_role("link", name="New case").first.click()
    for label, part in (
        *(("1. Trigger", "trigger"), ("2. Prohibited outcome", "prohibited_outcome")),
        *(("3. Deciding evidence", "deciding_evidence"), ("Title", "title"), ("Incident", "incident_id")),
    ):
        page.get_by_label(label, exact=True).fill(factories.STATEMENT[part])
    page.get_by_label("Fixture", exact=True).set_input_files(files / "incident.json")
    page.get_by_role("button", name="Open the case").click()
    expect(page.get_by_text("RC-1 is open.")).to_be_visible()
    expect(stage(page)).to_contain_text("Quarantined")
    controls = panel(page, "Controls")
    controls.get_by_text("Upload a control", exact=True).click()
    controls.get_by_label("Name").fill("confirmed")
    controls.get_by_label("Kind of outcome").select_option(value="success")
    controls.get_by_label("Fixture", exact=True).set_input_files(files / "control.json")
    controls.get_by_label("Mutation").set_input_files(files / "mutation.json")
    controls.get_by_role("button", name="Add the control").click()
    expect(controls.get_by_role("rowheader")).to_contain_text("confirmed")


def describe(page: Page, people: People) -> None:
    """Statement, owners, links and versions."""
    panel(page, "Failure statement").get_by_role("link", name="Edit").click()
    page.get_by_label("Title").fill("Said that a refund was completed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Said that a refund was completed")
    panel(page, "Owners by boundary").get_by_role("link", name="Change").click()
    for boundary in Boundary:
        page.get_by_label(boundary.label, exact=True).select_option(label=str(people.owner))
    page.get_by_role("button", name="Save").click()
    expect(panel(page, "Owners by boundary")).not_to_contain_text("nobody yet")
    panel(page, "Provenance").get_by_role("link", name="Change").click()
    page.get_by_label("Trace", exact=True).fill("trace-1")
    page.get_by_label("Affected version").select_option(label="agent 1 (commit-1)")
    page.get_by_label("Fixed version").select_option(label="agent 2 (commit-2)")
    page.get_by_label("Covering test").fill("tests/test_refund.py")
    page.get_by_role("button", name="Save").click()
    expect(panel(page, "Provenance")).to_contain_text("tests/test_refund.py")


def compare(page: Page) -> None:
    """Before the runs, the submission is off and says what it waits for; then they are asked for."""
    expect(panel(page, "Next step").get_by_role("button", name="Submit for review")).to_be_disabled()
    expect(panel(page, "Next step")).to_contain_text("was not replayed on this revision")
    expect(page.get_by_label("Old implementation")).to_have_value(re.compile("."))
    page.get_by_role("button", name="Request the replays").click()
    expect(page.get_by_text("Replays in progress")).to_be_visible()
    in_process.replay_all()
    expect(page.locator(".docket .badge")).to_have_text("Verified red to green")


def submit(responder: Page, privacy: Page) -> None:
    responder.get_by_role("link", name="RC-1", exact=True).first.click()
    address = responder.url
    waits(privacy, address, "This needs the role Responder in project RC.")
    expect(privacy.get_by_role("button", name="Submit for review")).to_have_count(0)
    responder.get_by_role("button", name="Submit for review").click()
    expect(stage(responder)).to_contain_text("In review")


def approve(responder: Page, privacy: Page, owner: Page) -> None:
    """The redaction, the expectation, and the control, each by itself and after one more look."""
    responder.get_by_role("navigation", name="Case").get_by_role("link", name="Review").click()
    assert "needs the role Privacy reviewer" in off(responder, "Approve the redaction…")
    assert "needs the role Incident owner" in off(responder, "Approve the expectation…")
    privacy.get_by_role("link", name="Reviews").first.click()
    privacy.get_by_role("link", name=re.compile("RC-1")).first.click()
    say_why(privacy)
    assert "You have not looked at 1 of 1 places." in off(privacy, "Approve…")
    look_through(privacy)
    privacy.get_by_role("link", name="Approve…").click()
    expect(privacy.get_by_role("heading", level=1)).to_have_text("Approve the redaction of revision 1?")
    privacy.get_by_label("Note").fill("No name, no number.")
    privacy.get_by_role("button", name="Approve the redaction").click()
    expect(privacy.get_by_text("The redaction of revision 1 is approved.")).to_be_visible()
    owner.goto(responder.url)
    assert "needs the role Incident owner" in off(privacy, "Approve the expectation…")
    owner.get_by_role("link", name="Approve the expectation…").first.click()
    owner.get_by_role("button", name="Approve the expectation").click()
    expect(owner.get_by_text("The expectation of revision 1 is approved.")).to_be_visible()
    expect(owner.get_by_role("row", name=re.compile("confirmed"))).to_contain_text("needs the role Privacy reviewer")
    expect(owner.get_by_role("link", name="control confirmed")).to_have_count(0)
    privacy.get_by_role("link", name="Look and approve control confirmed").click()
    privacy.get_by_role("button", name="Approve this control").click()
    expect(privacy.get_by_text("The control is approved.")).to_be_visible()


def reproduce(privacy: Page, qa: Page) -> None:
    privacy.get_by_role("link", name="RC-1", exact=True).first.click()
    waits(privacy, privacy.url, "This needs the role QA or QA lead or Responder or Workflow engineer in project RC.")
    qa.goto(privacy.url)
    qa.get_by_role("button", name="Mark as reproduced").click()
    expect(stage(qa)).to_contain_text("Reproduced")


def promote(owner: Page, qa: Page) -> None:
    """Into nonblocking, through its history, into blocking."""
    panel(qa, "Next step").get_by_role("link", name="Promote").click()
    owner.goto(qa.url)
    assert "This needs the role QA or QA lead in project RC." in off(owner, "Promote RC-1")
    qa.get_by_role("button", name="Promote RC-1").click()
    expect(qa.get_by_text("Revision 1 stands in lane nonblocking now.")).to_be_visible()
    assert "2 gates block" in off(qa, "Promote RC-1")
    qa.get_by_label("Runs to ask for").fill("10")
    qa.get_by_role("button", name="Queue them now").click()
    expect(qa.get_by_role("img", name="10 waiting")).to_be_visible()
    in_process.replay_all()
    qa.get_by_role("link", name="Look again").click()
    expect(qa.get_by_role("img", name="10 held")).to_be_visible()
    qa.get_by_role("button", name="Promote RC-1").click()
    expect(qa.get_by_role("heading", level=1)).to_have_text("RC-1 stands in lane blocking")


def demote(qa: Page, lead: Page) -> None:
    """Proposed by one, confirmed by another; the case says both."""
    qa.get_by_role("link", name="Demote…").click()
    qa.get_by_label("Reason").fill("The vendor changed its timeout.")
    qa.get_by_label("Owner").select_option(index=1)
    qa.get_by_role("button", name="Propose the demotion").click()
    expect(qa.get_by_text("You cannot decide this. You proposed it.")).to_be_visible()
    lead.get_by_role("link", name="Proposals").first.click()
    lead.get_by_role("button", name="Confirm").click()
    expect(lead.get_by_text("Confirmed. Demotion of RC-1.")).to_be_visible()
    qa.get_by_role("link", name="RC-1", exact=True).first.click()
    lanes = qa.get_by_role("list", name="Lanes")
    expect(lanes.get_by_text("Lane nonblocking")).to_contain_text("revision 1, demoted")
    expect(lanes.get_by_text("Lane blocking")).to_contain_text("not in it")
    expect(panel(qa, "Timeline")).to_contain_text("The vendor changed its timeout.")
    assert LaneEntry.objects.get(left_at=None).lane.name == "nonblocking"
