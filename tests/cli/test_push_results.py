"""What a server of ours takes as results from elsewhere, and from whom."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from replaycases.accounts.models import ApiToken, Project, User
from replaycases.cases import lane_export, people
from replaycases.cases.models import CiReport, Lane, LaneEntry, LaneName
from tests import factories
from tests.cli.conftest import Command

GREEN = "verified_red_to_green"


@pytest.fixture
def project(transactional_db: None) -> Project:
    return factories.project()


@pytest.fixture
def lane(project: Project) -> Lane:
    return Lane.objects.create(project=project, name=LaneName.BLOCKING)


def enter(lane: Lane, by: User, name: str) -> None:
    case = factories.case(lane.project, by, factories.fixture(case_id=name, input={"order": name}))
    LaneEntry.objects.create(
        lane=lane, case=case, revision=factories.revision(case), entered_by=by, entered_at=timezone.now()
    )


@pytest.fixture
def results(lane: Lane, everyone: User) -> dict[str, Any]:
    """What `suite -o` writes of a lane with two cases that were verified."""
    for name in ("a", "b"):
        enter(lane, everyone, name)
    index = lane_export.take(everyone, lane=lane).index
    return {
        "lane": {"project": "RC", "lane": "blocking", "digest": index.digest},
        "implementation": {"name": "agent", "version": "3", "commit": "c", "digest": "sha256:" + "1" * 64},
        "exit_code": 0,
        "results": [
            {
                "readable_id": entry.readable_id,
                "fixture_hash": entry.fixture_hash,
                "label": GREEN,
                "reason": "It holds.",
            }
            for entry in index.entries
        ],
    }


@pytest.fixture
def push(
    command: Command,
    live_server: LiveServer,
    everyone: User,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[int, str]]:
    def run(document: Any, *, secret: str = "") -> tuple[int, str]:
        good = people.create_token(everyone, project=project, name="CI", scopes=["results:push"], days=1)[1]
        monkeypatch.setenv("REPLAYCASES_TOKEN", secret or good)
        (tmp_path / "results.json").write_text(json.dumps(document))
        code, out, err = command("push-results", tmp_path / "results.json", "--server", live_server.url)
        assert (secret or good) not in out + err
        return code, out + err

    return run


def test_results_of_a_lane_as_it_was_are_kept_as_results_of_that(
    push: Callable[..., tuple[int, str]], results: dict[str, Any], lane: Lane, everyone: User
) -> None:
    """A case came into the lane after it was pulled: it has no result, and none is made up for it."""
    enter(lane, everyone, "late")
    newer = lane_export.take(everyone, lane=lane).index.digest
    code, said = push(results)
    assert code == 0, said
    report = CiReport.objects.get()
    assert report.lane_digest == results["lane"]["digest"] != newer
    assert sorted(result.revision.case.readable_id for result in report.results.all()) == ["RC-1", "RC-2"]


def test_older_results_are_no_results_of_the_lane_as_it_is(
    push: Callable[..., tuple[int, str]], results: dict[str, Any], lane: Lane, everyone: User
) -> None:
    enter(lane, everyone, "late")
    newer = lane_export.take(everyone, lane=lane).index.digest
    code, said = push({**results, "lane": {**results["lane"], "digest": newer}})
    assert code == 2
    assert "RC-3 has none" in said
    assert not CiReport.objects.exists()


EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a green exit over a red label": lambda d: d["results"][0].update(label="still_failing"),
    "a green exit over no label": lambda d: d["results"][0].update(label=""),
    "a label that is none": lambda d: d["results"][0].update(label="green"),
    "a case twice": lambda d: d["results"].append(d["results"][0]),
    "a case left out": lambda d: d["results"].pop(),
    "a case of nobody": lambda d: d["results"][0].update(readable_id="RC-9"),
    "another fixture": lambda d: d["results"][0].update(fixture_hash="sha256:" + "2" * 64),
    "another lane": lambda d: d["lane"].update(lane="nonblocking"),
    "no lane": lambda d: d["lane"].update(lane="all"),
    "another project": lambda d: d["lane"].update(project="XX"),
    "another digest": lambda d: d["lane"].update(digest="sha256:" + "3" * 64),
    "a digest that is none": lambda d: d["lane"].update(digest="x"),
    "an exit code that is a word": lambda d: d.update(exit_code="well"),
    "an exit code that is true": lambda d: d.update(exit_code=False),
    "an exit code below 0": lambda d: d.update(exit_code=-1),
    "results that are no list": lambda d: d.update(results={"RC-1": GREEN}),
    "a result that is none": lambda d: d.update(results=[GREEN]),
    "a version without a digest": lambda d: d["implementation"].update(digest=""),
    "a version that is a word": lambda d: d.update(implementation="agent 3"),
    "nothing": lambda d: d.clear(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_results_are_refused_and_nothing_is_kept(
    push: Callable[..., tuple[int, str]], results: dict[str, Any], edit: str
) -> None:
    factories.project("XX")
    Lane.objects.create(project=Project.objects.get(key="RC"), name=LaneName.NONBLOCKING)
    EDITS[edit](results)
    code, _ = push(results)
    assert code == 2
    assert not CiReport.objects.exists()


def secret_of(user: User, project: Project, *scopes: str) -> str:
    return people.create_token(user, project=project, name="other", scopes=scopes, days=1)[1]


def expired(user: User, project: Project) -> str:
    secret = secret_of(user, project, "results:push")
    ApiToken.objects.filter(name="other").update(expires_at=timezone.now() - timedelta(seconds=1))
    return secret


def revoked(user: User, project: Project) -> str:
    secret = secret_of(user, project, "results:push")
    people.revoke_token(user, token=ApiToken.objects.get(name="other"))
    return secret


def of_another_project(user: User, project: Project) -> str:
    return secret_of(factories.everyone(other := factories.project("XX")), other, "results:push")


def of_another_project_of_the_same_person(user: User, project: Project) -> str:
    other = factories.project("XX")
    for membership in user.memberships.all():
        user.memberships.create(project=other, role=membership.role)
    return secret_of(user, other, "results:push")


TOKENS: dict[str, tuple[Callable[[User, Project], str], str]] = {
    "without the scope": (lambda user, at: secret_of(user, at, "read", "lane:pull", "replays"), "answered 403"),
    "expired": (expired, "answered 401"),
    "revoked": (revoked, "answered 401"),
    "of another project": (of_another_project, "answered 4"),
    "of another project of the same person": (of_another_project_of_the_same_person, "answered 4"),
}


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_that_does_not_reach_there_pushes_nothing(
    push: Callable[..., tuple[int, str]], results: dict[str, Any], everyone: User, project: Project, token: str
) -> None:
    make, said = TOKENS[token]
    code, out = push(results, secret=make(everyone, project))
    assert code == 2
    assert said in out
    assert not CiReport.objects.exists()
