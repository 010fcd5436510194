"""`replaycases redact` and `replaycases scan`: take out of a JSON document what identifies somebody or opens a door.

`redact` writes a document in which every value that was found is replaced, the same one by the same surrogate wherever
and however encoded it stands, and what values have to do with each other is kept. It is written only if nothing is
left open: a place that could not be read, a value in the frame of the fixture, a suggestion that a person must decide
(by the policy: `fields`, `allowed`), or a relation that was lost. `scan` only looks. Neither prints a value. Exit code
0, or 10 where something is open.
"""

from __future__ import annotations

import argparse
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from replaycases.cli.output import complain, say, say_json, write_file
from replaycases.cli.reading import INVALID, USAGE, Refused, read_bytes, read_json
from replaycases.fixture import strict_json
from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.findings import Finding as Fault
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.redaction.places import Finding
from replaycases.redaction.policy import BUILT_IN, Policy, PolicyInvalid, read_policy
from replaycases.redaction.redact import Redaction, redact
from replaycases.redaction.report import as_json, counts, line_of, pointer_of, row_of
from replaycases.redaction.scan import Detectors, scan, sources
from replaycases.redaction.surrogates.surrogates import NoSurrogate

SHOWN = 50
"""Findings that are listed for people; a JSON report has all."""


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "redact",
        help="replace what identifies somebody, relations kept",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_common(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="write the result here")
    parser.set_defaults(run=run_redact)
    parser = commands.add_parser("scan", help="say what of a document should not leave", description=__doc__)
    _add_common(parser)
    parser.set_defaults(run=run_scan)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a fixture, or any JSON document")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="what counts as what (docs/redaction.md)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run_redact(options: argparse.Namespace) -> int:
    document, policy = _document(options.file), _policy(options.policy)
    try:
        redaction = redact(document, policy=policy, key=secrets.token_bytes(32))
    except NoSurrogate as refusal:
        raise Refused(INVALID, f"{options.file}: {refusal}. Nothing was written.") from None
    _say(options, redaction)
    if redaction.open or redaction.lost:
        complain(f"{options.output} was not written: {len(redaction.open)} open, {len(redaction.lost)} relations lost.")
        complain("What is open is decided by a policy (fields, allowed, aliases: docs/redaction.md) or by hand.")
        return INVALID
    _require_still_valid(options.file, document, redaction.document)
    write_file(options.output, canonical_bytes(redaction.document) + b"\n")
    return 0


def run_scan(options: argparse.Namespace) -> int:
    document, policy = _document(options.file), _policy(options.policy)
    result = scan(sources(document), Detectors(policy), policy)
    findings = [one.finding() for one in (*result.blind, *result.found)]
    if options.json:
        say_json({"file": str(options.file), "findings": [row_of(finding) for finding in findings]})
    else:
        _say_findings(findings)
        say(f"{options.file}: {len(findings)} found, {len(result.kept)} left as they stand by rule or policy")
    return INVALID if findings else 0


def _document(path: Path) -> Any:
    try:
        return strict_json.parse(read_bytes(path))
    except FixtureInvalid as invalid:
        raise Refused(INVALID, f"{path}: cannot be read", _shown(invalid)) from None


def _policy(path: Path | None) -> Policy:
    if path is None:
        return BUILT_IN
    try:
        return read_policy(read_json(path))
    except PolicyInvalid as invalid:
        raise Refused(USAGE, "\n".join(f"{path}: {problem}" for problem in invalid.problems)) from None


def _require_still_valid(path: Path, before: Any, after: Any) -> None:
    """A fixture stays one. A document that was none is not asked."""
    try:
        load_fixture(canonical_bytes(before))
    except FixtureInvalid:
        return
    try:
        load_fixture(canonical_bytes(after))
    except FixtureInvalid as invalid:
        text = f"{path}: a replacement breaks the fixture. Nothing was written."
        raise Refused(INVALID, text, _shown(invalid)) from None


def _shown(invalid: FixtureInvalid) -> list[Fault]:
    """The faults of a document whose names of members may be values."""
    return [replace(fault, pointer=pointer_of(fault.pointer)) for fault in invalid.findings]


def _say(options: argparse.Namespace, redaction: Redaction) -> None:
    if options.json:
        say_json({"file": str(options.file), **as_json(redaction)})
        return
    _say_findings(redaction.open)
    for fact in redaction.lost[:SHOWN]:
        say(f"lost: a relation ({fact.relation}) between values of kind {fact.kind}")
    kept = len(redaction.facts) - len(redaction.lost)
    say(f"{options.file}: replaced {counts(redaction)}; {kept} relations kept; {len(redaction.open)} open")


def _say_findings(findings: list[Finding] | tuple[Finding, ...]) -> None:
    for finding in findings[:SHOWN]:
        say(line_of(finding))
    if len(findings) > SHOWN:
        say(f"and {len(findings) - SHOWN} more; --json lists all")
