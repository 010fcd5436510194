"""WCAG 2.2 AA by axe: every page, light and dark, wide and narrow."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import capture_rules, comments, incident_reports, proposals
from replaycases.cases.models import Case, RuleKind, Stage
from tests import factories, raw_world
from tests.browser.conftest import axe_faults, say_why, signed_in
from tests.web import recorded

pytestmark = pytest.mark.service

# Contrast is the theme's matter and reflow the width's: each theme and each width is looked at once.
LOOKS = (("light", 1440), ("dark", 1024))
PAGES = (
    "/",
    "/audit/",
    "/notifications/",
    "/people/",
    "/cases/",
    "/cases/RC-1/timeline/",
    "/cases/RC-2/overrides/?gate=red",
    "/cases/?q=nothing-like-it",
    "/cases/new/",
    "/cases/RC-1/",
    "/cases/RC-1/statement/",
    "/cases/RC-1/details/",
    "/cases/RC-1/owners/",
    "/cases/?owner=me&flagged=on",
    "/cases/RC-1/review/",
    "/cases/RC-1/review/redaction-approval/",
    "/cases/RC-1/revisions/",
    "/cases/RC-1/revisions/2/?at=/events/0/outcome",
    "/cases/RC-1/revisions/2/differences/",
    "/cases/RC-1/revisions/new/",
    "/reviews/?show=all",
    "/cases/RC-1/comparisons/1/",
    "/cases/RC-1/comparisons/1/?show=all",
    "/cases/RC-2/comparisons/2/",
    "/runs/",
    "/runs/RC/1/",
    "/runs/RC/3/",
    "/implementations/",
    "/implementations/new/",
    "/account/",
    "/account/password/",
    "/people/RC/",
    "/people/RC/owners/",
    "/people/RC/redaction-policy/",
    "/people/RC/redaction-policy/versions/new/",
    "/captures/traces/",
    "/captures/rules/",
    "/findings/",
    "/no-such-page/",
)

LANE_PAGES = (
    "/cases/RC-1/promotion/",
    "/cases/RC-3/promotion/",
    "/lanes/",
    "/lanes/RC/nonblocking/",
    "/proposals/",
    "/cases/RC-2/promotion/",
    "/cases/RC-4/promotion/?to=compatibility",
    "/lanes/RC/compatibility/",
    "/lanes/RC/nonblocking/promotion/?case=RC-3&case=RC-4&case=XX-1",
    "/lanes/RC/nonblocking/promotion/",
    "/cases/RC-1/demotion/",
    "/cases/RC-1/retirement/",
)

RAW_PAGES = (
    "/cases/RC-1/review/",
    "/cases/RC-1/revisions/2/",
    "/cases/RC-1/revisions/2/differences/",
    "/cases/RC-1/revisions/new/",
    "/cases/RC-1/controls/new/?call=1&outcome=success",
    "/cases/RC-1/comparisons/1/",
    "/runs/RC/1/",
    "/cases/RC-1/",
)


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_no_page_has_a_fault_that_axe_finds(
    browser: Browser, live_server: Any, axe: str, project: Project, everyone: User, theme: str, width: int
) -> None:
    case = factories.case(project, everyone)
    changed = factories.fixture(input={"order": "o-2"})
    factories.redacted_revision(everyone, case, changed)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    case.refresh_from_db()
    comments.add(everyone, revision=factories.revision(case), pointer="/events/0", text="Whose?")
    factories.control(factories.revision(case), everyone)
    recorded.compared(case, everyone, new=recorded.DIVERGED, stderr="Traceback\nboom")
    other = factories.case(project, everyone, factories.fixture(case_id="waiting"))
    old, new = (factories.implementation(project, everyone, f"{factories.NEW_CODE}#{n}", version=n) for n in "89")
    recorded.requested(other, everyone, old, new)
    capture_rules.add(everyone, project=project, kind=RuleKind.ERROR)
    said = {"grader": "monitor", "version": "3", "label": "claimed", "trace_id": "ab" * 16}
    finding = incident_reports.report(everyone, project=project, **said)
    made = signed_in(browser, live_server.url, everyone, color_scheme=theme, viewport={"width": width, "height": 900})
    addresses = (*PAGES, f"/findings/{finding.pk}/")
    faults = {address: found for address in addresses if (found := axe_faults(made.open(address), axe))}
    made.context.close()
    assert faults == {}


def test_the_login_and_what_a_viewer_sees_have_no_fault_either(
    browser: Browser, live_server: Any, axe: str, project: Project, everyone: User
) -> None:
    recorded.compared(factories.case(project, everyone), everyone)
    made = signed_in(browser, live_server.url, factories.person(project, Role.VIEWER))
    addresses = (
        "/cases/RC-1/",
        "/cases/new/",
        "/implementations/new/",
        "/people/RC/",
        "/login/",
        "/password-reset/",
        "/invitations/",
    )
    faults = {address: found for address in addresses if (found := axe_faults(made.open(address), axe))}
    made.context.close()
    assert faults == {}


def test_the_form_for_a_control_has_no_fault_open_or_refused(
    browser: Browser, live_server: Any, axe: str, project: Project, everyone: User
) -> None:
    factories.case(project, everyone)
    made = signed_in(browser, live_server.url, everyone)
    page = made.open("/cases/RC-1/")
    page.get_by_text("Upload a control").click()
    page.get_by_label("Name").fill("confirmed")
    for label in ("Fixture", "Mutation"):
        page.get_by_label(label, exact=True).set_input_files({"name": "f", "mimeType": "text/plain", "buffer": b"{}"})
    faults = axe_faults(page, axe)
    page.get_by_role("button", name="Add the control").click()
    page.get_by_text("The control cannot be used").wait_for()
    faults += axe_faults(page, axe)
    made.context.close()
    assert faults == []


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_the_way_into_a_lane_and_out_of_it_has_no_fault(
    browser: Browser, live_server: Any, axe: str, project: Project, theme: str, width: int
) -> None:
    people = factories.people(project)
    blocking = factories.blocking(people)
    until = timezone.now() + timedelta(days=3)
    proposals.propose_demotion(people.qa, case=blocking, reason="Vendor.", until=until, owner=people.engineer)
    factories.with_history(people, factories.nonblocking(people, factories.fixture(case_id="second")))
    factories.redaction_approved(people, factories.fixture(case_id="third"))
    factories.reproduced(people, factories.fixture(case_id="fourth"))
    look = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    faults = {}
    for user in (people.qa, people.owner):
        made = signed_in(browser, live_server.url, user, **look)
        for address in LANE_PAGES if user == people.qa else LANE_PAGES[:5]:
            faults[address] = axe_faults(made.open(address), axe)
        made.context.close()
    assert {address: found for address, found in faults.items() if found} == {}


def test_reviewing_and_editing_have_no_fault_open_or_refused(
    browser: Browser, live_server: Any, axe: str, project: Project, everyone: User
) -> None:
    case = factories.case(project, factories.person(project, Role.RESPONDER))
    control = factories.control(factories.revision(case), everyone)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    made = signed_in(browser, live_server.url, factories.person(project, Role.PRIVACY_REVIEWER))
    page = made.open("/cases/RC-1/review/")
    page.get_by_text("Return it with a reason").click()
    faults = axe_faults(page, axe)
    faults += axe_faults(made.open(f"/cases/RC-1/controls/{control.pk}/approval/"), axe)
    page = made.open("/cases/RC-1/revisions/new/")
    page.get_by_label("Fixture as JSON").fill("{}")
    page.get_by_label("What is changed").fill("x")
    page.get_by_role("button", name="Save the revision").click()
    page.get_by_text("The fixture cannot be used").wait_for()
    faults += axe_faults(page, axe)
    made.context.close()
    assert faults == []


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_raw_evidence_has_no_fault_where_it_asks_where_it_is_refused_and_where_it_is_open(
    browser: Browser, live_server: Any, axe: str, project: Project, everyone: User, theme: str, width: int
) -> None:
    raw_world.raw_case(factories.people(project))
    look = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    made = signed_in(browser, live_server.url, everyone, **look)
    faults = {address: axe_faults(made.open(address), axe) for address in RAW_PAGES}
    page = made.open(RAW_PAGES[0])
    page.get_by_label("Why do you need to read it?").fill("  ")
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("Say why you need to read it").wait_for()
    faults["refused"] = axe_faults(page, axe)
    say_why(page)
    faults |= {f"{address} open": axe_faults(made.open(address), axe) for address in RAW_PAGES}
    made.context.close()
    assert {address: found for address, found in faults.items() if found} == {}


# As a page does that was drawn while the gates were open: the button of this one is off.
SUBMIT = """seen => {
  const form = document.createElement("form")
  form.method = "post"
  form.action = "/cases/RC-1/submission/"
  form.append(document.querySelector("[name=csrfmiddlewaretoken]").cloneNode())
  const input = document.createElement("input")
  input.name = "fixture_hash"
  input.value = seen
  form.append(input)
  document.body.append(form)
  form.submit()
}"""


def test_the_forms_of_a_case_have_no_fault_open_or_refused(
    browser: Browser, live_server: Any, axe: str, project: Project, everyone: User
) -> None:
    case = factories.case(project, everyone)
    made = signed_in(browser, live_server.url, everyone)
    page = made.open("/cases/RC-1/")
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    faults = axe_faults(page, axe)
    page.evaluate(SUBMIT, factories.revision(case).fixture_hash)
    page.get_by_text("Something is still missing").wait_for()
    faults += axe_faults(page, axe)
    page = made.open("/cases/RC-1/statement/")
    page.get_by_label("1. Trigger").fill("it went wrong")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("this judges and does not say what is meant").wait_for()
    faults += axe_faults(page, axe)
    made.context.close()
    assert faults == []
