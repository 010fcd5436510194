"""The strongest tier that works is taken, a named one is never replaced, and a refusal says what to do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier
from replaycases.replay.sandbox.tiers import choose_tier, tiers
from tests.replay.sandbox.confined import ROOT

# As the default profile of container engines: no new namespaces and no mounts, but for what follows.
IN_A_CONTAINER = """
import platform, sys
from replaycases.replay.sandbox.base import EnvironmentUnavailable
from replaycases.replay.sandbox.guard import kernel, seccomp
from replaycases.replay.sandbox.tiers import choose_tier, tiers
seccomp.ABSENT = ("clone3",)
seccomp.REFUSED = ("unshare", "mount", "pivot_root")
machine = platform.machine()
seccomp._own_limits = seccomp._stream_pair = lambda: [seccomp._return(seccomp.ALLOW)]
seccomp.NUMBERS[machine] |= {"landlock_create_ruleset": 444}
if "landlock" in sys.argv: seccomp.REFUSED += ("landlock_create_ruleset",)
program = seccomp.program(machine)
kernel.filter_system_calls(program)
"""
CHOOSE = """
import importlib; importlib.reload(seccomp)
try:
    print(choose_tier().name)
except EnvironmentUnavailable as refused:
    print(refused)
"""


def choose_in_a_container(*denied: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CONTAINER + CHOOSE, *denied],
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.decode().strip()


def test_tiers_are_listed_strongest_first() -> None:
    assert [tier.name for tier in tiers()] == ["bubblewrap", "namespaces", "seccomp", "process"]


def test_the_strongest_that_works_is_taken(tier: Tier) -> None:
    works = [candidate for candidate in tiers() if candidate.unavailable() is None]
    assert choose_tier() is works[0]


def test_a_named_tier_is_taken(tier: Tier) -> None:
    assert choose_tier(tier.name) is tier


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(EnvironmentUnavailable, match="bubblewrap, namespaces, seccomp, process"):
        choose_tier("docker")


def test_no_isolation_must_be_allowed_even_when_named() -> None:
    with pytest.raises(EnvironmentUnavailable, match="REPLAYCASES_ALLOW_PROCESS=1"):
        choose_tier("process")
    assert choose_tier("process", allow_process=True).name == "process"


def test_allowing_no_isolation_does_not_prefer_it(tier: Tier) -> None:
    assert choose_tier(allow_process=True).name != "process"


def test_a_confining_tier_says_what_it_denies_and_what_was_probed(tier: Tier) -> None:
    assert dict(tier.surfaces) == {"network": "denied", "files": "controlled", "environment": "controlled"}
    assert tier.probed == ("network", "outside_file", "outside_write", "parent_environment")


def test_no_isolation_controls_nothing_and_says_so() -> None:
    process = choose_tier("process", allow_process=True)
    assert set(process.surfaces.values()) == {"uncontrolled"}
    assert process.probed == ()


def test_in_a_container_without_namespaces_the_tier_without_privilege_is_taken(seccomp_tier: Tier) -> None:
    assert choose_in_a_container() == "seccomp"


def test_with_no_tier_at_all_every_reason_is_given() -> None:
    message = choose_in_a_container("landlock")
    for part in ("- bubblewrap: ", "- namespaces: ", "- seccomp: ", "lsm=", "REPLAYCASES_ALLOW_PROCESS=1"):
        assert part in message
