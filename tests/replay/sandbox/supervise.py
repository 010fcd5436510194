"""A supervisor to be killed: starts what argv says in a tier, prints the sandbox's pid, and waits for it.

Usage: supervise.py TIER PROTOCOL_FD CODE
"""

import sys
from pathlib import Path

from replaycases.replay.sandbox.base import Launch, Limits
from replaycases.replay.sandbox.interpreter import usable_interpreter
from replaycases.replay.sandbox.tiers import tiers

name, fd, code = sys.argv[1:]
interpreter: Path = usable_interpreter()
running = next(tier for tier in tiers() if tier.name == name).start(
    Launch(argv=(str(interpreter), "-I", "-c", code), mounts=(), workdir="/", env={}, interpreter=interpreter),
    Limits(),
    protocol_fd=int(fd),
    stderr_fd=sys.stderr.fileno(),
    stdout_fd=sys.stderr.fileno(),
)
print(running.pid, flush=True)
running.wait(None)
