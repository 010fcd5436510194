"""Try a tier for real: start a program in it that attacks what the tier promises to deny."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from pathlib import Path

from replaycases.replay.sandbox.base import EnvironmentUnavailable, Launch, Limits, Tier
from replaycases.replay.sandbox.interpreter import usable_interpreter

PROBE_SECONDS = 20.0
ATTACKS = ("network", "outside_file", "outside_write", "parent_environment")

# Runs inside. Prints the names of the attacks that succeeded, so that silence is never taken for denial.
PROGRAM = """
import json, socket, sys
folder, port, parent = sys.argv[1:]
def connect():
    socket.create_connection(("127.0.0.1", int(port)), timeout=5)
def read():
    open(folder + "/canary").read()
def write():
    open(folder + "/written", "w").close()
def environ():
    open("/proc/" + parent + "/environ", "rb").read()
def works(attack):
    try:
        attack()
    except OSError:
        return False
    return True
attacks = {"network": connect, "outside_file": read, "outside_write": write, "parent_environment": environ}
print(json.dumps([name for name, attack in attacks.items() if works(attack)]))
"""


def problem(tier: Tier) -> str | None:
    """None if a program starts in `tier` and none of ATTACKS succeeds; else what went wrong."""
    with tempfile.TemporaryDirectory(prefix="replaycases-probe-") as name, socket.socket() as listener:
        folder = Path(name)
        folder.chmod(0o777)  # the tier, not a file mode, must be what refuses
        (folder / "canary").write_text("outside", encoding="utf-8")
        (folder / "canary").chmod(0o644)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        try:
            said, status = _run(tier, [name, str(listener.getsockname()[1]), str(os.getpid())])
        except EnvironmentUnavailable as refused:
            return str(refused)
    return _judge(said, status)


def _judge(said: str, status: int | None) -> str | None:
    try:
        succeeded = json.loads(said)
    except ValueError:
        return f"a trial program did not run (status {status}): {said.strip()[-300:] or 'it said nothing'}"
    return f"a trial program was not denied: {', '.join(succeeded)}" if succeeded or status != 0 else None


def _run(tier: Tier, arguments: list[str]) -> tuple[str, int | None]:
    """Start PROGRAM in `tier`: what it printed to either output, and its exit status (None: it did not end)."""
    interpreter = usable_interpreter()
    launch = Launch(
        argv=(str(interpreter), "-I", "-S", "-c", PROGRAM, *arguments),
        mounts=(),
        workdir="/",
        env={},
        interpreter=interpreter,
    )
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as output:
        running = tier.start(
            launch, Limits(), protocol_fd=theirs.fileno(), stderr_fd=output.fileno(), stdout_fd=output.fileno()
        )
        try:
            status = running.wait(PROBE_SECONDS)
        except EnvironmentUnavailable:
            status = None
        running.kill()
        output.seek(0)
        return output.read().decode(errors="replace"), status
