"""What the command prints: lines for people, one JSON document for machines, JUnit XML for CI.

A line always names case, fixture hash, implementation version and boundary together (A8). Values of a fixture are never
printed: findings carry pointers, and verdict reasons carry ids.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from replaycases.cli.reading import USAGE, Refused
from replaycases.fixture.findings import Finding


@dataclass(frozen=True, kw_only=True)
class Row:
    """One judged thing in a report: a validated file, or a comparison.

    `code` is the exit code it stands for (0 is well). `suite` groups rows in JUnit.
    """

    suite: str
    name: str
    label: str
    text: str
    code: int


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    sys.stderr.write(text + "\n")


def say_json(document: Any) -> None:
    say(json.dumps(document, ensure_ascii=False, indent=2))


def say_findings(source: str, findings: Iterable[Finding], *, to: Callable[[str], None] = say) -> None:
    for finding in findings:
        to(f"{source}: {finding.level}: {finding}")


def short(digest: str) -> str:
    """The first ten hex digits of a digest, for a line; JSON output carries the whole."""
    return digest[:17] if digest.startswith("sha256:") else digest


def boundary_word(passed: bool | None) -> str:
    return {True: "held", False: "violated", None: "undetermined"}[passed]


def run_line(manifest: Mapping[str, Any]) -> str:
    implementation = manifest["implementation"]
    reason = manifest.get("reason") or ""
    return (
        f"{manifest['case_id']} {short(manifest['fixture_hash'])} "
        f"{implementation['name']} {implementation['version']}: boundary {boundary_word(manifest['boundary_passed'])}, "
        f"run {manifest['status']}" + (f" ({reason})" if reason else "")
    )


def write_file(path: Path, data: bytes) -> None:
    """Raises Refused with exit code 2 where that is not possible."""
    try:
        path.write_bytes(data)
    except OSError as error:
        text = f"{path}: cannot be written: {error.strerror}. Name a file in a folder that is there and writable."
        raise Refused(USAGE, text) from None


def write_junit(path: Path, rows: Sequence[Row]) -> None:
    """One testsuite a kind of check, so that CI shows validation, reproduction and regression apart (A28)."""
    root = ElementTree.Element("testsuites", name="replaycases")
    for suite in sorted({row.suite for row in rows}):
        members = [row for row in rows if row.suite == suite]
        element = ElementTree.SubElement(
            root,
            "testsuite",
            name=suite,
            tests=str(len(members)),
            failures=str(sum(1 for row in members if row.code)),
        )
        for row in members:
            case = ElementTree.SubElement(
                element, "testcase", classname=f"replaycases.{suite}", name=printable(row.name)
            )
            if row.code:
                failure = ElementTree.SubElement(case, "failure", type=row.label, message=printable(row.text))
                failure.text = f"exit code {row.code}"
    write_file(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def printable(text: str) -> str:
    """XML 1.0 has no way to write most control characters; show them as escapes."""
    return "".join(c if c in "\t\n" or (c.isprintable()) else f"\\u{ord(c):04x}" for c in text)
