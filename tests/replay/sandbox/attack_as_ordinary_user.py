"""Run by test_ordinary_user as a user who is not root: what a program tries against its own user, as JSON.

Usage: attack_as_ordinary_user.py TIER FOLDER
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from replaycases.replay.sandbox.tiers import tiers
from tests.replay.sandbox.confined import run

CODE = """
victim, supervisor = int(sys.argv[1]), int(sys.argv[2])
path = sys.argv[3]
guard = os.getppid()
attacks = {
    "end another process": lambda: os.kill(victim, signal.SIGKILL),
    "stop the supervisor": lambda: os.kill(supervisor, signal.SIGSTOP),
    "stop every process": lambda: os.kill(-1, signal.SIGSTOP) if guard != 1 else os.kill(victim, signal.SIGSTOP),
    "end the guard": lambda: os.kill(guard, signal.SIGKILL) if guard != 1 else os.kill(victim, signal.SIGKILL),
    "read a file": lambda: open(path).read(),
    "write a file": lambda: open(path, "w"),
    "open up a file": lambda: os.chmod(path, 0o777),
    "remove a file": lambda: os.unlink(path),
}
print(json.dumps([os.getuid(), [name for name, attack in attacks.items() if attempt(attack) == "worked"]]))
"""

name, folder = sys.argv[1:]
tier = next(tier for tier in tiers() if tier.name == name)
mine = Path(folder, f"mine-{name}")
mine.write_text("mine", encoding="utf-8")
with subprocess.Popen(["sleep", "1000"]) as victim:
    try:
        status, output = run(tier, CODE, str(victim.pid), str(os.getpid()), str(mine))
        print(json.dumps([status, tier.unavailable(), output, victim.poll(), mine.read_text(encoding="utf-8")]))
    finally:
        victim.kill()
