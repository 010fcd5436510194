"""What `replay`, `suite` and `init` share: the implementation file, the isolation tier, one declared set of runs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from replaycases.cli.reading import USAGE, Refused, is_file
from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation, ImplementationInvalid, load_implementation
from replaycases.replay.runs import DEFAULT_RUNS, replay_set
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier
from replaycases.replay.sandbox.tiers import ALLOW_PROCESS_VARIABLE, ISOLATION_VARIABLE, choose_tier
from replaycases.replay.staging import StagingFailed
from replaycases.verdict.manifest import Manifest

ENVIRONMENT = 60


def add_run_options(parser: argparse.ArgumentParser, *, fewest: int) -> None:
    parser.add_argument(
        "--runs", type=_count(fewest), default=DEFAULT_RUNS, metavar="N", help="runs a side, declared beforehand (2)"
    )
    parser.add_argument(
        "--isolation", metavar="TIER", help=f"take this tier and no other (or set {ISOLATION_VARIABLE})"
    )


def _count(fewest: int) -> Any:
    def count(text: str) -> int:
        if not text.isdecimal() or not fewest <= int(text) <= 1000:
            raise argparse.ArgumentTypeError(f"a whole number from {fewest} to 1000")
        return int(text)

    return count


def isolation_tier(options: argparse.Namespace) -> Tier:
    """The tier that the option or the environment names, else the strongest. Raises Refused with exit code 60."""
    named = options.isolation or os.environ.get(ISOLATION_VARIABLE) or None
    try:
        return choose_tier(named, allow_process=os.environ.get(ALLOW_PROCESS_VARIABLE) == "1")
    except EnvironmentUnavailable as missing:
        raise Refused(ENVIRONMENT, f"environment unavailable: {missing}") from None


def read_implementation(path: Path) -> Implementation:
    if not is_file(path):
        raise Refused(USAGE, f"{path}: there is no such implementation file. `replaycases init` writes one.")
    try:
        return load_implementation(path)
    except ImplementationInvalid as error:
        raise Refused(USAGE, str(error)) from None


def run_set(fixture: Fixture, implementation: Implementation, runs: int, tier: Tier) -> list[Manifest]:
    try:
        return replay_set(fixture, implementation, runs=runs, tier=tier)
    except StagingFailed as error:
        raise Refused(ENVIRONMENT, f"{implementation.name}: {error}") from None
