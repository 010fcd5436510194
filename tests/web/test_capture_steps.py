"""Steps of a long run are chosen by their numbers."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.cases import captures, drafts
from replaycases.cases.models import Draft, Origin
from replaycases.web.captures import steps_form
from tests import factories
from tests.importers.transcripts import answers, asks, call, transcript, user
from tests.web.conftest import client_of
from tests.web.drafting import STEPS, seen_now

RUN = "/captures/RC-T1/runs/0/"


def chosen() -> dict[str, Any]:
    return drafts.choices_of(Draft.objects.select_related("choices").get())


@pytest.fixture
def client(responder: User) -> Client:
    return client_of(responder)


def test_steps_are_left_out_and_kept_by_their_numbers(client: Client, responder: User, project: Project) -> None:
    turns = [m for n in range(300) for m in (asks(call("t", {"n": n}, id=f"c{n}")), answers("x", id=f"c{n}"))]
    captures.bring(responder, project=project, data=transcript(user("hi"), *turns), origin=Origin.PASTE)
    assert "Leave out all" in client.get(RUN).content.decode()
    said = {"shown": "1-500", "keep": [1, 2], "out_also": "1-600", "keep_also": "7, 510 - 512"}
    assert client.post(f"{RUN}steps/", said).status_code == 302
    assert sorted(set(range(1, 601)) - set(chosen()["leave_out"])) == [7, 510, 511, 512]


@pytest.mark.parametrize("text", ["x", "1-", "-3", "1-9999999", "1 2"])
def test_what_names_no_steps_is_refused(client: Client, responder: User, project: Project, text: str) -> None:
    factories.drafted(project, responder)
    answer = client.post(f"{RUN}steps/", {"shown": "1-5", "keep": [1], "out_also": text})
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "names no steps" in html
    assert 'value="1" checked' in html
    assert 'value="2" checked' not in html
    assert chosen()["leave_out"] == [5]


def test_links_of_a_page_that_was_refused_lead_back(client: Client, responder: User, project: Project) -> None:
    factories.drafted(project, responder)
    assert client.get(f"{RUN}steps/?page=2").headers["Location"] == f"{RUN}?page=2"


def test_a_filter_shows_some_steps_and_all_of_them_are_left_out_at_once(
    client: Client, responder: User, project: Project
) -> None:
    turns = [m for n in range(12) for m in (asks(call(f"t{n % 2}", id=f"c{n}")), answers("x", id=f"c{n}"))]
    captures.bring(responder, project=project, data=transcript(user("hi"), *turns), origin=Origin.PASTE)
    html = client.get(f"{RUN}?boundary=tool&tool=t1").content.decode()
    assert '<strong class="strong">6</strong> steps match the filter' in html
    assert 'id="step-4"' in html
    assert 'id="step-2"' not in html
    said = {"shown": "4,8,12,16,20,24", "keep": [4], "boundary": "tool", "tool": "t1", "all": "out"}
    answer = client.post(f"{RUN}steps/", said)
    assert answer.headers["Location"] == f"{RUN}?boundary=tool&tool=t1"
    assert chosen()["leave_out"] == [4, 8, 12, 16, 20, 24]
    assert "No step matches" in client.get(f"{RUN}?tool=t1&choice=kept").content.decode()
    client.post(f"{RUN}steps/", {**said, "all": "kept", **seen_now(*STEPS)})
    assert "leave_out" not in chosen()


def test_what_stands_before_and_after_steps_is_left_out(client: Client, responder: User, project: Project) -> None:
    factories.drafted(project, responder)
    said = {"shown": "1-5", "keep": [1, 2, 3, 4, 5], "before": "2", "after": "4"}
    client.post(f"{RUN}steps/", {**said, **seen_now(*STEPS)})
    assert chosen()["leave_out"] == [1, 5, 6]
    answer = client.post(f"{RUN}steps/", {"shown": "1-5", "keep": [1], "before": "x"})
    assert (answer.status_code, "is no step" in answer.content.decode()) == (422, True)


def test_numbers_are_written_as_they_are_read() -> None:
    numbers = [1, 2, 3, 7, 9, 10]
    assert steps_form.ranges_of(numbers) == "1-3,7,9-10"
    assert sorted(steps_form.numbers_in(steps_form.ranges_of(numbers), 10)) == numbers


@pytest.mark.parametrize("text", ["0-3", "4-2", "3-11", "11", "1-999999", ",".join(["1-9"] * 1001)])
def test_numbers_that_no_run_of_ten_steps_has_are_refused_before_they_are_counted_out(text: str) -> None:
    with pytest.raises(ValidationError):
        steps_form.numbers_in(text, 10)
