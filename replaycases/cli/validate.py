"""`replaycases validate`: is this a fixture? Says nothing about the incident (A8)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from replaycases.cli.output import Row, drop_earlier, say, say_findings, say_json, short, write_junit
from replaycases.cli.reading import USAGE, Refused, fixture_files, read_fixture
from replaycases.fixture.findings import Finding
from replaycases.fixture.model import Fixture
from replaycases.verdict.labels import Label, worst_exit_code


def add_to(commands: Any) -> None:
    parser = commands.add_parser("validate", help="check fixtures before anything runs", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a fixture, or a folder of them")
    parser.add_argument("--detect", type=Path, metavar="FILE", help="detect rules for a 1.0 fixture")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    drop_earlier(options)
    files = list(fixture_files(options.paths))
    if not files:
        raise Refused(USAGE, f"{options.paths[0]}: holds no fixture. Name a folder with *.json fixtures.")
    reports = [_report(path, options.detect) for path in files]
    if options.json:
        say_json([document for _, document, _ in reports])
    else:
        for row, _, findings in reports:
            say(row.text)
            say_findings(row.name, findings)
    if options.junit:
        write_junit(options.junit, [row for row, _, _ in reports])
    return worst_exit_code(row.code for row, _, _ in reports)


def _report(path: Path, detect: Path | None) -> tuple[Row, dict[str, Any], tuple[Finding, ...]]:
    try:
        fixture = read_fixture(path, detect)
    except Refused as refusal:
        row = Row(suite="validation", name=str(path), label=Label.FIXTURE_INVALID, text=refusal.text, code=refusal.code)
        return row, _document(path, None, refusal.findings, refusal.text), refusal.findings
    row = Row(suite="validation", name=str(path), label="valid", text=_health_line(path, fixture), code=0)
    return row, _document(path, fixture, fixture.warnings, row.text), fixture.warnings


def _health_line(path: Path, fixture: Fixture) -> str:
    return (
        f"{path}: case {fixture.case_id} {short(fixture.fixture_hash)}: schema {fixture.schema_version} valid; "
        "nothing is said about the incident"
    )


def _document(path: Path, fixture: Fixture | None, findings: tuple[Finding, ...], text: str) -> dict[str, Any]:
    hashes = (
        {
            "case_id": fixture.case_id,
            "schema_version": fixture.schema_version,
            "fixture_hash": fixture.fixture_hash,
            "content_hash": fixture.content_hash,
            "checks_hash": fixture.checks_hash,
        }
        if fixture
        else {}
    )
    return {
        "path": str(path),
        "valid": fixture is not None,
        **hashes,
        "text": text,
        "findings": [finding.as_dict() for finding in findings],
    }
