"""Controls of a suite: files beside a case that are run on the new version, each with its mutation."""

from __future__ import annotations

from pathlib import Path

from replaycases.cli.reading import (
    INVALID,
    Refused,
    detect_beside,
    fixtures_in,
    is_file,
    is_folder,
    read_bytes,
    read_fixture,
)
from replaycases.cli.running import run_set
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.lane_index import ListedControl
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.controls import MutationInvalid, judge, mutate
from replaycases.replay.implementation import Implementation
from replaycases.replay.sandbox.base import Tier
from replaycases.verdict.control_result import ControlResult


def controls_in(folder: Path) -> list[Path]:
    return fixtures_in(folder) if is_folder(folder) else []


def judged_control(path: Path, new: Implementation, *, runs: int, tier: Tier) -> ControlResult:
    """A control that cannot be read or run is not passed: it fails the case it stands beside."""
    try:
        control = read_fixture(path)
        held = run_set(control, new, runs, tier)
        mutated = _mutated(path)
        red = run_set(mutated, new, runs, tier) if mutated else None
    except (Refused, MutationInvalid, FixtureInvalid) as error:
        return ControlResult(control=path.stem, passed=None, reason=str(error))
    return judge(path.stem, control, held, red)


def refuse_other_control(path: Path, listed: ListedControl) -> None:
    """Raises Refused with exit code 10 unless the control and its mutation are those that the index lists."""
    control = read_fixture(path)
    try:
        mutated = _mutated(path)
    except (MutationInvalid, FixtureInvalid) as error:
        raise Refused(INVALID, f"{path}: {error}") from None
    found = {
        "fixture_hash": control.fixture_hash,
        "checks_hash": control.checks_hash,
        "mutated_hash": mutated.fixture_hash if mutated else "",
    }
    for name, value in found.items():
        if value != getattr(listed, name):
            raise Refused(INVALID, f"{path}: its {name} is not the one that the index lists. Pull the lane again.")


def _mutated(path: Path) -> Fixture | None:
    mutation = path.with_name(f"{path.stem}.mutation.json")
    if not is_file(mutation):
        return None
    detect = detect_beside(path)
    data = mutate(read_bytes(path), read_bytes(mutation))
    return load_fixture(data, detect=read_bytes(detect) if detect else None)
