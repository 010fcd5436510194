from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import Tier
from replaycases.replay.sandbox.tiers import tiers
from tests.services import require

CONFINING = ("bubblewrap", "namespaces", "seccomp")


def named(name: str) -> Tier:
    tier = next(tier for tier in tiers() if tier.name == name)
    require(f"isolation tier {name}", tier.unavailable())
    return tier


@pytest.fixture(params=CONFINING)
def tier(request: pytest.FixtureRequest) -> Tier:
    """Each tier that confines."""
    return named(request.param)


@pytest.fixture(params=[*CONFINING, "process"])
def any_tier(request: pytest.FixtureRequest) -> Tier:
    """Each tier that ends its process tree and sets limits: all of them."""
    return named(request.param)


@pytest.fixture(params=["bubblewrap", "namespaces"])
def mounting_tier(request: pytest.FixtureRequest) -> Tier:
    """Each tier with a mount namespace of its own."""
    return named(request.param)


@pytest.fixture
def seccomp_tier() -> Tier:
    return named("seccomp")


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that file modes open to everybody, so that only the tier can refuse it."""
    folder = Path(tempfile.mkdtemp(prefix="outside-"))
    folder.chmod(0o777)
    yield folder
    # The keeper of a supervisor that was killed may be removing at this moment what was staged in it.
    shutil.rmtree(folder, ignore_errors=True)
