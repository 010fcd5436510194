"""Bytes of a foreign file -> its runs -> an imported case. The format is found by content, never by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.importers import chat_transcript, claude_code, langfuse, langsmith, recorded, vcr
from replaycases.importers.completeness import Report, report_of
from replaycases.importers.findings import Gap, ImportRefused, refused
from replaycases.importers.fixture_size import MAX_BYTES, require_room, written
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.http import bare
from replaycases.importers.lost_calls import with_lost_calls
from replaycases.importers.mended import odd_documents, with_mended
from replaycases.importers.neutral import NeutralRun, Note, RunHead
from replaycases.importers.otlp import format as otlp
from replaycases.importers.supplied import Supplied
from replaycases.importers.to_fixture import gaps_of, to_fixture
from replaycases.importers.unsupported import UNSUPPORTED

JSON = Any


# The first that recognises the file reads it: from the most particular shape to the most general one.
FORMATS: tuple[Format, ...] = (
    recorded.FORMAT,
    otlp.FORMAT,
    vcr.FORMAT,
    langsmith.FORMAT,
    langfuse.FORMAT,
    claude_code.FORMAT,
    bare.FORMAT,
    chat_transcript.FORMAT,
)


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A file whose format is known. `runs` are its heads; `read` reads one of them. `before` is how many odd documents
    had been read before it."""

    file: ForeignFile
    format: Format
    runs: tuple[RunHead, ...]
    before: int = -1

    def read(self, run: int | None = None) -> NeutralRun:
        """Raises ImportRefused; also where the file holds several runs and none was chosen."""
        if run is None and len(self.runs) > 1:
            hint = f"Say which one: run 0 to {len(self.runs) - 1}."
            raise refused("several-runs", "", f"the file holds {len(self.runs)} runs", hint)
        if run is not None and not 0 <= run < len(self.runs):
            raise no_such_run(run, len(self.runs))
        found = with_lost_calls(self.format.read(self.file, run or 0), witnessed=self.format.witnessed)
        found = replace(found, notes=(*found.notes, *self._broken_lines()))
        return found if odd_documents() == self.before else with_mended(found)

    def _broken_lines(self) -> Iterator[Note]:
        """What was dropped of a file that is read line by line. A format that reads the bytes says so itself."""
        broken = () if self.format.reads_bytes else self.file.broken_lines
        if broken:
            many = f", nor are {len(broken) - 1} more: they were dropped" if len(broken) > 1 else " and was dropped"
            text = f"line {broken[0]} of the file is no JSON{many}"
            cost = "what stood there is unknown: a call may be missing"
            yield Note(kind="sequence_gap", source="", text=text, cost=cost)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of a run.

    `document` is the 2.0 fixture; without a supplied `expected` it is a draft that lacks one, and `fixture` is None.
    `report` is the completeness report; `left_out` are pointers into the file to what was not taken over.
    """

    document: dict[str, JSON]
    fixture: Fixture | None
    format: str
    report: Report
    left_out: tuple[str, ...]

    @property
    def gaps(self) -> tuple[Gap, ...]:
        return self.report.gaps

    def as_bytes(self) -> bytes:
        """For people to read; in the shortest form where only that is no larger than a fixture may be."""
        shown = written(self.document, indent=1)
        return shown if len(shown) <= MAX_BYTES else written(self.document)


def no_such_run(run: int, runs: int) -> ImportRefused:
    hint = f"Choose 0 to {runs - 1}." if runs > 1 else "Leave the run index out."
    return refused("run-index", "", f"there is no run {run}", hint)


def formats() -> tuple[str, ...]:
    return tuple(format.name for format in FORMATS)


def open_recording(data: bytes, *, format: str | None = None) -> Recording:
    """Recognise the file. Raises ImportRefused for one of an unknown, a known but not supported, or not the named
    format."""
    before, file = odd_documents(), ForeignFile(data)
    found = _named(file, format) if format is not None else _recognised(file)
    return Recording(file=file, format=found, runs=tuple(found.heads(file)), before=before)


def import_run(data: bytes, *, format: str | None = None, supplied: Supplied) -> Imported:
    """Read one run. Raises ImportRefused (the file or what was supplied), or FixtureInvalid (what came of it is no
    fixture, for instance because the supplied expectation is malformed)."""
    return to_case(open_recording(data, format=format).read(supplied.run), supplied)


def to_case(run: NeutralRun, supplied: Supplied) -> Imported:
    """What a run becomes with what a person supplied. Raises as `import_run` does."""
    document, gaps = to_fixture(run, supplied)
    require_room(gaps)
    report = report_of(run, gaps, leave_out=supplied.leave_out, stated=supplied.record)
    imported = Imported(document=document, fixture=None, format=run.format, report=report, left_out=run.left_out)
    if supplied.expected is None:
        return imported
    return replace(imported, fixture=load_fixture(imported.as_bytes()))


def report_on(run: NeutralRun, supplied: Supplied) -> Report:
    """The completeness report before there is a fixture. Raises ImportRefused for choices that do not fit the run."""
    return report_of(run, gaps_of(run, supplied), leave_out=supplied.leave_out, stated=supplied.record)


def _recognised(file: ForeignFile) -> Format:
    foreign = next((format for format in UNSUPPORTED if format.sniff(file)), None)
    if foreign is not None:
        raise refused("not-supported", "", f"the file is a {foreign.title}, which is not read yet", foreign.instead)
    found = next((format for format in FORMATS if format.sniff(file)), None)
    if found is None:
        raise _unrecognised(file)
    return found


def _unrecognised(file: ForeignFile) -> Exception:
    if file.head[:1] in (b"{", b"[", b"") and not file.json_lines and not isinstance(file.json, dict | list):
        return file.json_fault()
    return refused("unknown-format", "", "no importer recognises the file", _known())


def _named(file: ForeignFile, name: str) -> Format:
    named = next((format for format in FORMATS if format.name == name), None)
    if named is None:
        raise refused("format", "", "no importer has this name", _known())
    if not named.sniff(file):
        raise refused("format", "", f"the file is not a {named.name}", _known())
    return named


def _known() -> str:
    return f"Known formats: {'; '.join(f'{format.title} [{format.name}]' for format in FORMATS)}."
