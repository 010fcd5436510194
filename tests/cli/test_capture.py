from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from replaycases.accounts.models import Project
from replaycases.cases import people
from replaycases.cases.models import Capture
from tests import factories
from tests.cli.conftest import Command
from tests.importers.transcripts import answers, asks, call, says, transcript, user

TRACE = transcript(user("refund 4711"), asks(call("refund", {"id": 1})), answers("timed out"), says("It is refunded."))


@pytest.fixture
def project(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = factories.project()
    owner = factories.everyone(made)
    _, secret = people.create_token(owner, project=made, name="CI", scopes=["captures"], days=1)
    monkeypatch.setenv("REPLAYCASES_TOKEN", secret)
    return made


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace of café.json"
    path.write_bytes(TRACE)
    return path


def send(command: Command, server: LiveServer, trace: Path, *more: object, project: str = "RC") -> tuple[int, str, str]:
    return command("capture", trace, "--server", server.url, "--project", project, *more)


def test_a_file_is_kept_as_it_is(command: Command, live_server: LiveServer, project: Project, trace: Path) -> None:
    code, out, err = send(command, live_server, trace, "--symptom", "It hung.", "--trace-id", "t-1")
    assert (code, err) == (0, "")
    assert "kept as RC-T1: chat-transcript, 1 run" in out
    assert "All 3 recorded steps have their answers." in out
    assert "4711" not in out
    capture = Capture.objects.get()
    assert (capture.name, capture.symptom, capture.trace_id) == ("trace of café.json", "It hung.", "t-1")
    assert capture.payload.size == len(TRACE)


def test_what_was_kept_is_told_as_json(
    command: Command, live_server: LiveServer, project: Project, trace: Path
) -> None:
    code, out, _ = send(command, live_server, trace, "--json")
    shown: dict[str, Any] = json.loads(out)
    assert (code, shown["readable_id"], shown["report"]["mode"]) == (0, "RC-T1", "replay")


def test_a_file_that_no_importer_reads_is_refused_in_the_servers_words(
    command: Command, live_server: LiveServer, project: Project, trace: Path
) -> None:
    trace.write_bytes(b'{"a": 4711}')
    code, out, err = send(command, live_server, trace)
    assert (code, out) == (2, "")
    assert "422" in err
    assert "no importer recognises the file" in err
    assert "OpenTelemetry trace (OTLP) [otlp]" in err
    assert "4711" not in err
    assert not Capture.objects.exists()


def test_a_project_that_is_not_there_is_refused(
    command: Command, live_server: LiveServer, project: Project, trace: Path
) -> None:
    code, _, err = send(command, live_server, trace, project="XX")
    assert code == 2
    assert "answered 400. project: " in err
    assert "{" not in err


def test_the_same_bytes_are_told_to_be_there_already(
    command: Command, live_server: LiveServer, project: Project, trace: Path
) -> None:
    send(command, live_server, trace)
    code, out, _ = send(command, live_server, trace)
    assert code == 0
    assert "these bytes are RC-T1 already" in out
    assert "kept as" not in out
