"""What the command prints: lines for people, one JSON document for machines, JUnit XML for CI.

A line always names case, fixture hash, implementation version and boundary together (A8). Values of a fixture are never
printed: findings carry pointers, and verdict reasons carry ids. Those, like all names, were chosen by others: what
reaches a terminal or a CI log holds no control or direction characters and starts no line with a command for the CI
system.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from replaycases.cli.reading import USAGE, Refused
from replaycases.fixture.findings import Finding

TOKEN_VARIABLE = "REPLAYCASES_TOKEN"  # noqa: S105 - a name


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


class OutputFailed(Exception):
    """Standard output takes no more; what was printed before stands. `reader_gone` where that is the reader's wish."""

    def __init__(self, error: OSError) -> None:
        self.reader_gone = isinstance(error, BrokenPipeError)
        super().__init__(f"standard output: cannot be written: {error.strerror}")


def take_streams() -> None:
    """Make standard streams fit for names in any script, and give the null device to those that were closed: a file
    or socket opened later would else take their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - lives as long as the process
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Print a line. Raises OutputFailed."""
    _print(_harmless(text))


def complain(text: str) -> None:
    sys.stderr.write(_harmless(text) + "\n")


def say_json(document: Any) -> None:
    """In ASCII, so that it is harmless and still says every character. Raises OutputFailed."""
    _print(_without_token(json.dumps(document, indent=2)).replace("\x7f", "\\u007f"))


def end_output() -> None:
    """Raises OutputFailed if what was said did not all get out."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputFailed(error) from None


def drop_output() -> None:
    """Send to nowhere what is left, or Python would try it once more at exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
    except OSError as error:
        raise OutputFailed(error) from None


def _harmless(text: str) -> str:
    """Further lines of a text, and a first one that a CI system would take for a command, are set off by a bar."""
    first, *further = printable(_without_token(text)).splitlines() or [""]
    if first.lstrip().startswith("::"):
        first = f"| {first}"
    return "\n".join([first, *(f"  | {line}" for line in further)])


def _without_token(text: str) -> str:
    """A server, or somebody in its place, can send back the token that it got. A CI log is kept and shared."""
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    return text.replace(token, "[token]") if token else text


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


_RESULTS = ("output", "junit", "manifests")


def drop_earlier(options: argparse.Namespace) -> None:
    """Remove the results that stand where this run will write its own. If it is refused or stopped, those of an earlier
    one must not be taken for its. Raises Refused with exit code 2 for a file or folder that this run reads."""
    for result in filter(None, (vars(options).get(name) for name in _RESULTS)):
        if any(_same_file(result, path) for path in _read_by(options)):
            raise Refused(USAGE, f"{result}: is read by this command. Name another place to write.")
        _remove_half(Path(os.path.realpath(result)))


def _read_by(options: argparse.Namespace) -> Iterator[Path]:
    for name, value in vars(options).items():
        if name not in _RESULTS:
            yield from (path for path in (value if isinstance(value, list) else [value]) if isinstance(path, Path))


def _same_file(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return one.samefile(other)
    return False


def write_json(path: Path, document: Any) -> None:
    """Raises Refused with exit code 2 where that is not possible. What is no text in the name of a file becomes "?"."""
    write_file(path, json.dumps(document, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def write_file(path: Path, data: bytes) -> None:
    """Raises Refused with exit code 2 where that is not possible."""
    try:
        path.write_bytes(data)
    except BaseException as error:
        _remove_half(path)
        if not isinstance(error, OSError):
            raise
        text = f"{path}: cannot be written: {error.strerror}. Name a file in a folder that is there and writable."
        raise Refused(USAGE, text) from None


def _remove_half(path: Path) -> None:
    """A file that was cut off could be taken for a whole one. Devices and pipes are left alone."""
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            path.unlink()


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
    """Control and direction characters as escapes: terminals obey them, and XML 1.0 cannot write them."""
    return "".join(c if c in "\t\n" or (c.isprintable()) else f"\\u{ord(c):04x}" for c in text)
