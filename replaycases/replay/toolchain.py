"""What the interpreter of an implementation is, asked inside the sandbox and apart from the workflow.

The answers are facts for the manifest and choose how its clock is frozen. None of them can turn a result green.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replaycases.fixture.canonical import digest
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Launch, Limits, Tier

_SECONDS = 20.0
_LARGEST_ANSWER = 4 * 1024 * 1024
_PROBE = """
import importlib.metadata, json, os, platform, re, sys
try:
    import time_machine
except ImportError:
    time_machine = None
found = [(d.metadata["Name"] or "", d.version or "") for d in importlib.metadata.distributions()]
names = {(re.sub("[-_.]+", "-", name).lower(), version) for name, version in found}
roots = [path for path in sys.path if os.path.isdir(path)]
print(json.dumps({
    "version": platform.python_version(),
    "time_machine": getattr(time_machine, "travel", None) is not None,
    "distributions": sorted(names),
    "roots": roots,
}))
"""


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """`version` as "3.11.2"; `lock` is the digest of the sorted [name, version] of the installed distributions, None
    if there are none; `time_machine` says whether that library can be imported."""

    version: str
    lock: str | None
    time_machine: bool


_known: dict[tuple[str, Path], tuple[dict[str, int], Toolchain]] = {}
"""By tier and interpreter: the folders that were searched with their modification times, and what was found."""
_lock = threading.Lock()


def describe(tier: Tier, interpreter: Path) -> Toolchain:
    """Asked once for each tier, interpreter and state of its package folders. Raises EnvironmentUnavailable if the
    interpreter does not answer."""
    with _lock:
        known = _known.get((tier.name, interpreter))
        if known is None or _times(known[0]) != known[0]:
            answer = _asked(tier, interpreter)
            known = _times(answer["roots"]), _read(answer)
            _known[tier.name, interpreter] = known
        return known[1]


def _times(folders: Any) -> dict[str, int]:
    return {folder: os.stat(folder).st_mtime_ns for folder in folders if os.path.isdir(folder)}


def _read(answer: dict[str, Any]) -> Toolchain:
    distributions = answer["distributions"]
    return Toolchain(
        version=str(answer["version"]),
        lock=digest(distributions) if distributions else None,
        time_machine=answer["time_machine"] is True,
    )


def _asked(tier: Tier, interpreter: Path) -> dict[str, Any]:
    launch = Launch(
        argv=(str(interpreter), "-I", "-c", _PROBE), mounts=(), workdir="/", env={}, interpreter=interpreter
    )
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as answers, open(os.devnull, "wb") as nowhere:
        running = tier.start(
            launch, Limits(), protocol_fd=theirs.fileno(), stderr_fd=nowhere.fileno(), stdout_fd=answers.fileno()
        )
        try:
            status = running.wait(_SECONDS)
        finally:
            running.kill()
        answers.seek(0)
        text = answers.read(_LARGEST_ANSWER)
    try:
        answer: dict[str, Any] = json.loads(text)
        return {key: answer[key] for key in ("version", "time_machine", "distributions", "roots")}
    except (ValueError, TypeError, KeyError):
        raise EnvironmentUnavailable(
            f"{interpreter} did not say what it is (status {status}). Set the implementation's `python` to Python 3.9 "
            "or newer that every user may execute."
        ) from None
