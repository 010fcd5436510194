"""A frozen process: one instant, one stream of randomness, in every interpreter that the harness supports."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from replaycases.harness import freeze

HARNESS = Path(freeze.__file__).parent
NANOSECONDS = 1743296399123456000  # 2025-03-30T00:59:59.123456Z
SECONDS = 1743296399.123456
LOOK = """
import sys
sys.path.insert(0, sys.argv[1])
exec(sys.argv[4])
from harness.freeze import freeze
freeze(int(sys.argv[2]), sys.argv[3])
exec(sys.argv[5])
import datetime, json, os, pickle, random, secrets, time, uuid
now = datetime.datetime.now()
print(json.dumps({
    "time": time.time(), "time_ns": time.time_ns(), "clock": time.clock_gettime(time.CLOCK_REALTIME),
    "now": now.isoformat(), "utc": datetime.datetime.now(datetime.timezone.utc).isoformat(),
    "today": datetime.datetime.today().isoformat(), "date": datetime.date.today().isoformat(),
    "local": list(time.localtime())[:6], "hour": time.strftime("%H"),
    "kind": type(now) is datetime.datetime and isinstance(now + datetime.timedelta(1), datetime.datetime),
    "pickled": pickle.loads(pickle.dumps(now)) == now,
    "ticks": time.monotonic() > 0,
    "random": [random.random(), random.Random().random(), random.SystemRandom().random(), secrets.token_hex(4),
               os.urandom(3).hex(), str(uuid.uuid4())],
    "uuid1": uuid.uuid1().time,
    "seeded": random.Random(7).random(),
}))
"""


def interpreters() -> list[str]:
    """Each Python of 3.9 or newer that this machine has, one a version."""
    homes = [Path(sys.executable), Path("/usr/bin/python3"), *Path.home().glob(".pyenv/versions/3.*/bin/python3")]
    found: dict[str, str] = {}
    for path in homes:
        if path.exists():
            code = "import sys; print(sys.version_info >= (3, 9), sys.version.split()[0])"
            recent, version = subprocess.run([path, "-c", code], capture_output=True, text=True).stdout.split()
            if recent == "True":
                found.setdefault(version, str(path))
    return list(found.values())


def look(
    python: str, mechanism: str, zone: str = "UTC", at: int = NANOSECONDS, *, before: str = "", after: str = ""
) -> dict[str, Any]:
    """What a process sees that is frozen between running `before` and `after`."""
    command = [python, "-s", "-c", LOOK, str(HARNESS.parent), str(at), mechanism, before, after]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TZ": zone}, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def mechanisms() -> list[Any]:
    stdlib = [pytest.param(python, "stdlib", id=f"stdlib-{Path(python).parents[1].name}") for python in interpreters()]
    missing = pytest.mark.skipif(importlib.util.find_spec("time_machine") is None, reason="time-machine is missing")
    return [*stdlib, pytest.param(sys.executable, "time-machine", marks=missing, id="time-machine")]


@pytest.mark.parametrize(("python", "mechanism"), mechanisms())
def test_wall_clock_and_randomness_stand_still(python: str, mechanism: str) -> None:
    seen = look(python, mechanism)
    assert seen["time"] == seen["clock"] == pytest.approx(SECONDS, abs=1e-6)
    assert seen["time_ns"] // 1000 == 1743296399123456
    assert seen["now"] == seen["today"] == "2025-03-30T00:59:59.123456"
    assert seen["utc"] == "2025-03-30T00:59:59.123456+00:00"
    assert (seen["date"], seen["hour"], seen["local"]) == ("2025-03-30", "00", [2025, 3, 30, 0, 59, 59])
    assert (seen["kind"], seen["pickled"], seen["ticks"]) == (True, True, True)
    assert look(python, mechanism) == seen


@pytest.mark.parametrize(("python", "mechanism"), mechanisms())
def test_local_time_is_that_of_the_zone(python: str, mechanism: str) -> None:
    assert look(python, mechanism, zone="Europe/Berlin")["now"] == "2025-03-30T01:59:59.123456"


def test_every_interpreter_draws_the_same() -> None:
    drawn = {json.dumps(look(python, "stdlib")["random"]) for python in interpreters()}
    assert len(drawn) == 1


def test_another_instant_draws_something_else_but_a_seed_given_by_the_workflow_stays() -> None:
    one, other = look(sys.executable, "stdlib"), look(sys.executable, "stdlib", at=NANOSECONDS + 1000)
    assert one["random"] != other["random"]
    assert one["seeded"] == other["seeded"]


@pytest.mark.parametrize("python", interpreters())
def test_what_was_imported_before_it_froze_is_frozen_as_what_is_imported_after(python: str) -> None:
    assert look(python, "stdlib", before="import datetime, random, uuid") == look(python, "stdlib")


@pytest.mark.parametrize("python", interpreters())
def test_a_module_that_is_imported_again_stays_frozen(python: str) -> None:
    again = "import datetime, importlib, random, uuid\nfor module in (datetime, random, uuid): importlib.reload(module)"
    assert look(python, "stdlib", after=again) == look(python, "stdlib")
