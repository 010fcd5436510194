"""A deployment for tests: its own database and broker, and worker processes like those of production."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.utils import ConnectionHandler
from django.test import override_settings

from replaycases.config import celery_settings, filesystem_broker
from replaycases.config.celery import app
from replaycases.config.environment import broker, database
from tests.services import Redis

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE = 60.0

# Short enough for tests, long enough for two shared cores.
QUICK = {
    "REPLAYCASES_LEASE_SECONDS": "3",
    "REPLAYCASES_SWEEP_SECONDS": "1",
    "REPLAYCASES_RESEND_SECONDS": "1",
    "REPLAYCASES_WALL_SECONDS": "20",
    "REPLAYCASES_WORKER_CONCURRENCY": "2",
    "REPLAYCASES_LOG_LEVEL": "INFO",
}


@dataclass
class Deployment:
    """`env` is what its processes get beyond PATH and HOME."""

    name: str
    folder: Path
    env: dict[str, str]
    redis: Redis | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        base = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        # What a killed worker leaves behind goes with the deployment; the sandbox's user must be able to walk in.
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        self.folder.chmod(0o755)
        quiet = {"C_FORCE_ROOT": "1", "PYTHONWARNINGS": "ignore"}
        return {**base, **quiet, "TMPDIR": str(temporary), **self.env}

    def start_worker(self, *, beat: bool = True, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """A worker as `manage.py serve` starts it, in a process group of its own."""
        command = [
            *(sys.executable, "-m", "celery", "--app", "replaycases.config.celery", "worker"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"),
            *("--queues", "replays,sweeps", "--hostname", f"worker{len(self.workers)}@test"),
            *(["--beat"] if beat else []),
        ]
        with (self.folder / f"worker-{len(self.workers)}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=REPOSITORY,
                env={**self.environment, **(env or {})},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.workers.append(process)
        return process

    def stop_broker(self) -> None:
        """The broker goes away, with all messages in it; publishing fails from now on."""
        if self.redis is not None:
            self.redis.stop()
            return
        place, stopped = self.folder / "broker", False
        while not stopped:  # a worker that looks for messages meanwhile makes the folder again
            shutil.rmtree(place, ignore_errors=True)
            with suppress(IsADirectoryError):
                place.write_text("no directory, so no queue")
                stopped = True

    def start_broker(self) -> None:
        if self.redis is not None:
            self.redis.start()
        else:
            (self.folder / "broker").unlink()

    def log(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("worker-*.log")))

    def wait_until(self, condition: Callable[[], Any]) -> None:
        """Look again until it holds; fails with the workers' log when patience ends."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"still not so after {PATIENCE} s; workers said:\n{self.log()[-6000:]}"
            time.sleep(0.05)

    def stop(self) -> None:
        for worker in self.workers:
            with suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


def tree(pid: int) -> set[int]:
    """The process and everything below it."""
    found = {pid}
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found |= tree(int(child))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@contextmanager
def embedded(folder: Path, template: Path) -> Iterator[Deployment]:
    """SQLite and the file-system broker."""
    shutil.copy(template, folder / "replaycases.sqlite3")
    env = {**QUICK, "REPLAYCASES_VAR": str(folder), "REPLAYCASES_SECRET_KEY": "only-for-tests-" * 5}
    yield Deployment(name="embedded", folder=folder, env=env)


@contextmanager
def connected(deployment: Deployment) -> Iterator[None]:
    """Make this process a web process of the deployment: same database, same broker."""
    env = deployment.env
    before = connections.settings["default"]
    with _environment(env):
        own = database("DATABASE_URL", sqlite_path=deployment.folder / "replaycases.sqlite3")
        config = ConnectionHandler({"default": own}).settings["default"]
        redis = broker("REDIS_URL")
    url = redis or f"{filesystem_broker.ALIAS}://localhost//"
    options = {"socket_connect_timeout": 2} if redis else {"folder": str(deployment.folder / "broker")}
    seconds = {name: int(env[name]) for name in QUICK if name.endswith("_SECONDS")}
    old = connections["default"]
    connections.settings["default"] = config
    del connections["default"]
    app.conf.update(broker_url=url, broker_transport_options=options)
    app._after_fork()
    try:
        with override_settings(**seconds):
            yield
    finally:
        connections["default"].close()
        connections.settings["default"] = before
        connections["default"] = old
        app.conf.update(
            broker_url=celery_settings.broker_url, broker_transport_options=celery_settings.broker_transport_options
        )
        app._after_fork()


@contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ("DATABASE_URL", "REDIS_URL")}
    for name in before:
        os.environ.pop(name, None)
        if name in env:
            os.environ[name] = env[name]
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def migrated(env: Mapping[str, str]) -> None:
    """Migrate the database that `env` names."""
    base = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
    subprocess.run(command, check=True, cwd=settings.BASE_DIR, env={**base, **env})
