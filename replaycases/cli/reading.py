"""Files to fixtures, with the sentence and the exit code for whatever is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.fixture.strict_json import parse

USAGE = 2
INVALID = 10
NOT_FIXTURES = (".detect.json", ".mutation.json")


class Refused(Exception):
    """The command cannot go on. `code` is the exit code, `text` says what is wrong and what to do; `findings` may
    say it in detail."""

    def __init__(self, code: int, text: str, findings: Sequence[Finding] = ()) -> None:
        self.code, self.text, self.findings = code, text, tuple(findings)
        super().__init__(text)


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Refused(USAGE, f"{path}: cannot be read: {error.strerror}. Name a file that exists.") from None


def read_json(path: Path) -> Any:
    try:
        return parse(read_bytes(path))
    except FixtureInvalid as error:
        raise Refused(USAGE, f"{path}: is not strict JSON", error.findings) from None


def detect_beside(path: Path) -> Path | None:
    """The detect rules that stand beside a 1.0 fixture as NAME.detect.json, if there are any."""
    beside = path.with_name(f"{path.stem}.detect.json")
    return beside if beside.is_file() else None


def read_fixture(path: Path, detect: Path | None = None) -> Fixture:
    """Load a fixture with the rules named, or those beside it. Raises Refused with exit code 10 and every finding."""
    rules = detect or detect_beside(path)
    try:
        return load_fixture(read_bytes(path), detect=read_bytes(rules) if rules else None)
    except FixtureInvalid as error:
        raise Refused(INVALID, f"{path}: the fixture is invalid", error.findings) from None


def fixture_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The fixtures among files and folders: a named file as it is, a folder's *.json below it, by name."""
    for path in paths:
        yield from sorted(filter(_may_be_fixture, path.rglob("*.json"))) if path.is_dir() else [path]


def _may_be_fixture(path: Path) -> bool:
    return not path.name.endswith(NOT_FIXTURES) and path.name != "suite.json"


def fixtures_in(directory: Path) -> list[Path]:
    """The fixtures that stand in a folder itself, by name. Raises Refused for no folder, or one without fixtures."""
    if not directory.is_dir():
        raise Refused(USAGE, f"{directory}: there is no such folder. Name the one with the fixtures.")
    files = sorted(path for path in directory.glob("*.json") if _may_be_fixture(path))
    if not files:
        raise Refused(USAGE, f"{directory}: holds no fixture. Name a folder with *.json fixtures.")
    return files
