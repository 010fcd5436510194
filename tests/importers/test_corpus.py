"""Real recorded files of other projects, where they are at hand: each imports to what a reader of it counts."""

from __future__ import annotations

from collections import Counter

import pytest

from replaycases.importers.completeness import report_of
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import NeutralRun, ToolStep, boundary_of
from replaycases.importers.registry import Recording, open_recording, to_case
from tests.importers.corpus import CORPUS, Read, Refused, apps, http, otlp
from tests.importers.transcripts import supplied

READ = (*http.READ, *otlp.READ, *apps.READ)
REFUSED = (*http.REFUSED, *otlp.REFUSED, *apps.REFUSED)
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded files are not here (REPLAYCASES_CORPUS)")


def recording(file: str) -> Recording:
    """Of one file, or of several ("a + b") one after the other."""
    return open_recording(b"\n".join((CORPUS / part).read_bytes() for part in file.split(" + ")))


def failed(run: NeutralRun) -> int:
    tools = sum(isinstance(step, ToolStep) and step.error is not None for step in run.steps)
    return tools + sum(note.kind == "failed_call" for note in run.notes)


@pytest.mark.parametrize("row", READ, ids=lambda row: f"{row.file}#{row.run}")
def test_a_file_holds_what_a_reader_counts_in_it(row: Read) -> None:
    found = recording(row.file)
    run = found.read(row.run)
    counts = Counter(boundary_of(step) for step in run.steps)
    assert (
        Read(
            file=row.file,
            format=found.format.name,
            run=row.run,
            runs=len(found.runs),
            models=counts["model"],
            tools=counts["tool"],
            answered=sum(isinstance(step, ToolStep) and step.answered for step in run.steps),
            failed=failed(run),
            retrievals=counts["retrieval"],
            people=counts["human"],
            mode=report_of(run, ()).mode,
        )
        == row
    )


@pytest.mark.parametrize(
    "row", [row for row in READ if row.mode != "forensic"], ids=lambda row: f"{row.file}#{row.run}"
)
def test_what_can_be_replayed_becomes_a_fixture_that_the_loader_accepts(row: Read) -> None:
    expected = {"boundary": ["ends"], "run_status": {"id": "ends", "forbid": ["crashed"]}}
    imported = to_case(recording(row.file).read(row.run), supplied(expected=expected))
    assert imported.fixture is not None
    assert len(imported.document["events"]) == imported.report.replayable
    assert imported.document.get("horizon", False) is (row.mode == "prefix")


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.file)
def test_a_file_that_can_be_no_case_is_refused_by_name(row: Refused) -> None:
    with pytest.raises(ImportRefused) as caught:
        recording(row.file).read()
    assert caught.value.finding.id == row.id


def test_every_recorded_file_has_a_row() -> None:
    files = {str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/**/*") if path.is_file()}
    assert files == {file for row in (*READ, *REFUSED) for file in row.file.split(" + ")}
