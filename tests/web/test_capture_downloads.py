"""What a page of a capture cuts, whole and as a download, to who said why they read it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import captures, raw_reads
from replaycases.cases.models import Capture, Origin, Payload
from tests import factories
from tests.importers.transcripts import answers, asks, call, says, transcript, user
from tests.web.conftest import client_of

LONG = f"order 4711 {'of many lines ' * 1000}the last word"
TRACE = transcript(user("hi"), asks(call("look_up", {"id": 1}, id="a")), answers(LONG, id="a"), says("done"))
RUN = "/captures/RC-T1/runs/0/"
STEP, FILE = f"{RUN}steps/2/content/", "/captures/RC-T1/document/"


@pytest.fixture
def client(responder: User) -> Client:
    return client_of(responder)


@pytest.fixture
def capture(responder: User, project: Project) -> Capture:
    return captures.bring(responder, project=project, data=TRACE, origin=Origin.PASTE)


@pytest.fixture
def opened(responder: User, capture: Capture) -> None:
    raw_reads.begin(responder, capture=capture, reason="Ticket 9.")


@pytest.mark.usefixtures("opened")
def test_what_the_page_cuts_is_downloaded_whole(client: Client) -> None:
    html = client.get(f"{RUN}?at=2").content.decode()
    assert "the last word" not in html
    assert f'href="{STEP}"' in html
    answer = client.get(STEP)
    assert LONG in answer.content.decode()
    assert (answer.headers["Content-Type"], answer.headers["X-Content-Type-Options"]) == (
        "text/plain; charset=utf-8",
        "nosniff",
    )
    assert answer.headers["Content-Disposition"] == 'attachment; filename="RC-T1-run-0-step-2.txt"'
    assert "no-store" in answer.headers["Cache-Control"]
    assert client.get(f"{RUN}steps/9/content/").status_code == 404


@pytest.mark.usefixtures("opened")
def test_the_file_is_downloaded_as_it_came_in(client: Client) -> None:
    assert f'href="{FILE}"' in client.get(RUN).content.decode()
    answer = client.get(FILE)
    assert (answer.content, answer.headers["Content-Type"]) == (TRACE, "application/octet-stream")


@pytest.mark.parametrize("address", [STEP, FILE])
def test_nothing_is_downloaded_before_somebody_said_why_nor_by_who_may_not_read_it(
    client: Client, capture: Capture, project: Project, address: str
) -> None:
    asked = client.get(address)
    assert (asked.status_code, "Why do you need to read it?" in asked.content.decode()) == (403, True)
    assert b"4711" not in asked.content
    other = client_of(factories.person(project, Role.INCIDENT_OWNER)).get(address)
    assert (other.status_code, b"Why do you need" in other.content) == (403, False)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("address", [STEP, FILE])
def test_what_is_destroyed_is_said_to_be(client: Client, capture: Capture, address: str) -> None:
    Capture.objects.update(purged_at=timezone.now())
    Payload.objects.filter(pk=capture.payload_id).update(body=b"", data_key=None, purged_at=timezone.now())
    assert client.get(address).status_code == 410
