"""Cost of a cold sandboxed replay against the bare sandbox: a run may take 1.5 times `bwrap … python -c pass` plus the
workflow's own import. Two ratios are printed, since that can be read in two ways: with the import set aside on both
sides (the stricter), and the whole run against bare start and import together.

Run as `python benchmarks/cold_start.py`; the last line is JSON. Seconds are medians over rounds in which bare start,
bare import and whole replay (ten recorded calls, manifest included) take turns, so that a busy machine slows all three.
The ratio of the fastest rounds is what remains when a busy machine is left out. The workflow imports json, as nearly
all do; one that does not pays about 5 ms for the harness's. Copying the implementation and asking its interpreter what
it is happen once a set and stand apart.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation, load_implementation
from replaycases.replay.launching import prepare
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier
from replaycases.replay.sandbox.identity import open_to_sandbox, popen_identity
from replaycases.replay.sandbox.interpreter import usable_interpreter
from replaycases.replay.sandbox.tiers import choose_tier
from replaycases.replay.staging import Staged, staged
from replaycases.replay.supervisor import replay_once

ROUNDS, CALLS, PROMISE = 30, 10, 1.5
WORKFLOW = """
import dataclasses, decimal, json, re

def replay(session):
    for number in range(len(session.input)):
        session.tools.call("lookup", {"order": number})
    session.finish("Looked up.")
"""


def make_fixture() -> Fixture:
    events = [
        {"attempt": f"a{n}", "tool": "lookup", "arguments": {"order": n}, "outcome": {"type": "result", "value": n}}
        for n in range(CALLS)
    ]
    document = {
        "schema_version": "1.0",
        "case_id": "BENCH-1",
        "incident_id": "INC-1",
        "workflow_version": "1",
        "prompt_version": "1",
        "frozen_at": "2025-03-30T00:59:59+00:00",
        "input": list(range(CALLS)),
        "identity": {"subject": "customer-1"},
        "tool_events": events,
        "expected": {"prohibited_claims": ["Refunded."]},
    }
    return load_fixture(json.dumps(document).encode())


def make_implementation(folder: Path, clock: dict[str, str]) -> Implementation:
    (folder / "code").mkdir(exist_ok=True)
    (folder / "code" / "agent.py").write_text(WORKFLOW)
    adapter = {"kind": "python", "target": "agent:replay"}
    spec = {"name": "bench", "version": "1", "commit": "0", "path": "code", "adapter": adapter} | clock
    (folder / "implementation.json").write_text(json.dumps(spec))
    return load_implementation(folder / "implementation.json")


def bare(workflow: Path, code: str) -> None:
    """The smallest useful bwrap command: a read-only root of system folders, all namespaces, no network."""
    command = [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
        *("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
        *("--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *("--ro-bind", str(workflow), "/workflow", "--chdir", "/workflow"),
        *(str(usable_interpreter()), "-c", code),
    ]
    subprocess.run(command, check=True, cwd="/", stdin=subprocess.DEVNULL, **popen_identity())


def seconds(action: Callable[[], Any]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def measure(tier: Tier, folder: Path, clock: dict[str, str]) -> dict[str, float]:
    fixture, implementation = make_fixture(), make_implementation(folder, clock)
    with staged(implementation) as copies:
        first = seconds(lambda: prepare(tier, implementation, copies))
        rounds = [one_round(tier, fixture, implementation, copies) for _ in range(ROUNDS)]
    return figures_of(rounds) | {"once_a_set": first}


def figures_of(rounds: list[tuple[float, float, float]]) -> dict[str, float]:
    columns = list(zip(*rounds, strict=True))
    start, imported, replay = (statistics.median(column) for column in columns)
    least_start, least_imported, least_replay = (min(column) for column in columns)
    return {
        "bare_start": start,
        "workflow_import": imported - start,
        "replay": replay,
        "ratio": (replay - (imported - start)) / start,
        "ratio_to_start_and_import": replay / imported,
        "ratio_of_fastest": (least_replay - (least_imported - least_start)) / least_start,
    }


def one_round(
    tier: Tier, fixture: Fixture, implementation: Implementation, copies: Staged
) -> tuple[float, float, float]:
    def replay() -> None:
        manifest = replay_once(fixture, implementation, tier=tier, copies=copies)
        if manifest.status != "completed":
            raise SystemExit(f"the run is {manifest.status}: {manifest['reason']}\n{manifest['stderr']}")

    return (
        seconds(lambda: bare(copies.workflow, "pass")),
        seconds(lambda: bare(copies.workflow, "import agent")),
        seconds(replay),
    )


def main() -> None:
    if shutil.which("bwrap") is None:
        raise SystemExit("bwrap is not installed (Debian, Ubuntu: apt install bubblewrap)")
    try:
        tier = choose_tier("bubblewrap")
    except EnvironmentUnavailable as missing:
        raise SystemExit(str(missing)) from None
    with tempfile.TemporaryDirectory() as folder:
        open_to_sandbox(Path(folder))
        figures = {
            name: {key: round(value, 4) for key, value in measure(tier, Path(folder), clock).items()}
            for name, clock in {"uncontrolled": {}, "frozen": {"clock": "frozen"}}.items()
        }
    for name, found in figures.items():
        ms = {key: f"{value * 1000:.1f} ms" for key, value in found.items()}
        print(f"clock {name}: bare start {ms['bare_start']}, workflow's import {ms['workflow_import']}")
        print(f"  replay of {CALLS} calls {ms['replay']}, once a set {ms['once_a_set']}")
        print(
            f"  import aside {found['ratio']:.2f} times, fastest {found['ratio_of_fastest']:.2f}; against start and "
            f"import {found['ratio_to_start_and_import']:.2f} (promise: {PROMISE})"
        )
    print(json.dumps({"benchmark": "cold_start", "cpus": os.cpu_count(), **figures}))


if __name__ == "__main__":
    main()
