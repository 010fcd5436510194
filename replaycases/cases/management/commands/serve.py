"""`manage.py serve`: web server and worker of one machine, started and stopped together."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from functools import partial
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from replaycases.cases.processes import die_with_parent

# After SIGTERM a worker finishes the replay it has in hand; after this many seconds it is told to drop it (the sweep
# of the next start takes the run back), and then it is killed.
WARM_SECONDS = 10.0
COLD_SECONDS = 5.0
# Celery's warning about pickle, which is not accepted here; the sandbox drops root's rights itself.
ROOT_WARNING = "ignore:You're running the worker with superuser privileges"


class Command(BaseCommand):
    help = "Serve pages and API with gunicorn and run a Celery worker with the sweep's beat, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument(
            "--demo", action="store_true", help="also take the demo's cases on, as their replays come in"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        _refuse_taken(host, port)
        _name_port(port)
        stopping = _Stopping()
        guests: dict[str, subprocess.Popen[bytes]] = {}
        children = {"web": _start(web_command(host, port)), "worker": _start(worker_command())}
        try:
            if _wait_for(host, port, children, stopping):
                self.stdout.write(f"\nreplaycases is at http://{host}:{port}/   (Ctrl-C stops it)\n")
            # Not watched: it ends by itself, and when it fails pages and worker go on.
            guests = {"demo": _start(demo_command())} if options["demo"] else {}
            ended = _watch(children, stopping)
        finally:
            _stop({**guests, **children})
        if ended:
            raise CommandError(f"The {ended} process ended by itself; see its messages above.")
        self.stdout.write("Stopped.")


def web_command(host: str, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "gunicorn", "replaycases.config.wsgi", "--bind", f"{host}:{port}"),
        *("--workers", "2", "--threads", "4", "--log-level", "warning", "--chdir", str(settings.BASE_DIR)),
    ]


def worker_command() -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "--quiet", "--app", "replaycases.config.celery", "worker", "--beat"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING", "--queues"),
        "replays,sweeps",
    ]


def demo_command() -> list[str]:
    return [sys.executable, "manage.py", "demo", "--advance"]


class _Stopping:
    """Set by SIGINT or SIGTERM."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C reaches us alone, and we stop the children in order.
    return subprocess.Popen(  # noqa: S603 - fixed commands
        command,
        cwd=settings.BASE_DIR,
        env={**os.environ, "PYTHONWARNINGS": ROOT_WARNING},
        start_new_session=True,
        preexec_fn=partial(die_with_parent, signal.SIGTERM, os.getpid()),
    )


def _name_port(port: int) -> None:
    """Links in mails lead here, unless it was said where people reach this server, or TLS stands before it."""
    if not settings.HTTPS and not os.environ.get("REPLAYCASES_BASE_URL", "").strip():
        os.environ["REPLAYCASES_BASE_URL"] = f"http://localhost:{port}"


def _refuse_taken(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(f"Port {port} cannot be used ({error.strerror}); choose another with PORT=…") from None


def _wait_for(host: str, port: int, children: dict[str, subprocess.Popen[bytes]], stopping: _Stopping) -> bool:
    """True once the port answers; False if we are to stop or a child ended before that."""
    while not stopping.asked and all(child.poll() is None for child in children.values()):
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
            return True
        time.sleep(0.1)
    return False


def _watch(children: dict[str, subprocess.Popen[bytes]], stopping: _Stopping) -> str:
    """Until asked to stop (""), or until a child ended by itself (its name)."""
    while not stopping.asked:
        for name, child in children.items():
            if child.poll() is not None:
                return name
        time.sleep(0.2)
    return ""


def _stop(children: dict[str, subprocess.Popen[bytes]]) -> None:
    for number, seconds in ((signal.SIGTERM, WARM_SECONDS), (signal.SIGQUIT, COLD_SECONDS), (signal.SIGKILL, None)):
        running = [child for child in children.values() if child.poll() is None]
        for child in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, number)
        deadline = None if seconds is None else time.monotonic() + seconds
        for child in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
