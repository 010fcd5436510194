"""Started by an ordinary user the program runs as that user, and still cannot touch what the user owns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import Tier
from replaycases.replay.sandbox.interpreter import usable_interpreter
from tests.replay.sandbox.confined import ROOT, hides_processes
from tests.services import require

UID = 23456  # nobody's: not root, and not the user that root's programs run as


def python_as_ordinary_user(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    root = os.geteuid() == 0
    return subprocess.run(
        [str(usable_interpreter()) if root else sys.executable, *arguments],
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        stdout=subprocess.PIPE,
        check=False,
        **({"user": UID, "group": UID, "extra_groups": []} if root else {}),
    )


@pytest.fixture(scope="module")
def readable_repository() -> None:
    done = python_as_ordinary_user("-c", "import tests.replay.sandbox.confined")
    require("a repository that other users can read", None if done.returncode == 0 else f"chmod o+rx {ROOT}")


@pytest.mark.usefixtures("readable_repository")
def test_the_user_s_files_and_processes_are_out_of_reach(tier: Tier, outside: Path) -> None:
    script = Path(__file__).with_name("attack_as_ordinary_user.py")
    done = python_as_ordinary_user(str(script), tier.name, str(outside))
    assert done.returncode == 0
    status, unavailable, output, victim, text = json.loads(done.stdout)
    assert (status, unavailable, text) == (0, None, "mine"), output
    uid, succeeded = json.loads(output)
    assert uid == (UID if os.geteuid() == 0 else os.geteuid())
    assert succeeded == ([] if hides_processes(tier) else ["end another process"])
    assert (victim is None) == hides_processes(tier)
