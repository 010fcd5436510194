"""`replaycases check-metadata`: who answers for each case of a folder, who approved it, and is anything over?

Beside CASE.json stands CASE.metadata.json (docs/metadata.md); a folder that `pull` wrote is held against its lane.json.
Exit code 11 for provenance and expiry: an approval for other bytes, an end that has passed, an older schema that nobody
decided to keep. With --implementation, a recording that is older than the last change of the parsers which that file
declares is flagged, to be recorded again on purpose. Nothing is changed or removed. Controls are not looked at.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from replaycases.cli.output import Row, drop_earlier, say, say_json, short, write_junit
from replaycases.cli.parser_history import ParserHistory, history_of
from replaycases.cli.pulled_lane import PulledLane, not_as_listed, read_lane
from replaycases.cli.reading import (
    USAGE,
    Refused,
    fixture_files,
    is_file,
    is_folder,
    read_bytes,
    read_fixture,
)
from replaycases.cli.running import read_implementation
from replaycases.fixture.lane_index import ListedCase
from replaycases.fixture.metadata import (
    MetadataInvalid,
    Problem,
    kept_since,
    parse_metadata,
    problems_of,
    schema_problem,
)
from replaycases.fixture.model import Fixture
from replaycases.fixture.recording_age import age_problems
from replaycases.verdict.labels import worst_exit_code

PROVENANCE = 11


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "check-metadata",
        help="check provenance and expiry of a folder of cases",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a fixture, a folder, or a pulled lane")
    parser.add_argument(
        "--implementation",
        type=Path,
        action="append",
        default=[],
        metavar="SPEC",
        help="whose declared parsers no recording may be older than",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.set_defaults(run=run)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """One case, or one fault of a folder (then without a fixture), with what was found."""

    path: str
    fixture: Fixture | None
    problems: tuple[Problem, ...]
    code: int = PROVENANCE

    def rows(self) -> list[Row]:
        name = f"{self.fixture.case_id} {short(self.fixture.fixture_hash)}: " if self.fixture else ""
        rows = [
            Row(
                suite=problem.kind,
                name=self.path,
                label=problem.kind,
                text=f"{self.path}: {name}{'' if problem.failing else 'listed: '}{problem.text}",
                code=self.code if problem.failing else 0,
            )
            for problem in self.problems
        ]
        well = f"{self.path}: {name}nothing is due; nothing is said about the incident"
        return rows or [Row(suite="provenance", name=self.path, label="well", text=well, code=0)]

    def as_dict(self) -> dict[str, Any]:
        names = ("case_id", "schema_version", "fixture_hash", "content_hash")
        said = {name: getattr(self.fixture, name) for name in names} if self.fixture else {}
        return {"path": self.path, **said, "problems": [vars(problem) for problem in self.problems]}


def run(options: argparse.Namespace) -> int:
    drop_earlier(options)
    histories = [
        history for spec in options.implementation if (history := history_of(read_implementation(spec))) is not None
    ]
    if options.implementation and not histories:
        raise Refused(
            USAGE, "--implementation: none of them declares `parsers`. Declare them, or leave the option out."
        )
    checked = [one for path in options.paths for one in _of_path(path, histories)]
    rows = [row for one in checked for row in one.rows()]
    code = worst_exit_code(row.code for row in rows)
    if options.json:
        say_json({"exit_code": code, "cases": [one.as_dict() for one in checked]})
    else:
        for row in rows:
            say(row.text)
    if options.junit:
        write_junit(options.junit, rows)
    return code


def _of_path(path: Path, histories: Sequence[ParserHistory]) -> Iterator[Checked]:
    lane = read_lane(path) if is_folder(path) else None
    if lane is not None:
        yield from _of_lane(lane, histories)
        return
    files = [file for file in fixture_files([path]) if "controls" not in file.relative_to(path).parts[:-1]]
    if not files:
        raise Refused(USAGE, f"{path}: holds no fixture. Name a folder with *.json fixtures.")
    for file in files:
        yield _of_file(file, histories)


# --- a folder -------------------------------------------------------------------------------------------------------


def _of_file(path: Path, histories: Sequence[ParserHistory]) -> Checked:
    try:
        fixture = read_fixture(path)
    except Refused as refusal:
        return _unreadable(path, refusal)
    beside = path.with_name(f"{path.stem}.metadata.json")
    if not is_file(beside):
        missing = f"no {beside.name} beside it says who answers for it. Write one."
        problems = [_provenance(missing), *schema_problem(fixture, kept=False), *_ages(fixture, histories, None)]
        return Checked(path=str(path), fixture=fixture, problems=tuple(problems))
    try:
        metadata = parse_metadata(read_bytes(beside))
    except MetadataInvalid as invalid:
        return Checked(path=str(path), fixture=fixture, problems=(_provenance(f"{beside.name}: {invalid}. Mend it."),))
    found = problems_of(fixture, metadata, now=datetime.now(UTC))
    ages = _ages(fixture, histories, kept_since(metadata, "recording"))
    return Checked(path=str(path), fixture=fixture, problems=(*found, *ages))


def _unreadable(path: Path, refusal: Refused) -> Checked:
    text = "; ".join([refusal.text, *(str(finding) for finding in refusal.findings[:5])])
    return Checked(path=str(path), fixture=None, problems=(_provenance(text),), code=refusal.code)


def _provenance(text: str) -> Problem:
    return Problem(kind="provenance", text=text)


# --- a pulled lane --------------------------------------------------------------------------------------------------


def _of_lane(lane: PulledLane, histories: Sequence[ParserHistory]) -> Iterator[Checked]:
    """The server that the lane came from keeps who approved what; the index says for which bytes."""
    for entry in lane.index.entries:
        yield _of_entry(lane, entry, histories)
    for name in lane.extra:
        text = "is not listed in lane.json: nobody approved it for this lane. Remove it or pull the lane again."
        yield Checked(path=str(lane.folder / name), fixture=None, problems=(_provenance(text),))


def _of_entry(lane: PulledLane, entry: ListedCase, histories: Sequence[ParserHistory]) -> Checked:
    path = lane.fixture(entry)
    fault = lane.faults.get(entry.readable_id)
    if fault:
        return Checked(path=str(path), fixture=None, problems=(_provenance(f"{fault}. Pull the lane again."),))
    try:
        fixture = read_fixture(path)
    except Refused as refusal:
        return _unreadable(path, refusal)
    other = not_as_listed(fixture, entry)
    if other:
        return Checked(path=str(path), fixture=fixture, problems=(_provenance(f"{other}. Pull the lane again."),))
    listed = []
    if entry.flagged:
        listed.append(Problem(kind="expiry", text="flagged on the server: a re-review is due there", failing=False))
    listed += list(_approval(entry, fixture))
    # The server flags an older schema; a case without a flag was looked at for it.
    found = schema_problem(fixture, kept=not entry.flagged)
    return Checked(path=str(path), fixture=fixture, problems=(*listed, *found, *_ages(fixture, histories, None)))


def _approval(entry: ListedCase, fixture: Fixture) -> Iterator[Problem]:
    given = entry.redaction
    if given is None:
        yield _provenance("lane.json names no approval of its redaction. Pull the lane from a server that does.")
    elif given.content_hash != fixture.content_hash:
        yield _provenance("the redaction was approved for other content. Have it approved again.")
    elif not given.stands:
        text = "the approval of its redaction is void on the server: somebody looks at it again"
        yield Problem(kind="provenance", text=text, failing=False)


def _ages(fixture: Fixture, histories: Sequence[ParserHistory], kept: datetime | None) -> Iterator[Problem]:
    return age_problems((fixture.recorded_by or {}).get("commit"), histories, kept)
