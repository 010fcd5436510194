"""The kernel calls that Python lacks, by ctypes. Each raises OSError with the name of what failed."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct

from replaycases.replay.sandbox.guard import seccomp

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38
SECCOMP_MODE_FILTER = 2
CLONE_ALL = 0x7E020000 & ~0x02000000  # every namespace but cgroup

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int, what: str) -> None:
    """prctl(2) with one numeric argument."""
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), what)


def syscall(number: int, *arguments: int | bytes | None, what: str) -> int:
    """syscall(2); integers are passed as long, bytes as a pointer, None as a null pointer."""
    words = [ctypes.c_long(word) if isinstance(word, int) else ctypes.c_char_p(word) for word in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *words), what)


def die_with_parent(number: signal.Signals, parent: int) -> None:
    """Be sent `number` when the thread that started us ends. `parent`: who it must be, in case it is gone already.

    To be set after every change of user, which clears it.
    """
    prctl(PR_SET_PDEATHSIG, number, "parent death signal")
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def forbid_new_rights() -> None:
    """No set-user-id program gives this process or its children anything; Landlock and seccomp ask for it."""
    prctl(PR_SET_NO_NEW_PRIVS, 1, "no_new_privs")


def filter_system_calls(program: bytes) -> None:
    """Install a seccomp filter for this thread and all it starts."""
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    pointer = ctypes.create_string_buffer(fprog, len(fprog))
    forbid_new_rights()
    _checked(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, pointer), "seccomp")


def clone_into_namespaces() -> int:
    """fork(2) into new user, network, mount, pid, ipc and uts namespaces: 0 in the child, which is process 1."""
    number = seccomp.NUMBERS[platform.machine()]["clone"]
    return syscall(number, CLONE_ALL | signal.SIGCHLD, 0, 0, 0, 0, what="new namespaces")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """mount(2)."""
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, data)]
    arguments = (words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    _checked(_libc.mount(*arguments), f"mount {kind or source} on {target}")


def make_read_only(path: str, *, recursive: bool) -> None:
    """Add read-only, nosuid and nodev to the mount at `path`, keeping its other, perhaps locked, flags."""
    attributes = struct.pack("QQQQ", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0, 0)
    flags = AT_RECURSIVE if recursive else 0
    syscall(
        MOUNT_SETATTR,
        *(AT_FDCWD, os.fsencode(path), flags, attributes, len(attributes)),
        what=f"read-only {path}",
    )


def pivot_root(new: str, old: str) -> None:
    """pivot_root(2)."""
    number = seccomp.NUMBERS[platform.machine()]["pivot_root"]
    syscall(number, os.fsencode(new), os.fsencode(old), what="pivot_root")


def detach(path: str) -> None:
    """Unmount `path` and everything below it."""
    _checked(_libc.umount2(os.fsencode(path), MNT_DETACH), f"unmount {path}")


def set_host_name(name: str) -> None:
    """sethostname(2)."""
    _checked(_libc.sethostname(name.encode(), len(name)), "host name")
