"""A real browser against a running server. Playwright's loop runs in this thread, so Django's guard against blocking
calls in one is switched off for these tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from replaycases.accounts.models import Project, User
from tests import factories, services

CHROMIUM = shutil.which("chromium") or ""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    services.require("Chromium", None if CHROMIUM else "install the package chromium")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    expect.set_options(timeout=15_000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def project(transactional_db: None) -> Project:
    return factories.project()


class Session:
    """A signed-in browser context; `open` visits an address and fails on any report of the content policy."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.context, self.base = context, base
        self.page = context.new_page()
        self.dialogs: list[str] = []
        self.page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, address: str) -> Page:
        self.page.goto(self.base + address)
        return self.page

    def violations(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.violations")
        return found


def signed_in(browser: Browser, base: str, user: User, **options: Any) -> Session:
    client = Client()
    client.force_login(user)
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": base}])
    context.add_init_script(WATCH)
    context.set_default_timeout(15_000)
    return Session(context, base)


@pytest.fixture
def session(browser: Browser, live_server: Any, everyone: User) -> Iterator[Session]:
    made = signed_in(browser, live_server.url, everyone)
    yield made
    made.context.close()


@pytest.fixture
def people(project: Project) -> factories.People:
    return factories.people(project)


@pytest.fixture
def entered(browser: Browser, live_server: Any) -> Iterator[Callable[..., Session]]:
    """Signs somebody in; every session is closed at the end, and none saw a breach of the content policy."""
    made: list[Session] = []

    def enter(user: User, **options: Any) -> Session:
        made.append(signed_in(browser, live_server.url, user, **options))
        return made[-1]

    yield enter
    for session in made:
        assert session.violations() == []
        session.context.close()


def say_why(page: Page) -> None:
    """In the form that stands in the place of raw evidence; the page that was asked for comes back."""
    page.get_by_label("Why do you need to read it?").fill("Ticket 4711.")
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("Raw evidence, open to you until")).to_be_visible()


def look_through(page: Page) -> None:
    """Every value of a revision that was not redacted, on the page of its redaction."""
    page.get_by_role("button", name="I have looked at").click()
    expect(page.get_by_text("page read")).to_be_visible()


@pytest.fixture(scope="session")
def axe() -> str:
    return (Path(__file__).parent / "assets/axe-core/axe-4.14.1.min.js").read_text()


def axe_faults(page: Any, axe: str) -> list[str]:
    page.evaluate(axe)
    result = page.evaluate("tags => axe.run({runOnly: {type: 'tag', values: tags}})", TAGS)
    return [f"{fault['id']}: {node['html'][:160]}" for fault in result["violations"] for node in fault["nodes"][:3]]
