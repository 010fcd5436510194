"""What a test needs from the machine: skip by name where it is missing, fail where CI=true. And the services that
tests start for themselves, reachable over unix sockets only."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest


def require(name: str, reason: str | None) -> None:
    """Go on if `reason` is None; else skip the test, naming the service and what to do. Under CI=true it fails."""
    if reason is None:
        return
    message = f"{name} is missing: {reason}"
    if required():
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def required() -> bool:
    """Whether a missing service is a failure here: CI=true."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


def postgresql_missing() -> str | None:
    """Why no PostgreSQL cluster can be started here, or None."""
    return None if _postgresql_bin() else "install the package postgresql (make test does so as root on Debian)"


def postgresql_tool(name: str) -> Path:
    """Its pg_dump or psql, which runs as anybody."""
    tools = _postgresql_bin()
    assert tools is not None
    return tools / name


def redis_missing() -> str | None:
    """Why no Redis server can be started here, or None."""
    return (
        None
        if shutil.which("redis-server")
        else "install the package redis-server (make test does so as root on Debian)"
    )


@contextmanager
def postgresql_cluster() -> Iterator[str]:
    """A throw-away cluster; gives the URL of its database `postgres`. Runs as user postgres where we are root."""
    tools = _postgresql_bin()
    assert tools is not None
    # Short: a unix socket's path has at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="rc-pg-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    initdb = [
        tools / "initdb",
        "-D",
        folder / "data",
        "-U",
        "postgres",
        "-A",
        "trust",
        "-N",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
    ]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/", **_postgresql_user())
    server = [tools / "postgres", "-D", folder / "data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(server, stdout=log, stderr=log, cwd="/", **_postgresql_user())
    try:
        ready = [tools / "pg_isready", "-q", "-h", folder]
        until(lambda: subprocess.run(ready, check=False).returncode == 0, process)
        yield f"postgres://postgres@/{folder}/postgres"
    finally:
        process.send_signal(signal.SIGINT)  # a fast shutdown: do not wait for clients
        _end(process)
        shutil.rmtree(folder, ignore_errors=True)


class Redis:
    """A throw-away Redis on a unix socket, which a test may stop and start."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "redis.sock"
        self.url = f"unix://{self.path}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=self.path.parent)
        until(self.path.exists, self._process)

    def stop(self) -> None:
        """End it with everything it held, and its socket."""
        if self._process is not None:
            _end(self._process)
            self.path.unlink(missing_ok=True)


@contextmanager
def redis_server() -> Iterator[Redis]:
    folder = Path(tempfile.mkdtemp(prefix="rc-redis-", dir="/tmp"))
    redis = Redis(folder)
    redis.start()
    try:
        yield redis
    finally:
        redis.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _postgresql_bin() -> Path | None:
    """Debian keeps initdb and postgres out of PATH, by major version."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def _postgresql_user() -> dict[str, str | list[str]]:
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}


def until(ready: Callable[[], bool], process: subprocess.Popen[Any] | None = None) -> None:
    """Look again until it is so; fails if `process` ends before, or after a minute."""
    deadline = time.monotonic() + 60
    while not ready():
        assert process is None or process.poll() is None, f"{process.args} ended before it was ready"
        assert time.monotonic() < deadline, "still not so after a minute"
        time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
        return
    process.kill()
    process.wait()
