"""The guard's life: start the program, wait for it or for the supervisor's end, then leave no process behind."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import sys
import time

from replaycases.replay.sandbox.guard import confine, kernel, root
from replaycases.replay.sandbox.guard.spec import MOST_DESCRIPTORS, REQUEST, Spec, fold, unfold

STOP = signal.SIGTERM
WATCHED = (signal.SIGCHLD, STOP, signal.SIGINT, signal.SIGHUP)
NOT_EXECUTABLE = 127
LINUX = sys.platform == "linux"
# How long to let bwrap's process 1 die by itself before we look for it.
PROCESS_1_SECONDS = 0.1
# Where our own descriptors start, out of the way of the program's.
OURS = 32


class SetupFailed(Exception):
    """The confinement could not be set up; the message says what failed."""


class Events:
    """Signals to the guard, and the end of the supervisor's interest, in one place to wait for."""

    def __init__(self, status_fd: int) -> None:
        self._status = status_fd
        self._signals, write = os.pipe()
        for fd in (self._signals, write):
            os.set_blocking(fd, False)
        for number in WATCHED:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for something to happen: True if a child ended, False to stop or after `timeout` seconds."""
        ready, _, _ = select.select([self._signals, self._status], [], [], timeout)
        if self._status in ready or not ready:
            return False
        return set(os.read(self._signals, 512)) == {signal.SIGCHLD}


def main(requests: socket.socket, keeper: int) -> None:
    """Wait for the request for one run and be its guard, or end with the keeper if none comes.

    See `spec` for the descriptors of a request and for what is said over the status socket. That `requests` closes
    tells the keeper of the end.
    """
    fcntl.fcntl(requests.fileno(), fcntl.F_DUPFD_CLOEXEC, OURS)  # stays open when the program's take its number
    os.setsid()
    _silence(0)
    _die_with(keeper)
    request, descriptors, _, _ = socket.recv_fds(requests, len(REQUEST), MOST_DESCRIPTORS)
    if request:
        _guard(descriptors, keeper)


def _guard(descriptors: list[int], keeper: int) -> None:
    spec_fd, status_fd, program_fds = _place(descriptors)
    with os.fdopen(spec_fd, "rb") as file:
        spec = Spec(**json.load(file))
    events = Events(status_fd)
    try:
        program = _prepare_and_start(spec, program_fds, keeper)
        _report(status_fd, {"ready": os.getpid()})
        status = _watch(program, events)
        if spec.tier == "bubblewrap":  # it leaves when the program ends; its process 1 then dies within milliseconds
            while not _reaped_all() and events.wait(PROCESS_1_SECONDS):
                pass
    except (OSError, SetupFailed) as failed:
        status = None
        _report(status_fd, {"failed": str(failed)})
    sweep()
    _remove(spec.private)
    if status is not None:
        _report(status_fd, {"exit": unfold(status) if spec.tier == "namespaces" else status})
    os.close(status_fd)  # the supervisor need not wait until our memory is given back


def _place(descriptors: list[int]) -> tuple[int, int, list[int]]:
    """Move the program's descriptors to their numbers, inherited, and ours out of the way, not inherited."""
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, OURS) for fd in descriptors]
    for fd in descriptors:
        os.close(fd)
    spec_fd, status_fd, *program = moved
    for number, fd in enumerate(program, start=1):
        os.dup2(fd, number)
        os.close(fd)
    return spec_fd, status_fd, list(range(1, 1 + len(program)))


def _report(status_fd: int, document: dict[str, object]) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        os.write(status_fd, json.dumps(document).encode() + b"\n")


def _silence(*fds: int) -> None:
    """Hold no copy of the program's descriptors: the supervisor must see them close when the program ends."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in fds:
        os.dup2(null, fd)
    os.close(null)


def _prepare_and_start(spec: Spec, program_fds: list[int], keeper: int) -> int:
    namespaces = spec.tier == "namespaces"
    if namespaces:  # from here on the standard library may be out of reach: everything needed is imported by now
        confine.become(spec.uid)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1, "dumpable")  # else /proc/self/uid_map belongs to root
    _die_with(keeper)
    if LINUX:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1, "subreaper")
    if spec.private is not None:
        os.mkdir(spec.private, 0o700)
        os.chown(spec.private, *(2 * [-1 if spec.uid is None else spec.uid]))
    guards, (failure, tell) = (os.getpid(), keeper, spec.supervisor), os.pipe()
    identity = os.geteuid(), os.getegid()  # in the new user namespace they cannot be read before they are mapped
    pid = kernel.clone_into_namespaces() if namespaces else os.fork()
    if pid == 0:
        os.close(failure)
        _be_process_1(spec, tell, program_fds, identity) if namespaces else _be_program(spec, tell, guards)
    os.close(tell)
    _silence(*program_fds)
    with os.fdopen(failure, "rb") as pipe:
        if said := pipe.read():
            raise SetupFailed(said.decode(errors="replace"))
    return pid


def _die_with(keeper: int) -> None:
    if LINUX:
        kernel.die_with_parent(STOP, keeper)


def _be_program(spec: Spec, tell: int, guards: tuple[int, ...]) -> None:
    """Never returns. `tell` closes by itself when the program is executed. `guards`: our parent first."""
    try:
        confine.confine(spec, guards)
        restore_signals()
    except BaseException as failed:
        os.write(tell, str(failed).encode())
        os._exit(NOT_EXECUTABLE)
    os.write(2, f"{spec.argv[0]}: {_execute(spec.argv, spec.env)}\n".encode())
    os._exit(NOT_EXECUTABLE)


def _execute(argv: list[str], env: dict[str, str]) -> str:
    """Returns only if it fails, with the reason. os.execvpe imports a module, which may be out of reach by now."""
    reason = ""
    for folder in [""] if "/" in argv[0] else env["PATH"].split(":"):
        try:
            os.execve(os.path.join(folder, argv[0]), argv, env)  # noqa: S606 - it is confined
        except OSError as failed:
            reason = failed.strerror or str(failed)
    return reason


def _be_process_1(spec: Spec, tell: int, program_fds: list[int], identity: tuple[int, int]) -> None:
    """Never returns. When process 1 ends the kernel ends the whole pid namespace."""
    try:
        restore_signals()
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL, "parent death signal")
        root.map_identity(*identity)
        kernel.set_host_name("replay")
        root.enter(spec)
        program = os.fork()
        if program == 0:
            _be_program(spec, tell, guards=(1,))
        os.close(tell)
        _silence(*program_fds)
        status = _reap_until(program)
    except BaseException as failed:
        with contextlib.suppress(OSError):
            os.write(tell, str(failed).encode())
        os._exit(NOT_EXECUTABLE)
    os._exit(fold(status))


def restore_signals() -> None:
    """Undo what Python and the guard changed, as subprocess does."""
    signal.set_wakeup_fd(-1)
    for number in (*WATCHED, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _reap_until(program: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == program:
            return os.waitstatus_to_exitcode(status)


def _watch(program: int, events: Events) -> int | None:
    """The program's exit status, or None if we were told to stop or the supervisor has gone."""
    while events.wait():
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == program:
                    return os.waitstatus_to_exitcode(ended[1])
    return None


def sweep() -> None:
    """Kill every descendant, however it forked: as a subreaper we inherit those that left their parents.

    While anything lives nothing is reaped: the dead count against the limit on processes, so that a tree that forks
    faster than we look runs out of room and stands still.
    """
    while not _reaped_all():
        while alive := descendants(os.getpid()):
            for pid in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)


def _reaped_all() -> bool:
    """Reap the dead; whether no child is left, and so no descendant."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


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
