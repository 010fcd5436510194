"""A call that ran out of time stands beside its event: whose time it was, why, and what cannot help."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import details
from replaycases.cases.models import Boundary, Case
from replaycases.cases.models.fixture_revision import MOST_TIMEOUTS
from tests import factories
from tests.web import recorded
from tests.web.conftest import client_of

TIMES = {
    "budget_started_at": "2025-03-01T10:00:00+01:00",
    "deadline_at": "2025-03-01T10:00:05+01:00",
    "dispatched_at": "2025-03-01T10:00:06+01:00",
    "ended_by": "parent",
}
CANNOT_HELP = "A longer timeout for this tool, or a faster dependency"


def event(seq: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "boundary": "tool",
        "attempt": f"a-{seq}",
        "tool": "refund.lookup",
        "arguments": {"order": "o-1"},
        "outcome": {"type": "error", "error": {"kind": "timeout", "message": "secret words"}},
        "timing": TIMES,
        **changes,
    }


@pytest.fixture
def timed_out(project: Project, everyone: User) -> Case:
    return factories.case(project, everyone, factories.fixture(events=[event()]))


def text(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_the_case_says_whose_time_it_was_and_what_cannot_help(timed_out: Case, everyone: User, looking: Client) -> None:
    owners = dict.fromkeys(Boundary, everyone)
    details.set_owners(everyone, case=timed_out, owners=owners)
    html = text(looking, "/cases/RC-1/")
    assert "Cancelled on our side" in html
    assert "The deadline had passed before the call was sent." in html
    assert CANNOT_HELP in html
    assert '<a href="/cases/RC-1/revisions/1/#/events/0">event 1</a>' in html
    assert f"adapter and fix, {everyone}" in html


def test_it_says_nothing_of_what_the_call_carried(timed_out: Case, looking: Client) -> None:
    assert "secret words" not in text(looking, "/cases/RC-1/")


def test_a_case_whose_calls_all_ended_in_time_has_no_such_panel(case: Case, looking: Client) -> None:
    assert "ran out of time" not in text(looking, "/cases/RC-1/")


def test_the_document_says_it_beside_its_event(timed_out: Case, signed_in: Client) -> None:
    html = text(signed_in, "/cases/RC-1/revisions/1/")
    assert html.index('id="/events/0"') < html.index("Cancelled on our side") < html.index('id="/events/0/arguments"')


def test_a_run_says_it_beside_the_call_that_the_event_answered(
    timed_out: Case, everyone: User, signed_in: Client
) -> None:
    recorded.compared(timed_out, everyone)
    assert '<a href="#timeouts">cancelled on our side</a>' in text(signed_in, "/runs/RC/1/")


def test_of_many_such_calls_the_first_are_listed(project: Project, everyone: User) -> None:
    events = [event(seq) for seq in range(1, MOST_TIMEOUTS + 5)]
    revision = factories.revision(factories.case(project, everyone, factories.fixture(events=events)))
    assert [told["seq"] for told in revision.timeouts] == list(range(1, MOST_TIMEOUTS + 1))


def test_the_api_names_kind_owner_and_reasons(timed_out: Case, project: Project) -> None:
    client = client_of(factories.person(project, Role.VIEWER))
    told = client.get("/api/v1/revisions/").json()["results"][0]["timeouts"][0]
    assert (told["kind"], told["owner"], told["pointer"]) == ("local_cancellation", "workflow", "/events/0")
    assert told["reasons"] == ["The deadline had passed before the call was sent."]
    assert told["cannot_help"].startswith(CANNOT_HELP)
