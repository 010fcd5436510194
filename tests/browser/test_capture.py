"""The first ten minutes in a browser: a pasted trace, what it holds, what decided the outcome, what must not happen,
the case; and a replay that turns red as the recorded run did."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from replaycases.accounts.models import Project, User
from replaycases.cases import executing, jobs, raw_reads, registry
from replaycases.cases.models import Capture, Case, Run
from tests import factories
from tests.browser.conftest import say_why, signed_in
from tests.browser.test_accessibility import LOOKS, axe_faults
from tests.factories import People

pytestmark = pytest.mark.service

# An agent as the recorded one: it shows that it types by itself, which is no boundary.
AGENT = """
import json

def replay(session):
    messages = [{"role": "system", "content": "You help with refunds."}, *session.input["messages"]]
    while True:
        message = session.model.call({"messages": messages})["message"]
        if not message.get("tool_calls"):
            return session.finish(message=SAYS or message["content"])
        messages.append(message)
        for call in message["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            answer = "shown" if name == "show_typing" else session.tools.call(name, arguments)
            messages.append({"role": "tool", "content": answer, "tool_call_id": call["id"]})
"""
SERVING = {"serving": {"requested_model": "made-up-1"}}


def panel(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def capture(page: Page) -> None:
    page.get_by_role("link", name="Captures").click()
    page.get_by_role("link", name="New capture").first.click()
    page.get_by_label("Or paste it").fill(factories.TRACE.decode()[:-40])
    page.get_by_label("What was reported").fill("It said that the money is back.")
    page.get_by_role("button", name="Capture it").click()
    expect(page.locator(".errorlist")).to_contain_text("the document breaks off (line 1, column")
    expect(page.get_by_label("What was reported")).to_have_value("It said that the money is back.")
    page.get_by_label("Or paste it").fill(factories.TRACE.decode())
    page.get_by_role("button", name="Capture it").click()
    holds = panel(page, "What it holds")
    expect(holds).to_contain_text("All 6 recorded steps have their answers.")
    expect(holds.get_by_role("row", name=re.compile("^clock"))).to_contain_text("absent")
    expect(panel(page, "What it does not say")).to_contain_text("Who asked, and with which rights")


def choose(page: Page) -> None:
    page.get_by_role("link", name="Choose what decided the outcome").click()
    step = page.get_by_role("row", name=re.compile("show_typing"))
    step.get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Run record")
    say_why(page)


def record(page: Page) -> None:
    expect(panel(page, "As it is kept now")).to_contain_text("1 of 6 steps were left out by hand")
    page.get_by_label("Case id").fill("refund-claimed")
    page.get_by_label("Incident", exact=True).fill("INC-7")
    page.get_by_label("Frozen time").fill("2026-11-01T09:00:00+01:00")
    page.get_by_role("group", name="create_refund").get_by_text("It has an effect").click()
    page.get_by_label("Action, create_refund").fill("refund")
    page.get_by_label("Refused where the answer matches, create_refund").fill("^Error")
    page.get_by_role("button", name="Save and go on").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Expectation")


def expect_things(page: Page) -> None:
    page.get_by_text("The reply never says …").first.click()
    page.get_by_label("What is said").first.fill("The refund is done.")
    page.get_by_label("Found where the final message matches any of").first.fill("(?i)refund.*done")
    page.get_by_role("button", name=re.compile("Add it.*The reply never says")).click()
    expect(page.get_by_role("row", name=re.compile("The refund is done"))).to_contain_text("violated")
    expect(page.get_by_text("The incident is seen in the recorded run.")).to_be_visible()
    page.get_by_text("An action is done so many times").first.click()
    page.get_by_label("Action", exact=True).first.fill("refund")
    page.get_by_label("At most", exact=True).fill("1")
    page.get_by_role("button", name=re.compile("Add it.*An action is done")).click()
    expect(page.get_by_role("row", name=re.compile("at most once"))).to_contain_text("held")


def make(page: Page) -> None:
    page.get_by_role("link", name="Make the case").click()
    for label, part in (
        *(("Title", "title"), ("1. Trigger", "trigger"), ("2. Prohibited outcome", "prohibited_outcome")),
        ("3. Deciding evidence", "deciding_evidence"),
    ):
        page.get_by_label(label, exact=True).fill(factories.STATEMENT[part])
    page.get_by_role("button", name="Make the case").click()
    expect(page.get_by_text("RC-1 is open, in quarantine.")).to_be_visible()


def replay(people: People) -> Run:
    """Of the agent as it was, beside one that says what it knows."""
    versions = []
    for version, says_instead in (("1", None), ("2", "I could not confirm the refund yet.")):
        code = AGENT.replace("SAYS", json.dumps(says_instead) if says_instead else "None")
        archive = factories.archive(code, version=version, spec=SERVING)
        versions.append(
            registry.register_archive(
                people.engineer, project=people.project, archive=archive, spec_path="implementation.json"
            )
        )
    case = Case.objects.get()
    jobs.request_comparison(people.engineer, revision=factories.revision(case), old=versions[0], new=versions[1])
    queued = Run.objects.filter(run_set__implementation=versions[0]).values_list("pk", flat=True)
    for run in queued:
        executing.look_at(run, worker="here")
    return Run.objects.get(pk=queued[0])


def test_a_pasted_trace_becomes_a_case_whose_replay_is_red(entered: Any, people: People, project: Project) -> None:
    page = entered(people.responder).open("/")
    capture(page)
    choose(page)
    record(page)
    expect_things(page)
    make(page)
    run = replay(people)
    assert (run.status, run.boundary_passed) == ("completed", False)
    page.goto(page.url.split("/cases/")[0] + f"/runs/RC/{run.number}/")
    say_why(page)
    expect(page.get_by_role("main")).to_contain_text("violated")
    assert Capture.objects.get().drafts.get().case == Case.objects.get()


PAGES = (
    "/captures/",
    "/captures/?q=nothing-like-it",
    "/captures/new/",
    "/captures/RC-T1/",
    "/captures/RC-T1/runs/0/?at=2",
    "/captures/RC-T1/runs/0/draft/",
    "/captures/RC-T1/runs/0/leeway/",
    "/captures/RC-T1/runs/0/expectation/",
    "/captures/RC-T1/runs/0/case/",
    "/captures/documents/?id=x",
)


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_no_page_of_a_capture_has_a_fault_that_axe_finds(
    browser: Browser, live_server: Any, axe: str, project: Project, everyone: User, theme: str, width: int
) -> None:
    capture = factories.drafted(project, everyone)
    made = signed_in(browser, live_server.url, everyone, color_scheme=theme, viewport={"width": width, "height": 900})
    faults = {"closed": axe_faults(made.open("/captures/RC-T1/runs/0/draft/"), axe)}
    faults["asks"] = axe_faults(made.open("/captures/RC-T1/runs/0/"), axe)
    raw_reads.begin(everyone, capture=capture, reason="Ticket 4711.")
    faults |= {address: axe_faults(made.open(address), axe) for address in PAGES}
    page = made.open("/captures/new/")
    page.get_by_role("button", name="Capture it").click()
    faults["refused"] = axe_faults(page, axe)
    page = made.open("/captures/RC-T1/runs/0/expectation/")
    for summary in page.locator(".offer summary").all():
        summary.click()
    faults["offers"] = axe_faults(page, axe)
    page = made.open("/captures/RC-T1/runs/0/draft/")
    page.get_by_label("Identity claims").fill("{")
    page.get_by_role("button", name="Save", exact=True).first.click()
    page.locator(".effect summary").first.click()
    faults["malformed"] = axe_faults(page, axe)
    made.context.close()
    assert {name: found for name, found in faults.items() if found} == {}
