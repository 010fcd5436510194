from __future__ import annotations

import subprocess
import sys

import pytest

CHILD = """
import os, signal, time
from replaycases.cases.processes import die_with_parent

parent, (heard, tell) = os.getpid(), os.pipe()
if os.fork():
    {parent_does}
    os._exit(0)
{before}
die_with_parent(signal.SIGKILL, parent)
os.write(tell, b"asked")
{after}
os.write(1, b"outlived it")
"""


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"before": "while os.getppid() == parent: time.sleep(0.001)"}, b""),
        ({"parent_does": "os.read(heard, 5)", "after": "signal.pause()"}, b""),
        ({"parent_does": "os.wait()"}, b"outlived it"),
    ],
    ids=["parent-ended-before-it-was-asked", "parent-ends-later", "parent-lives"],
)
def test_a_child_stays_only_while_its_parent_does(parts: dict[str, str], said: bytes) -> None:
    """Standard output closes when no process has it any more, so a child that stays would be waited for."""
    code = CHILD.format(**{"before": "", "after": "", "parent_does": ""} | parts)
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False, timeout=60)
    assert run.stdout == said
