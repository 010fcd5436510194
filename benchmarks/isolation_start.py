"""Cold start of each isolation tier against plain `bwrap … python -c pass`: medians of interleaved pairs, and ratios.

Usage: python benchmarks/isolation_start.py [PAIRS]
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from replaycases.replay.sandbox.base import Launch, Limits, Tier
from replaycases.replay.sandbox.identity import popen_identity
from replaycases.replay.sandbox.interpreter import usable_interpreter
from replaycases.replay.sandbox.tiers import tiers

PLAIN = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
    *("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
    *("--symlink", "usr/bin", "/bin", "--ro-bind", "/etc/ssl", "/etc/ssl"),
    *("--ro-bind", "/etc/ld.so.cache", "/etc/ld.so.cache", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
)


def plain(interpreter: Path) -> None:
    """What the figures are compared with: no limits, no filter, no guard."""
    subprocess.run([*PLAIN, str(interpreter), "-c", "pass"], check=True, cwd="/", **popen_identity())


def confined(tier: Tier, interpreter: Path) -> None:
    """Our start to our end: the same program, and nothing of it left."""
    launch = Launch(argv=(str(interpreter), "-c", "pass"), mounts=(), workdir="/", env={}, interpreter=interpreter)
    ours, theirs = socket.socketpair()
    null = os.open(os.devnull, os.O_WRONLY)
    with ours, theirs:
        running = tier.start(launch, Limits(), protocol_fd=theirs.fileno(), stderr_fd=null, stdout_fd=null)
        assert running.wait(60) == 0
    os.close(null)


def milliseconds(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def pairs(tier: Tier, interpreter: Path, count: int) -> tuple[list[float], list[float]]:
    """Interleaved, so that a busy machine slows both."""
    baseline, ours = [], []
    for _ in range(count):
        baseline.append(milliseconds(lambda: plain(interpreter)))
        ours.append(milliseconds(lambda: confined(tier, interpreter)))
    return baseline, ours


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    interpreter = usable_interpreter()
    for tier in tiers():
        if (reason := tier.unavailable()) is not None:
            print(f"{tier.name:11} not here: {reason}")
            continue
        baseline, ours = pairs(tier, interpreter, count)
        ratio = statistics.median(mine / theirs for mine, theirs in zip(ours, baseline, strict=True))
        print(
            f"{tier.name:11} {statistics.median(ours):6.1f} ms, plain bwrap {statistics.median(baseline):6.1f} ms,"
            f" ratio {ratio:.2f}"
        )


if __name__ == "__main__":
    main()
