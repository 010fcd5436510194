"""`replaycases compare`: the verdict on two lists of manifests. Recomputes whatever can be computed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replaycases.cli.output import (
    Row,
    boundary_word,
    complain,
    drop_earlier,
    say,
    say_findings,
    say_json,
    short,
    write_junit,
)
from replaycases.cli.reading import INVALID, Refused, read_bytes, read_fixture
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.model import Fixture
from replaycases.fixture.strict_json import parse
from replaycases.replay.recompute import recompute
from replaycases.verdict.comparability import Refusal
from replaycases.verdict.comparison import Comparison, compare, invalid_fixture
from replaycases.verdict.control_result import ControlResult
from replaycases.verdict.manifest import MANIFEST_LIMITS, Manifest, ManifestRefused, from_document
from replaycases.verdict.sides import SideName, SideSummary
from replaycases.verdict.verified import VerifiedManifest

Listed = Sequence[Manifest | Refusal]
"""One side as it was given: what could be read, and what could not."""


def add_to(commands: Any) -> None:
    parser = commands.add_parser("compare", help="judge two lists of manifests", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD.json")
    parser.add_argument("new", type=Path, metavar="NEW.json")
    parser.add_argument("--fixture", type=Path, required=True, metavar="FIXTURE")
    parser.add_argument("--detect", type=Path, metavar="FILE", help="detect rules for a 1.0 fixture")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    drop_earlier(options)
    comparison = _comparison(options)
    if options.json:
        say_json(comparison.as_dict())
    else:
        say_row(row_of(comparison), comparison)
    if options.junit:
        write_junit(options.junit, [row_of(comparison)])
    return comparison.exit_code


def _comparison(options: argparse.Namespace) -> Comparison:
    old, new = manifests_in(options.old, "old"), manifests_in(options.new, "new")
    try:
        return judge(read_fixture(options.fixture, options.detect), old, new)
    except Refused as refusal:
        if refusal.code != INVALID:
            raise
        say_findings(str(options.fixture), refusal.findings, to=complain)
        return of_invalid_fixture(options.fixture, refusal)


def of_invalid_fixture(path: Path, refusal: Refused) -> Comparison:
    """The comparison that a fixture which does not load stands for, under the name of its file."""
    return invalid_fixture(path.name, FixtureInvalid(list(refusal.findings)))


def manifests_in(path: Path, side: SideName) -> Listed:
    """The manifests of a file: a list of them, or one. What cannot be read is a refusal, which forbids comparing."""
    try:
        document = parse(read_bytes(path), limits=MANIFEST_LIMITS)
    except FixtureInvalid as error:
        first = error.findings[0]
        return [Refusal(side=side, run=path.name, reason=f"{first.pointer or '/'}: {first.message}")]
    documents = document if isinstance(document, list) else [document]
    return [_manifest(item, side, f"{path.name}[{index}]") for index, item in enumerate(documents)]


def _manifest(document: Any, side: SideName, name: str) -> Manifest | Refusal:
    try:
        return from_document(document)
    except ManifestRefused as error:
        return Refusal(side=side, run=name, reason=str(error))


def judge(fixture: Fixture, old: Listed, new: Listed, controls: Sequence[ControlResult] = ()) -> Comparison:
    """Recompute every manifest against the fixture, then compare."""
    refused: list[Refusal] = []
    sides: dict[SideName, list[VerifiedManifest]] = {"old": [], "new": []}
    given: dict[SideName, Listed] = {"old": old, "new": new}
    for side, listed in given.items():
        for item in listed:
            verified = item if isinstance(item, Refusal) else _verified(fixture, item, side)
            if isinstance(verified, Refusal):
                refused.append(verified)
            else:
                sides[side].append(verified)
    return compare(fixture, sides["old"], sides["new"], controls=controls, refused=refused)


def _verified(fixture: Fixture, manifest: Manifest, side: SideName) -> VerifiedManifest | Refusal:
    try:
        return recompute(fixture, manifest)
    except ManifestRefused as error:
        return Refusal(side=side, run=manifest.run_id, reason=str(error))


def line_of(comparison: Comparison) -> str:
    """Case, hash, label, both versions with their boundary, and the reason: never a bare label (A8)."""
    old, new = _side_words(comparison.old, comparison.old_runs), _side_words(comparison.new, comparison.new_runs)
    case = f"{comparison.case_id} {short(comparison.fixture_hash)}".rstrip()
    sides = f"old {old}, new {new}, controls {comparison.controls}"
    return f"{case}: {comparison.label}: {sides}. {comparison.reason}"


def _side_words(side: SideSummary | None, runs: int) -> str:
    if side is None:
        return "without a result"
    return f"{side.name} {side.version} {boundary_word(side.boundary_passed)} in {runs} run{'' if runs == 1 else 's'}"


def say_row(row: Row, comparison: Comparison | None) -> None:
    """The line, and under it what a person needs to go on."""
    say(row.text)
    if comparison is None:
        return
    divergence = comparison.first_divergence
    if divergence is not None:
        place = f"event {divergence.seq} " if divergence.seq is not None else ""
        say(f"  first divergence: {divergence.kind} at {place}{divergence.pointer}".rstrip())
    leniency = (comparison.prompt_delta, comparison.authored_used, comparison.optional_skipped)
    if comparison.green or any(leniency):
        delta = "none" if comparison.prompt_delta is None else f"{comparison.prompt_delta:.3f}"
        authored, skipped = comparison.authored_used, comparison.optional_skipped
        say(f"  prompt delta {delta}, authored answers used {authored}, optional events skipped {skipped}")
    for control in comparison.control_results:
        if control.passed is not True:
            say(f"  control {control.control}: {control.reason}")
    for unread in comparison.unread:
        say(f"  not read: {unread.side} run {unread.run}, {unread.status}")


def row_of(comparison: Comparison) -> Row:
    return Row(
        suite=_junit_suite(comparison.exit_code),
        name=comparison.case_id,
        label=str(comparison.label),
        text=line_of(comparison),
        code=comparison.exit_code,
    )


def _junit_suite(code: int) -> str:
    """CI must fail distinctly on validation, on reproduction and on current regression (A28)."""
    return {0: "regression", INVALID: "validation", 20: "reproduction", 30: "regression"}.get(code, "comparison")
