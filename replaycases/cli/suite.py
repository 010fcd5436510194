"""`replaycases suite`: every fixture of a folder, old against new, with the controls that stand beside them.

DIR/NAME.json are the cases, DIR/controls/NAME/*.json their controls (with *.mutation.json), DIR/NAME.detect.json the
rules of a 1.0 fixture. DIR/suite.json may name the label that a case is expected to have; that label then exits 0.
A missing, duplicate or errored case fails.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replaycases.cli.compare import Listed, judge, manifests_in, of_invalid_fixture, row_of, say_row
from replaycases.cli.output import Row, say_json, write_junit
from replaycases.cli.reading import (
    INVALID,
    USAGE,
    Refused,
    detect_beside,
    fixtures_in,
    is_file,
    is_folder,
    read_bytes,
    read_fixture,
    read_json,
)
from replaycases.cli.running import ENVIRONMENT, add_run_options, isolation_tier, read_implementation, run_set
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.controls import MutationInvalid, mutate
from replaycases.replay.controls import judge as judge_control
from replaycases.replay.implementation import Implementation
from replaycases.replay.sandbox.base import Tier
from replaycases.verdict.comparison import Comparison
from replaycases.verdict.control_result import ControlResult
from replaycases.verdict.labels import Label, worst_exit_code
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
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    add_run_options(parser, fewest=FEWEST_RESULTS)
    parser.set_defaults(run=run)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every case of one suite is run with."""

    old: Implementation | None
    new: Implementation
    old_manifests: Path | None
    controls: Path
    runs: int
    tier: Tier


def run(options: argparse.Namespace) -> int:
    files = fixtures_in(options.directory)
    for named in (options.controls, options.old_manifests):
        if named is not None and not is_folder(named):
            raise Refused(USAGE, f"{named}: there is no such folder. Correct the option or leave it out.")
    expected = _expected_labels(options.directory / "suite.json")
    bench = Bench(
        old=read_implementation(options.old) if options.old else None,
        new=read_implementation(options.new),
        old_manifests=options.old_manifests,
        controls=options.controls or options.directory / "controls",
        runs=options.runs,
        tier=isolation_tier(options),
    )
    results = []
    for row, comparison in _results(files, expected, bench):
        results.append((row, comparison))
        if not options.json:
            say_row(row, comparison)
    rows = [row for row, _ in results]
    if options.json:
        comparisons = [comparison.as_dict() for _, comparison in results if comparison]
        say_json({"comparisons": comparisons, "rows": [vars(row) for row in rows]})
    if options.junit:
        write_junit(options.junit, rows)
    return worst_exit_code(row.code for row in rows)


def _results(
    files: Sequence[Path], expected: Mapping[str, Label], bench: Bench
) -> Iterator[tuple[Row, Comparison | None]]:
    """A row for every file as it is judged, then one for each fault of the folder itself."""
    seen: Counter[str] = Counter()
    for path in files:
        try:
            fixture = read_fixture(path)
            seen[fixture.case_id] += 1
            comparison = _judge(path, fixture, bench)
        except Refused as refusal:
            yield _refused_row(path, refusal), of_invalid_fixture(path, refusal) if refusal.code == INVALID else None
        else:
            yield _expected_row(comparison, expected.get(fixture.case_id)), comparison
    for row in _rows_about_the_folder(seen, expected):
        yield row, None


def _judge(path: Path, fixture: Fixture, bench: Bench) -> Comparison:
    new = run_set(fixture, bench.new, bench.runs, bench.tier)
    controls = tuple(_controls(bench.controls / path.stem, bench))
    return judge(fixture, _old_side(path, fixture, bench), new, controls)


def _old_side(path: Path, fixture: Fixture, bench: Bench) -> Listed:
    kept = bench.old_manifests / f"{path.stem}.json" if bench.old_manifests else None
    if kept is not None and is_file(kept):
        return manifests_in(kept, "old")
    return run_set(fixture, bench.old, bench.runs, bench.tier) if bench.old else []


def _controls(folder: Path, bench: Bench) -> Iterator[ControlResult]:
    for path in fixtures_in(folder) if is_folder(folder) else ():
        yield _control(path, bench)


def _control(path: Path, bench: Bench) -> ControlResult:
    """A control that cannot be read or run is not passed: it fails the case it stands beside."""
    try:
        control = read_fixture(path)
        runs = run_set(control, bench.new, bench.runs, bench.tier)
        mutated = _mutated(path)
        red = run_set(mutated, bench.new, bench.runs, bench.tier) if mutated else None
    except (Refused, MutationInvalid, FixtureInvalid) as error:
        return ControlResult(control=path.stem, passed=None, reason=str(error))
    return judge_control(path.stem, control, runs, red)


def _mutated(path: Path) -> Fixture | None:
    mutation = path.with_name(f"{path.stem}.mutation.json")
    if not is_file(mutation):
        return None
    detect = detect_beside(path)
    data = mutate(read_bytes(path), read_bytes(mutation))
    return load_fixture(data, detect=read_bytes(detect) if detect else None)


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
