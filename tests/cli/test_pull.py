"""A lane over the wire: fetched whole, laid down verified, judged as it was listed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import people
from replaycases.cases.models import Case, CiReport, Lane, LaneName
from replaycases.fixture.lane_index import parse
from tests import factories
from tests.cli.conftest import Command, implementation
from tests.cli.lying import Liar, answer, signed, zipped


@pytest.fixture
def project(transactional_db: None) -> Project:
    return factories.project()


@pytest.fixture
def team(project: Project) -> factories.People:
    return factories.people(project)


@pytest.fixture
def lane(team: factories.People) -> Lane:
    """A blocking lane with a case that came there the whole way."""
    factories.blocking(team)
    return Lane.objects.get(name=LaneName.BLOCKING)


def token_of(user: User, project: Project, *scopes: str) -> str:
    return people.create_token(user, project=project, name="CI", scopes=scopes, days=1)[1]


@pytest.fixture
def signed_in(lane: Lane, team: factories.People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAYCASES_TOKEN", token_of(team.engineer, lane.project, "lane:pull", "results:push"))


@pytest.fixture
def pull(command: Command, live_server: LiveServer, signed_in: None) -> Callable[[Path], tuple[int, str, str]]:
    return lambda folder: command("pull", "--server", live_server.url, "--project", "RC", "--lane", "blocking", folder)


@pytest.fixture
def pulled(pull: Callable[[Path], tuple[int, str, str]], tmp_path: Path) -> Path:
    code, _, err = pull(tmp_path / "lane")
    assert code == 0, err
    return tmp_path / "lane"


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    return implementation(tmp_path / "fixed", factories.FIXED_CODE, "3")


def test_a_pulled_lane_is_what_was_approved_and_nothing_else(pulled: Path) -> None:
    index = parse((pulled / "lane.json").read_bytes())
    assert {str(path.relative_to(pulled)) for path in pulled.rglob("*") if path.is_file()} == {
        "lane.json",
        *(file.path for file in index.files()),
    }
    assert json.loads((pulled / "RC-1.json").read_bytes()) == json.loads(factories.fixture())
    assert list(pulled.parent.glob(".*")) == []


def test_a_fix_is_verified_on_a_pulled_lane_with_the_old_side_that_came_along(
    command: Command, pulled: Path, fixed: Path
) -> None:
    code, out, _ = command("suite", pulled, "--new", fixed)
    assert (code, "verified_red_to_green" in out, "controls passed" in out) == (0, True, True)


def test_a_control_that_nobody_approved_is_left_out_and_named(
    command: Command, pull: Callable[[Path], tuple[int, str, str]], fixed: Path, tmp_path: Path
) -> None:
    case = Case.objects.get()
    factories.control(factories.revision(case), case.created_by, name="late")
    said = "RC-1: controls left out, as nobody approved them yet: late"
    code, out, err = pull(tmp_path / "lane")
    assert (code, said in out) == (0, True), err
    code, out, _ = command("suite", tmp_path / "lane", "--new", fixed)
    assert (code, said in out) == (0, True)


def test_what_was_broken_again_fails(command: Command, pulled: Path, tmp_path: Path) -> None:
    broken = implementation(tmp_path / "broken", factories.OLD_CODE + "\n# anew\n", "4")
    assert command("suite", pulled, "--new", broken)[0] == 30


def test_results_are_pushed_once_and_kept_with_their_label(
    command: Command, live_server: LiveServer, pulled: Path, fixed: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results.json"
    assert command("suite", pulled, "--new", fixed, "-o", results)[0] == 0
    for _ in range(2):
        pushed = command("push-results", results, "--server", live_server.url, "--build-url", "https://ci.example/7")
        assert pushed[0] == 0, pushed[2]
    report = CiReport.objects.get()
    assert [(r.label, r.revision.number) for r in report.results.all()] == [("verified_red_to_green", 1)]
    assert (report.exit_code, report.implementation_version, report.build_url) == (0, "3", "https://ci.example/7")


def test_results_of_a_lane_that_was_not_given_out_are_refused_by_name(
    command: Command, live_server: LiveServer, pulled: Path, fixed: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results.json"
    command("suite", pulled, "--new", fixed, "-o", results)
    document = json.loads(results.read_text())
    document["lane"]["digest"] = "sha256:" + "0" * 64
    results.write_text(json.dumps(document))
    code, _, err = command("push-results", results, "--server", live_server.url)
    assert code == 2
    assert "answered 422" in err
    assert "never given out with this digest" in err


def test_a_file_that_is_no_result_of_a_lane_is_not_pushed(command: Command, signed_in: None, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("{}")
    code, _, err = command("push-results", tmp_path / "results.json", "--server", "http://localhost:1")
    assert code == 2
    assert "no result of a pulled lane" in err


# --- a pulled lane that is not as it was listed ---------------------------------------------------------------------


@pytest.fixture
def laid(good: dict[str, bytes], tmp_path: Path) -> Path:
    for name, data in good.items():
        path = tmp_path / "lane" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "lane"


def alter(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda lane: (lane / "RC-1.json").unlink(), "RC-1.json is missing"),
    "altered": (lambda lane: alter(lane / "RC-1.json"), "RC-1.json was altered"),
    "extra": (lambda lane: (lane / "more.json").write_bytes((lane / "RC-1.json").read_bytes()), "more.json: is not"),
    "a control missing": (lambda lane: next(lane.glob("controls/RC-1/*ed.json")).unlink(), "confirmed.json is missing"),
    "a mutation altered": (lambda lane: alter(next(lane.glob("controls/*/*.mutation.json"))), "was altered"),
    "an extra control": (lambda lane: (lane / "controls/RC-1/9-x.json").write_text("{}"), "9-x.json: is not listed"),
    "an old manifest altered": (lambda lane: alter(next(lane.glob("old/RC-1/1.*"))), "1.manifest.json was altered"),
    "expected labels": (
        lambda lane: (lane / "suite.json").write_text('{"refund-claimed": "still_failing"}'),
        "suite.json: is not listed",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_case_that_is_not_as_listed_fails(command: Command, laid: Path, fixed: Path, damage: str) -> None:
    act, said = DAMAGES[damage]
    act(laid)
    code, out, _ = command("suite", laid, "--new", fixed)
    assert code == 10
    assert said in out


def test_an_index_that_was_altered_is_refused(command: Command, laid: Path, fixed: Path) -> None:
    document = json.loads((laid / "lane.json").read_text())
    document["entries"] = []
    (laid / "lane.json").write_text(json.dumps(document))
    code, _, err = command("suite", laid, "--new", fixed)
    assert code == 10
    assert "it was altered" in err


def test_two_cases_of_one_name_fail(command: Command, laid: Path, fixed: Path) -> None:
    index = parse((laid / "lane.json").read_bytes())
    document = json.loads(index.dump())
    twin = json.loads(json.dumps(document["entries"][0]).replace("RC-1", "RC-2"))
    (laid / "RC-2.json").write_bytes((laid / "RC-1.json").read_bytes())
    twin["files"], twin["controls"] = twin["files"][:1], []
    write_index(laid, {**document, "entries": [*document["entries"], twin]})
    code, out, _ = command("suite", laid, "--new", fixed)
    assert code == 10
    assert "refund-claimed: stands in several files" in out


def test_a_fixture_that_is_not_the_listed_one_fails(command: Command, laid: Path, fixed: Path) -> None:
    document = json.loads((laid / "lane.json").read_text())
    document["entries"][0]["fixture_hash"] = "sha256:" + "0" * 64
    write_index(laid, document)
    code, out, _ = command("suite", laid, "--new", fixed)
    assert code == 10
    assert "its fixture_hash is not the one that the index lists" in out


def test_an_empty_lane_is_no_pass(command: Command, laid: Path, fixed: Path) -> None:
    document = json.loads((laid / "lane.json").read_text())
    write_index(laid, {**document, "entries": []})
    for path in [*laid.rglob("*.json")]:
        if path.name != "lane.json":
            path.unlink()
    code, _, err = command("suite", laid, "--new", fixed)
    assert code == 2
    assert "holds no case" in err


def test_other_controls_than_the_lanes_are_refused(command: Command, laid: Path, fixed: Path, tmp_path: Path) -> None:
    code, _, err = command("suite", laid, "--new", fixed, "--controls", tmp_path)
    assert code == 2
    assert "has its own controls" in err


def write_index(folder: Path, document: dict[str, Any]) -> None:
    (folder / "lane.json").write_bytes(signed(document))


# --- what is not fetched --------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_empty_is_left_alone(pull: Callable[[Path], Any], tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    code, _, err = pull(tmp_path)
    assert code == 2
    assert "is not empty" in err
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_quarantined_bytes_pull_nothing_and_name_the_case(
    pull: Callable[[Path], Any], lane: Lane, tmp_path: Path
) -> None:
    factories.restrict(factories.revision(Case.objects.get()).payload)
    code, _, err = pull(tmp_path / "lane")
    assert code == 2
    assert "answered 409" in err
    assert "Bytes of RC-1 are still quarantined" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scopes", [("read",), ("results:push",), ("cases", "replays")])
def test_a_token_without_the_scope_pulls_nothing(
    pull: Callable[[Path], Any],
    lane: Lane,
    team: factories.People,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scopes: tuple[str, ...],
) -> None:
    monkeypatch.setenv("REPLAYCASES_TOKEN", token_of(team.engineer, lane.project, *scopes))
    code, _, err = pull(tmp_path / "lane")
    assert code == 2
    assert "answered 403. The token lacks the scope lane:pull" in err


def test_a_token_that_is_not_good_pulls_nothing(
    pull: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLAYCASES_TOKEN", "rc_unknown")
    code, _, err = pull(tmp_path / "lane")
    assert code == 2
    assert "answered 401" in err


def test_without_a_token_nothing_is_asked(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REPLAYCASES_TOKEN", raising=False)
    code, _, err = command("pull", "--server", "https://localhost:1", "--project", "RC", tmp_path / "lane")
    assert code == 2
    assert "REPLAYCASES_TOKEN is not set" in err


@pytest.mark.parametrize(
    "address", ["http://example.invalid", "ftp://localhost", "localhost", "http://127.0.0.1.example.invalid"]
)
def test_a_token_is_not_sent_in_the_open(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("REPLAYCASES_TOKEN", "rc_x")
    code, _, err = command("pull", "--server", address, "--project", "RC", tmp_path / "lane")
    assert code == 2
    assert "--server:" in err


def test_a_server_that_is_not_there_is_no_pass(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLAYCASES_TOKEN", "rc_x")
    code, _, err = command("pull", "--server", "http://127.0.0.1:1", "--project", "RC", tmp_path / "lane")
    assert code == 60
    assert "no answer" in err


# --- a server that lies ---------------------------------------------------------------------------------------------


LIES: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "other bytes": lambda good: zipped({**good, "RC-1.json": good["RC-1.json"].replace(b"unknown", b"unknowm")}),
    "more bytes": lambda good: zipped({**good, "RC-1.json": good["RC-1.json"] + b" " * 50_000_000}),
    "a file too many": lambda good: zipped({**good, "../evil.json": b"{}"}),
    "a file too few": lambda good: zipped({name: data for name, data in good.items() if name != "RC-1.json"}),
    "no index": lambda good: zipped({name: data for name, data in good.items() if name != "lane.json"}),
    "another lane": lambda good: zipped(
        {**good, "lane.json": good["lane.json"].replace(b"blocking", b"compatibility")}
    ),
    "no zip": lambda good: b"PK but no zip",
    "half a zip": lambda good: zipped(good)[:-30],
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_not_as_listed_is_not_laid_down(
    command: Command, liar: Liar, good: dict[str, bytes], tmp_path: Path, lie: str
) -> None:
    liar.zip = LIES[lie](good)
    code, _, err = command("pull", "--server", liar.url, "--project", "RC", tmp_path / "lane")
    assert code == 60
    assert "Nothing was written" in err
    assert list(tmp_path.iterdir()) == []


def test_the_liars_own_good_lane_is_laid_down(
    command: Command, liar: Liar, good: dict[str, bytes], tmp_path: Path
) -> None:
    liar.zip = zipped(good)
    assert command("pull", "--server", liar.url, "--project", "RC", tmp_path / "lane")[0] == 0


@pytest.mark.parametrize("asked", [("--project", "XX"), ("--project", "RC", "--lane", "nonblocking")])
def test_another_lane_than_the_one_asked_for_is_not_laid_down(
    command: Command, liar: Liar, good: dict[str, bytes], tmp_path: Path, asked: tuple[str, ...]
) -> None:
    liar.zip = zipped(good)
    code, _, err = command("pull", "--server", liar.url, *asked, tmp_path / "lane")
    assert code == 60
    assert "got blocking of RC" in err
    assert not (tmp_path / "lane").exists()


def test_the_token_follows_no_redirect(command: Command, liar: Liar, tmp_path: Path) -> None:
    liar.raw = [answer(b"", "302 Found", f"Location: {liar.url}/elsewhere")]
    code, _, err = command("pull", "--server", liar.url, "--project", "RC", tmp_path / "lane")
    assert code == 2
    assert "answered 302" in err
    assert len(liar.asked) == 1


def test_the_role_of_a_viewer_is_enough_to_pull(
    pull: Callable[[Path], Any], lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = factories.person(lane.project, Role.VIEWER)
    monkeypatch.setenv("REPLAYCASES_TOKEN", token_of(viewer, lane.project, "lane:pull"))
    assert pull(tmp_path / "lane")[0] == 0
