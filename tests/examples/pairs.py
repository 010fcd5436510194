"""The real thing: sandboxed runs of two versions, recomputed and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.controls import judge, mutate
from replaycases.replay.implementation import Implementation, load_implementation
from replaycases.replay.recompute import recompute
from replaycases.replay.runs import replay_set
from replaycases.replay.sandbox.base import EnvironmentUnavailable
from replaycases.replay.sandbox.tiers import choose_tier
from replaycases.verdict.comparison import Comparison, compare
from replaycases.verdict.control_result import ControlResult
from replaycases.verdict.verified import VerifiedManifest
from tests.services import require

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def require_isolation() -> None:
    try:
        choose_tier()
    except EnvironmentUnavailable as missing:
        require("an isolation tier", str(missing))


def implementations(folder: Path) -> tuple[Implementation, Implementation]:
    """(affected, fixed)."""
    return load_implementation(folder / "affected.json"), load_implementation(folder / "fixed.json")


def read_fixture(path: Path) -> Fixture:
    detect = path.with_name(f"{path.stem}.detect.json")
    return load_fixture(path.read_bytes(), detect=detect.read_bytes() if detect.exists() else None)


def verified(fixture: Fixture, implementation: Implementation) -> list[VerifiedManifest]:
    return [recompute(fixture, manifest) for manifest in replay_set(fixture, implementation)]


def verdict(
    fixture: Fixture, old: Implementation, new: Implementation, *, controls: Sequence[ControlResult] = ()
) -> Comparison:
    return compare(fixture, verified(fixture, old), verified(fixture, new), controls=controls)


def control_paths(case: Path) -> list[Path]:
    folder = case.parent / "controls" / case.stem
    return sorted(path for path in folder.glob("*.json") if not path.name.endswith(".mutation.json"))


def control_result(path: Path, new: Implementation) -> ControlResult:
    fixture = read_fixture(path)
    mutated = load_fixture(mutate(path.read_bytes(), path.with_name(f"{path.stem}.mutation.json").read_bytes()))
    return judge(path.stem, fixture, replay_set(fixture, new, runs=1), replay_set(mutated, new, runs=1))
