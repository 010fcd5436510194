"""The guard's life: start the program, wait for it or for the supervisor's end, then leave no process behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time

from replaycases.replay.sandbox.guard import confine, kernel, root
from replaycases.replay.sandbox.guard.spec import Spec

STOP = signal.SIGTERM
WATCHED = {signal.SIGCHLD, STOP, signal.SIGINT, signal.SIGHUP}
NOT_EXECUTABLE = 127
LINUX = sys.platform == "linux"


class SetupFailed(Exception):
    """The confinement could not be set up; the message says what failed."""


def main() -> None:
    """Read the spec from standard input; report by the status pipe {"ready": true} or {"failed": why}, {"exit": n}."""
    spec = Spec(**json.load(sys.stdin))
    os.set_inheritable(spec.status_fd, False)
    _silence(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    try:
        program = _prepare_and_start(spec)
        _report(spec, {"ready": True})
        status = _watch(program)
    except (OSError, SetupFailed) as failed:
        status = None
        _report(spec, {"failed": str(failed)})
    sweep()
    _remove(spec.private)
    if status is not None:
        _report(spec, {"exit": status})


def _report(spec: Spec, document: dict[str, object]) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(spec.status_fd, json.dumps(document).encode() + b"\n")


def _silence(*fds: int) -> None:
    """Hold no copy of the program's descriptors: the supervisor must see them close when the program ends."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in fds:
        os.dup2(null, fd)
    os.close(null)


def _prepare_and_start(spec: Spec) -> int:
    namespaces = spec.tier == "namespaces"
    if namespaces:  # from here on the standard library may be out of reach: everything needed is imported by now
        confine.become(spec.uid)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1, "dumpable")  # else /proc/self/uid_map belongs to root
    if LINUX:
        kernel.die_with_parent(STOP, spec.supervisor)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1, "subreaper")
    if spec.private is not None:
        os.mkdir(spec.private, 0o700)
        os.chown(spec.private, *(2 * [-1 if spec.uid is None else spec.uid]))
    guard, (failure, tell) = os.getpid(), os.pipe()
    pid = kernel.clone_into_namespaces() if namespaces else os.fork()
    if pid == 0:
        os.close(failure)
        _be_process_1(spec, tell) if namespaces else _be_program(spec, tell, guard)
    os.close(tell)
    _silence(1, 2, spec.protocol_fd)
    with os.fdopen(failure, "rb") as pipe:
        if said := pipe.read():
            raise SetupFailed(said.decode(errors="replace"))
    return pid


def _be_program(spec: Spec, tell: int, guard: int) -> None:
    """Never returns. `tell` closes by itself when the program is executed."""
    try:
        confine.confine(spec, guard)
        confine.restore_signals()
    except BaseException as failed:
        os.write(tell, str(failed).encode())
        os._exit(NOT_EXECUTABLE)
    try:
        os.execvpe(spec.argv[0], spec.argv, spec.env)  # noqa: S606 - running it is the purpose; it is confined
    except OSError as failed:
        os.write(2, f"{spec.argv[0]}: {failed.strerror}\n".encode())
        os._exit(NOT_EXECUTABLE)


def _be_process_1(spec: Spec, tell: int) -> None:
    """Never returns. When process 1 ends the kernel ends the whole pid namespace."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL, "parent death signal")
        root.map_identity(os.geteuid(), os.getegid())
        kernel.set_host_name("replay")
        root.enter(spec)
        program = os.fork()
        if program == 0:
            _be_program(spec, tell, guard=1)
        os.close(tell)
        _silence(1, 2, spec.protocol_fd)
        status = _reap_until(program)
    except BaseException as failed:
        with contextlib.suppress(OSError):
            os.write(tell, str(failed).encode())
        os._exit(NOT_EXECUTABLE)
    # Process 1 cannot die of a signal, so it folds one into its status as a shell does.
    os._exit(status if status >= 0 else 128 - status)


def _reap_until(program: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == program:
            return os.waitstatus_to_exitcode(status)


def _watch(program: int) -> int | None:
    """The program's exit status, or None if we were told to stop or the supervisor has gone."""
    while signal.sigwait(WATCHED) == signal.SIGCHLD:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == program:
                    return os.waitstatus_to_exitcode(ended[1])
    return None


def sweep() -> None:
    """Kill every descendant, however it forked: as a subreaper we inherit those that left their parents.

    Nothing is reaped while anything lives: the dead count against the limit on processes, so that a tree that forks
    faster than we look runs out of room and stands still.
    """
    while True:
        alive = descendants(os.getpid())
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not alive:
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
        time.sleep(0.001)


def descendants(ancestor: int) -> list[int]:
    """Every living process below `ancestor`, from /proc."""
    parents = {}
    living = set()
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{int(name)}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
            parents[int(name)] = int(parent)
            if state not in (b"Z", b"X"):
                living.add(int(name))
    return [pid for pid in living if _descends(pid, ancestor, parents)]


def _descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == ancestor:
            return True
    return False


def _remove(folder: str | None) -> None:
    """Remove the private folder, also what the program made unreadable in it. Nobody else can write there any more."""
    if folder is None:
        return
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
