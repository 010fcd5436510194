"""Files to fixtures, with the sentence and the exit code for whatever is wrong with them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.lane_index import LANE_FILE
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.fixture.strict_json import parse
from replaycases.verdict.manifest import MANIFEST_LIMITS

LARGEST = MANIFEST_LIMITS.max_bytes
"""Bytes of the largest file that any command reads; each kind of document has its own limit below that."""

USAGE = 2
INVALID = 10
NOT_FIXTURES = (".detect.json", ".mutation.json", ".manifest.json", ".metadata.json")
NO_FIXTURE_NAMES = ("suite.json", LANE_FILE)


class Refused(Exception):
    """The command cannot go on. `code` is the exit code, `text` says what is wrong and what to do; `findings` may
    say it in detail."""

    def __init__(self, code: int, text: str, findings: Sequence[Finding] = ()) -> None:
        self.code, self.text, self.findings = code, text, tuple(findings)
        super().__init__(text)


def read_bytes(path: Path) -> bytes:
    """A regular file's bytes, at most LARGEST."""
    with opened(path) as stream:
        try:
            data = stream.read(LARGEST + 1)
        except OSError as error:
            raise _unread(path, error) from None
    if len(data) > LARGEST:
        raise _too_large(path)
    return data


def opened(path: Path) -> IO[bytes]:
    """A regular file of at most LARGEST bytes. A pipe or device is refused: it might never end, or never begin."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        stream = os.fdopen(descriptor, "rb")
    except OSError as error:
        raise _unread(path, error) from None
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST:
        return stream
    stream.close()
    if found.st_size > LARGEST:
        raise _too_large(path)
    raise Refused(USAGE, f"{path}: cannot be read: not a regular file. Save its content to a file and name that.")


def _unread(path: Path, error: OSError) -> Refused:
    return Refused(USAGE, f"{path}: cannot be read: {error.strerror}. Name a file that exists.")


def _too_large(path: Path) -> Refused:
    return Refused(USAGE, f"{path}: larger than {LARGEST} bytes, and so nothing that is read here")


def is_folder(path: Path) -> bool:
    """Raises Refused where that cannot be told: what nobody could see must not count as what is not there."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Like is_folder."""
    return stat.S_ISREG(_mode(path))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
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
    return beside if is_file(beside) else None


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
        yield from sorted(filter(_may_be_fixture, _below(path))) if is_folder(path) else [path]


def json_below(folder: Path) -> Iterator[Path]:
    """Every file of a folder and those below it that is named as JSON."""
    return (path for path in _below(folder) if path.suffix == ".json")


def _below(folder: Path) -> Iterator[Path]:
    """Every file; links to folders are not followed."""
    for place, _, names in os.walk(folder, onerror=_refuse_unlisted):
        yield from (Path(place, name) for name in names)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        _refuse_unlisted(error)
        raise


def _refuse_unlisted(error: OSError) -> None:
    text = f"{error.filename}: cannot be listed: {error.strerror}. Make the folder readable or name its files."
    raise Refused(USAGE, text) from None


def _may_be_fixture(path: Path) -> bool:
    return path.suffix == ".json" and not path.name.endswith(NOT_FIXTURES) and path.name not in NO_FIXTURE_NAMES


def fixtures_in(directory: Path) -> list[Path]:
    """The fixtures that stand in a folder itself, by name. Raises Refused for no folder, or one without fixtures."""
    if not is_folder(directory):
        raise Refused(USAGE, f"{directory}: there is no such folder. Name the one with the fixtures.")
    files = [path for path in _listed(directory) if _may_be_fixture(path)]
    if not files:
        raise Refused(USAGE, f"{directory}: holds no fixture. Name a folder with *.json fixtures.")
    return files
