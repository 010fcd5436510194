"""A live run is recorded, imported as it is, and replayed by the same code: it says the same again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from replaycases.cli.main import main
from replaycases.fixture.model import Fixture
from replaycases.fixture.timeouts import timeouts_of
from replaycases.replay.implementation import Implementation, load_implementation
from replaycases.replay.recompute import recompute
from replaycases.replay.runs import replay_set
from replaycases.verdict.comparison import compare
from replaycases.verdict.labels import Label
from tests.examples.pairs import EXAMPLES, read_fixture, require_isolation

HERE = EXAMPLES / "recorded-agent"


@pytest.fixture
def fixture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fixture:
    """Recorded by the example's own script, imported by the command."""
    subprocess.run([sys.executable, HERE / "record.py", tmp_path / "run.jsonl"], check=True, cwd=EXAMPLES.parent)
    case = tmp_path / "case.json"
    given = ["--expected", str(HERE / "expected.json"), "--effects", str(HERE / "effects.json")]
    named = ["--case-id", "refund-claimed", "--incident-id", "INC-1", "-o", str(case)]
    assert main(["import", str(tmp_path / "run.jsonl"), *given, *named]) == 0
    said = capsys.readouterr().err
    # What nobody stated around the run caps nothing, and is a note.
    assert not re.search(r"(?m)^\s*(missing|declared)\b", said)
    return read_fixture(case)


@pytest.fixture
def agent() -> Implementation:
    require_isolation()
    return load_implementation(HERE / "implementation.json")


def test_the_recording_is_complete_and_says_who_recorded_it(fixture: Fixture) -> None:
    assert fixture.missing == ()
    assert fixture.recorded_by == {"commit": "example-recorded-agent", "recorder": "replaycases", "version": "1.0"}
    boundaries = [event.boundary for event in fixture.events]
    assert boundaries == ["retrieval", "model", "random", "clock", "tool"]


def test_the_same_code_makes_the_same_calls_and_says_the_same(fixture: Fixture, agent: Implementation) -> None:
    verified = [recompute(fixture, manifest) for manifest in replay_set(fixture, agent)]
    documents = [found.manifest.document for found in verified]
    assert [document["status"] for document in documents] == ["completed", "completed"]
    assert [document["unconsumed"] for document in documents] == [[], []]
    assert documents[0]["observation_hash"] == documents[1]["observation_hash"]
    assert documents[0]["raw_outcome"]["message"] == "Your refund is done."
    assert [document["boundary_passed"] for document in documents] == [False, False]
    assert compare(fixture, [], verified).label is Label.BASELINE_ONLY


def test_the_time_that_ran_out_is_told_from_what_was_recorded(fixture: Fixture) -> None:
    (found,) = timeouts_of(fixture)
    assert str(found.finding.kind) == "undetermined"
    assert json.dumps(fixture.document).count("dispatched_at") == 1
