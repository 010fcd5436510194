"""A folder that `replaycases pull` wrote: held against the index that stands in it before anything is run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from replaycases.cli.reading import INVALID, Refused, is_file, json_below, read_bytes
from replaycases.fixture.lane_index import (
    LANE_FILE,
    LaneIndex,
    LaneIndexInvalid,
    ListedCase,
    ListedControl,
    ListedFile,
    owner_of,
    parse,
)
from replaycases.fixture.model import Fixture


@dataclass(frozen=True, kw_only=True)
class PulledLane:
    """`faults` names what is wrong with the files of a case, by its readable id. `extra` are JSON files that the index
    does not list: nobody reviewed them for this lane."""

    folder: Path
    index: LaneIndex
    faults: Mapping[str, str]
    extra: tuple[str, ...]

    def fixture(self, entry: ListedCase) -> Path:
        return self.folder / f"{entry.readable_id}.json"

    def control(self, control: ListedControl) -> Path:
        return self.folder / control.fixtures[0]

    def old_manifests(self, entry: ListedCase) -> list[Path]:
        return [self.folder / file.path for file in entry.files if file.path.startswith("old/")]


def read_lane(folder: Path) -> PulledLane | None:
    """The lane, or None for a folder that was not pulled. Raises Refused with exit code 10 for an index that is none,
    was altered, or is gone while the affected version's manifests that came with it are there."""
    path = folder / LANE_FILE
    if not is_file(path):
        if os.path.lexists(path) or any(folder.glob("old/*/*.manifest.json")):
            raise Refused(INVALID, f"{path}: is missing or no file, and this folder was pulled. Pull the lane again.")
        return None
    try:
        index = parse(read_bytes(path))
    except LaneIndexInvalid as error:
        raise Refused(INVALID, f"{path}: {error} Pull the lane again.") from None
    listed = {file.path for file in index.files()}
    found = {str(path.relative_to(folder)) for path in json_below(folder)} - {LANE_FILE}
    return PulledLane(folder=folder, index=index, faults=_faults(folder, index), extra=tuple(sorted(found - listed)))


def _faults(folder: Path, index: LaneIndex) -> dict[str, str]:
    faults: dict[str, str] = {}
    for file in index.files():
        fault = _fault(folder / file.path, file)
        if fault:
            faults.setdefault(owner_of(file.path), f"{file.path} {fault}")
    return faults


def _fault(path: Path, file: ListedFile) -> str:
    """A file that cannot be read is a fault of its case, and does not keep the others from being judged."""
    try:
        if not is_file(path):
            return "is missing"
        if path.stat().st_size != file.size or digest_of(read_bytes(path)) != file.sha256:
            return "was altered"
    except (Refused, OSError):
        return "cannot be read"
    return ""


def not_as_listed(fixture: Fixture, entry: ListedCase) -> str:
    """What the fixture says otherwise than the index; "" if they agree."""
    for name in ("case_id", "fixture_hash", "content_hash", "checks_hash"):
        if getattr(fixture, name) != getattr(entry, name):
            return f"its {name} is not the one that the index lists"
    return ""


def digest_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
