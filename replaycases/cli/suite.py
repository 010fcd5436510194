"""`replaycases suite`: every fixture of a folder, old against new, with the controls that stand beside them.

DIR/NAME.json are the cases, DIR/controls/NAME/*.json their controls (with *.mutation.json), DIR/NAME.detect.json the
rules of a 1.0 fixture. DIR/suite.json may name the label that a case is expected to have; that label then exits 0.
A missing, duplicate or errored case fails.

A folder that `replaycases pull` wrote is held against its lane.json first: a case that is missing, altered or not
listed fails, and the affected version's manifests that came with it are the old side, unless --old or --old-manifests
names another.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replaycases.cli.compare import Listed, judge, manifests_in, of_invalid_fixture, row_of, say_row
from replaycases.cli.controls import controls_in, judged_control, refuse_other_control
from replaycases.cli.output import Row, drop_earlier, say, say_json, write_json, write_junit
from replaycases.cli.pulled_lane import PulledLane, not_as_listed, read_lane
from replaycases.cli.reading import (
    INVALID,
    USAGE,
    Refused,
    fixtures_in,
    is_file,
    is_folder,
    read_fixture,
    read_json,
)
from replaycases.cli.running import ENVIRONMENT, add_run_options, isolation_tier, read_implementation, run_set
from replaycases.fixture.lane_index import ListedCase
from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation
from replaycases.replay.sandbox.base import Tier
from replaycases.verdict.comparison import Comparison
from replaycases.verdict.labels import Label, worst_exit_code
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.sides import FEWEST_RESULTS

UNEXPECTED = 50


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "suite",
        help="judge a folder of fixtures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--old", type=Path, metavar="SPEC", help="the affected implementation")
    parser.add_argument("--new", type=Path, required=True, metavar="SPEC", help="the implementation under test")
    parser.add_argument(
        "--old-manifests", type=Path, metavar="DIR", help="NAME.json holds old's manifests of case NAME"
    )
    parser.add_argument("--controls", type=Path, metavar="DIR", help="where controls stand (DIR/controls)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write that document, for `push-results`, in place of an earlier",
    )
    parser.add_argument("--manifests", type=Path, metavar="DIR", help="write the new side's manifests, a file a case")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    add_run_options(parser, fewest=FEWEST_RESULTS)
    parser.set_defaults(run=run)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every case of one suite is run with."""

    old: Implementation | None
    new: Implementation
    old_manifests: Path | None
    lane: PulledLane | None
    manifests: Path | None
    controls: Path
    runs: int
    tier: Tier


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One line of the result. `entry` is the case of a pulled lane that it is about."""

    row: Row
    comparison: Comparison | None = None
    entry: ListedCase | None = None


def run(options: argparse.Namespace) -> int:
    drop_earlier(options)
    lane = read_lane(options.directory) if is_folder(options.directory) else None
    for named in (options.controls, options.old_manifests):
        if named is not None and not is_folder(named):
            raise Refused(USAGE, f"{named}: there is no such folder. Correct the option or leave it out.")
    if lane and options.controls:
        raise Refused(USAGE, "--controls: a pulled lane has its own controls. Leave the option out.")
    bench = Bench(
        old=read_implementation(options.old) if options.old else None,
        new=read_implementation(options.new),
        old_manifests=options.old_manifests,
        lane=lane,
        manifests=_made(options.manifests),
        controls=options.controls or options.directory / "controls",
        runs=options.runs,
        tier=isolation_tier(options),
    )
    results = []
    for judged in _of_lane(lane, bench) if lane else _of_folder(options.directory, bench):
        results.append(judged)
        if not options.json:
            say_row(judged.row, judged.comparison)
    for line in lane.index.left_out() if lane and not options.json else ():
        say(line)
    return _reported(options, bench, results)


def _reported(options: argparse.Namespace, bench: Bench, results: Sequence[Judged]) -> int:
    rows = [judged.row for judged in results]
    code = worst_exit_code(row.code for row in rows)
    document = _document(bench, results, code)
    if options.json:
        say_json(document)
    if options.output:
        write_json(options.output, document)
    if options.junit:
        write_junit(options.junit, rows)
    return code


def _document(bench: Bench, results: Sequence[Judged], code: int) -> dict[str, Any]:
    """What `--json` prints; of a pulled lane also which one it was and the result of each of its cases."""
    document: dict[str, Any] = {
        "implementation": {name: getattr(bench.new, name) for name in ("name", "version", "commit", "digest")},
        "exit_code": code,
        "comparisons": [judged.comparison.as_dict() for judged in results if judged.comparison],
        "rows": [vars(judged.row) for judged in results],
    }
    if bench.lane:
        index = bench.lane.index
        document["lane"] = {"project": index.project, "lane": index.lane, "digest": index.digest}
        document["left_out"] = index.left_out()
        document["results"] = [_result(judged, judged.entry) for judged in results if judged.entry]
    return document


def _result(judged: Judged, entry: ListedCase) -> dict[str, Any]:
    return {
        "readable_id": entry.readable_id,
        "fixture_hash": entry.fixture_hash,
        "label": str(judged.comparison.label) if judged.comparison else "",
        "reason": judged.comparison.reason if judged.comparison else judged.row.text,
    }


def _of_folder(directory: Path, bench: Bench) -> Iterator[Judged]:
    """A line for every file as it is judged, then one for each fault of the folder itself."""
    files, expected = fixtures_in(directory), _expected_labels(directory / "suite.json")
    seen: Counter[str] = Counter()
    for path in files:
        try:
            fixture = read_fixture(path)
            seen[fixture.case_id] += 1
            controls = controls_in(bench.controls / path.stem)
            comparison = _judge(path, fixture, bench, _old_side(path, fixture, bench), controls)
        except Refused as refusal:
            yield _refused(path, refusal)
        else:
            yield Judged(row=_expected_row(comparison, expected.get(fixture.case_id)), comparison=comparison)
    for row in _rows_about_the_folder(seen, expected):
        yield Judged(row=row)


def _of_lane(lane: PulledLane, bench: Bench) -> Iterator[Judged]:
    """A line for every case that the lane lists, then one for each file that it does not list."""
    if not lane.index.entries:
        raise Refused(USAGE, f"{lane.folder}: the lane holds no case, so there is nothing to judge.")
    seen = Counter(entry.case_id for entry in lane.index.entries)
    for entry in lane.index.entries:
        path = lane.fixture(entry)
        try:
            comparison = _judge_listed(path, entry, lane, bench)
        except Refused as refusal:
            yield replace(_refused(path, refusal), entry=entry)
        else:
            yield Judged(row=row_of(comparison), comparison=comparison, entry=entry)
    for row in _rows_about_the_folder(seen, {}):
        yield Judged(row=row)
    for name in lane.extra:
        yield Judged(row=_folder_row(name, "is not listed in lane.json; remove it or pull the lane again"))


def _judge_listed(path: Path, entry: ListedCase, lane: PulledLane, bench: Bench) -> Comparison:
    fault = lane.faults.get(entry.readable_id)
    if fault:
        raise Refused(INVALID, f"{entry.readable_id}: {fault}. Pull the lane again.")
    fixture = read_fixture(path)
    fault = not_as_listed(fixture, entry)
    if fault:
        raise Refused(INVALID, f"{entry.readable_id}: {fault}. Pull the lane again.")
    for control in entry.controls:
        refuse_other_control(lane.control(control), control)
    controls = [lane.control(control) for control in entry.controls]
    if bench.old or bench.old_manifests:
        return _judge(path, fixture, bench, _old_side(path, fixture, bench), controls)
    kept = [manifest for file in lane.old_manifests(entry) for manifest in manifests_in(file, "old")]
    return _judge(path, fixture, bench, kept, controls)


def _judge(path: Path, fixture: Fixture, bench: Bench, old: Listed, controls: Sequence[Path]) -> Comparison:
    new = run_set(fixture, bench.new, bench.runs, bench.tier)
    if bench.manifests:
        _write_manifests(bench.manifests / path.name, new)
    results = [judged_control(control, bench.new, runs=bench.runs, tier=bench.tier) for control in controls]
    return judge(fixture, old, new, results)


def _old_side(path: Path, fixture: Fixture, bench: Bench) -> Listed:
    kept = bench.old_manifests / f"{path.stem}.json" if bench.old_manifests else None
    if kept is not None and is_file(kept):
        return manifests_in(kept, "old")
    return run_set(fixture, bench.old, bench.runs, bench.tier) if bench.old else []


def _made(folder: Path | None) -> Path | None:
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(USAGE, f"{folder}: cannot be made: {error.strerror}. Name another folder.") from None
    return folder


def _write_manifests(path: Path, manifests: Sequence[Manifest]) -> None:
    write_json(path, [manifest.document for manifest in manifests])


def _expected_labels(path: Path) -> dict[str, Label]:
    if not is_file(path):
        return {}
    document = read_json(path)
    known = {str(label) for label in Label}
    labels = list(document.values()) if isinstance(document, dict) else [None]
    if not all(isinstance(label, str) and label in known for label in labels):
        raise Refused(USAGE, f"{path}: must be an object of case id to label, one of: {', '.join(sorted(known))}")
    return {case_id: Label(label) for case_id, label in document.items()}


def _expected_row(comparison: Comparison, expected: Label | None) -> Row:
    row = row_of(comparison)
    if expected is None:
        return row
    if comparison.label is expected:
        return Row(suite=row.suite, name=row.name, label=row.label, text=f"{row.text} [expected]", code=0)
    text = f"{row.text} [expected {expected}]"
    return Row(suite=row.suite, name=row.name, label=row.label, text=text, code=row.code or UNEXPECTED)


def _refused(path: Path, refusal: Refused) -> Judged:
    comparison = of_invalid_fixture(path, refusal) if refusal.code == INVALID else None
    return Judged(row=_refused_row(path, refusal), comparison=comparison)


def _refused_row(path: Path, refusal: Refused) -> Row:
    label = Label.ENVIRONMENT_UNAVAILABLE if refusal.code == ENVIRONMENT else Label.FIXTURE_INVALID
    details = "".join(f"\n  {finding}" for finding in refusal.findings)
    return Row(suite="validation", name=str(path), label=label, text=refusal.text + details, code=refusal.code)


def _rows_about_the_folder(seen: Counter[str], expected: Mapping[str, Label]) -> list[Row]:
    duplicate = [case_id for case_id, count in seen.items() if count > 1]
    missing = [case_id for case_id in expected if case_id not in seen]
    return [
        *(_folder_row(case_id, "stands in several files of the folder; keep one") for case_id in duplicate),
        *(_folder_row(case_id, "is named in suite.json and no file holds it") for case_id in missing),
    ]


def _folder_row(case_id: str, fault: str) -> Row:
    return Row(suite="validation", name=case_id, label=Label.FIXTURE_INVALID, text=f"{case_id}: {fault}", code=INVALID)
