"""However a run ends, its status is told and no process of it is left.

A process that is left would hold the other end of the protocol socket: end of file proves that none does.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import Launch, Limits, Tier
from replaycases.replay.sandbox.identity import popen_identity
from tests.replay.sandbox.confined import PRELUDE, ROOT, SECONDS, hides_processes, run, started

# Leaves its session, its parent and its parent's parent, ignores every signal it may, and says so.
DAEMON = """
def daemonize():
    hear, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            for number in range(1, 32):
                attempt(signal.signal, number, signal.SIG_IGN) if number not in (9, 19) else None
            me.send(b"daemon")
            os.write(tell, b"!")
            while True: signal.pause()
        os._exit(0)
    os.wait()
    os.read(hear, 1)
daemonize()
"""


@pytest.mark.parametrize(("code", "expected"), [("sys.exit(0)", 0), ("sys.exit(3)", 3), ("1/0", 1)])
def test_the_exit_status_is_told(any_tier: Tier, code: str, expected: int) -> None:
    assert run(any_tier, code)[0] == expected


@pytest.mark.parametrize("number", [6, 9, 11, 15])
def test_death_by_a_signal_is_negative(any_tier: Tier, number: int) -> None:
    assert run(any_tier, f"os.kill(os.getpid(), {number})")[0] == -number


def test_a_program_that_is_not_there_ends_with_127_and_says_so(any_tier: Tier) -> None:
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    launch = Launch(argv=("no-such-program",), mounts=(), workdir="/", env={}, interpreter=None)
    with ours, theirs, open(read, "rb") as output:
        running = any_tier.start(launch, Limits(), protocol_fd=theirs.fileno(), stderr_fd=write, stdout_fd=write)
        os.close(write)
        assert running.wait(SECONDS) == 127
        assert b"no-such-program" in output.read()


def test_the_end_of_the_program_ends_what_it_left_behind(any_tier: Tier) -> None:
    with started(any_tier, DAEMON) as confined:
        assert confined.hear() == b"daemon"
        assert confined.running.wait(SECONDS) == 0
        assert confined.is_gone()


def test_kill_ends_daemons(any_tier: Tier) -> None:
    with started(any_tier, DAEMON * 3 + "signal.pause()") as confined:
        heard = confined.hear()
        while heard.count(b"daemon") < 3:
            heard += confined.hear()
        confined.running.kill()
        assert confined.is_gone()


def test_kill_may_be_called_again(any_tier: Tier) -> None:
    with started(any_tier, "signal.pause()") as confined:
        confined.running.kill()
        confined.running.kill()
        assert confined.running.wait(0) == -9


def test_kill_after_the_end_changes_no_status(any_tier: Tier) -> None:
    with started(any_tier, "sys.exit(4)") as confined:
        assert confined.running.wait(SECONDS) == 4
        confined.running.kill()
        assert confined.running.wait(0) == 4


def test_the_program_cannot_end_or_stop_what_guards_it(tier: Tier) -> None:
    code = (
        """
for target in (os.getppid(), -os.getppid(), -1):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        attempt(os.kill, target, number)
attempt(os.killpg, os.getpgid(os.getppid()), signal.SIGKILL) if os.getpgid(os.getppid()) > 1 else None
me.send(b"alive")
"""
        + DAEMON
    )
    if tier.name in {"bubblewrap", "namespaces"}:  # -1 would end our own children only; process 1 is immune
        code = code.replace(", -1)", ")")
    with started(tier, code) as confined:
        assert confined.hear().startswith(b"alive")
        confined.running.wait(SECONDS)
        assert confined.is_gone()


def test_the_program_cannot_signal_a_process_of_the_same_user_outside(tier: Tier) -> None:
    if not hides_processes(tier):
        pytest.skip("tier seccomp needs Linux 6.12 (Landlock 6) for this")
    with subprocess.Popen(["sleep", "1000"], **popen_identity()) as victim:
        try:
            status, output = run(tier, f"print(attempt(os.kill, {victim.pid}, signal.SIGKILL))")
            assert status == 0
            assert output.strip() in {"EPERM", "ESRCH"}
            assert victim.poll() is None
        finally:
            victim.kill()


def test_a_run_outlives_the_thread_that_started_it(any_tier: Tier) -> None:
    kept = contextlib.ExitStack()
    confined = []
    code = "me.send(b'here'); print(me.recv(9))"
    thread = threading.Thread(target=lambda: confined.append(kept.enter_context(started(any_tier, code))))
    thread.start()
    thread.join()
    with kept:
        assert confined[0].hear() == b"here"
        confined[0].ours.send(b"go on")
        assert confined[0].running.wait(SECONDS) == 0


def test_a_forked_worker_can_start_runs(any_tier: Tier) -> None:
    assert run(any_tier, "pass")[0] == 0  # the spawning thread exists before the fork
    pid = os.fork()
    if pid == 0:
        os._exit(run(any_tier, "sys.exit(5)")[0] or 0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5


@contextlib.contextmanager
def supervisor(tier: Tier, code: str, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.settimeout(SECONDS)
    script = Path(__file__).with_name("supervise.py")
    process = subprocess.Popen(
        [sys.executable, str(script), tier.name, str(theirs.fileno()), PRELUDE + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=(theirs.fileno(),),
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
    )
    theirs.close()
    with process, ours:
        try:
            yield process, ours
        finally:
            process.kill()


def let_go(ours: socket.socket) -> bool:
    """Whether nobody holds the other end any more; a process that is left keeps it past the socket's time limit."""
    try:
        while ours.recv(4096):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def test_the_run_dies_with_a_killed_supervisor(any_tier: Tier, outside: Path) -> None:
    with supervisor(any_tier, DAEMON + "signal.pause()", outside) as (process, ours):
        assert ours.recv(100) == b"daemon"
        assert process.stdout is not None
        sandbox = os.pidfd_open(int(process.stdout.readline()))
        process.kill()
        assert let_go(ours)
        assert select.select([sandbox], [], [], SECONDS)[0]
        os.close(sandbox)
        assert list(outside.iterdir()) == []


def test_killing_the_supervisor_at_any_moment_leaves_no_process(any_tier: Tier, outside: Path) -> None:
    """REPLAYCASES_TEST_KILLS sets how often."""
    for _ in range(int(os.environ.get("REPLAYCASES_TEST_KILLS", "8"))):
        with supervisor(any_tier, DAEMON + "signal.pause()", outside) as (process, ours):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(random.uniform(0, 0.25))
            process.kill()
            assert let_go(ours)
