"""Steps of a long run are chosen by their numbers."""

from __future__ import annotations

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.cases import captures, drafts
from replaycases.cases.models import Draft, Origin
from tests import factories
from tests.importers.transcripts import answers, asks, call, transcript, user
from tests.web.conftest import client_of

RUN = "/captures/RC-T1/runs/0/"


@pytest.fixture
def client(responder: User) -> Client:
    return client_of(responder)


def test_steps_are_left_out_and_kept_by_their_numbers(client: Client, responder: User, project: Project) -> None:
    turns = [m for n in range(300) for m in (asks(call("t", {"n": n}, id=f"c{n}")), answers("x", id=f"c{n}"))]
    captures.bring(responder, project=project, data=transcript(user("hi"), *turns), origin=Origin.PASTE)
    assert "By their numbers" in client.get(RUN).content.decode()
    said = {"first": 1, "last": 500, "keep": [1, 2], "out_also": "1-600", "keep_also": "7, 510 - 512"}
    assert client.post(f"{RUN}steps/", said).status_code == 302
    chosen = drafts.choices_of(Draft.objects.select_related("choices").get())
    assert sorted(set(range(1, 601)) - set(chosen["leave_out"])) == [7, 510, 511, 512]


@pytest.mark.parametrize("text", ["x", "1-", "-3", "1-9999999", "1 2"])
def test_what_names_no_steps_is_refused(client: Client, responder: User, project: Project, text: str) -> None:
    factories.drafted(project, responder)
    answer = client.post(f"{RUN}steps/", {"first": 1, "last": 5, "keep": [1], "out_also": text})
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "names no steps" in html
    assert 'value="1" checked' in html
    assert 'value="2" checked' not in html
    assert drafts.choices_of(Draft.objects.select_related("choices").get())["leave_out"] == [5]


def test_links_of_a_page_that_was_refused_lead_back(client: Client, responder: User, project: Project) -> None:
    factories.drafted(project, responder)
    assert client.get(f"{RUN}steps/?page=2").headers["Location"] == f"{RUN}?page=2"
