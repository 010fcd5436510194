"""The system call filter of every confining tier, as classic BPF for x86_64 and arm64 (see seccomp(2)).

One filter for all tiers, so that a workflow meets the same refusals on a laptop, in a container and on a server. It
denies sockets of every family (a network namespace does not stop AF_VSOCK, Landlock does not stop path-named unix
sockets), new namespaces, tracing, io_uring, and kernel interfaces that no workflow needs.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable

# struct sock_filter: code, jump if true, jump if false, operand.
Instruction = tuple[int, int, int, int]

LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER_OFFSET, ARCH_OFFSET, ARGS_OFFSET = 0, 4, 16

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
# From 424 on both machines share their numbers. A call newer than this one has not been reviewed: it answers ENOSYS.
NEWEST_REVIEWED = 456

AF_UNIX, SOCK_STREAM, SOCK_TYPE_MASK = 1, 1, 0xF
NEW_NAMESPACE_FLAGS = 0x7E020000
O_TRUNC, O_ACCMODE = 0o1000, 0o3

COMMON = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "pidfd_open": 434, "clone3": 435, "openat2": 437, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "process_mrelease": 448, "fchmodat2": 452,
}  # fmt: skip
NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": COMMON | {
        "open": 2, "shmget": 29, "shmat": 30, "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50,
        "socketpair": 53, "clone": 56, "kill": 62, "semget": 64, "msgget": 68, "truncate": 76,
        "chmod": 90, "chown": 92, "lchown": 94, "ptrace": 101, "syslog": 103, "rt_sigqueueinfo": 129,
        "personality": 135, "modify_ldt": 154, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163,
        "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169,
        "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175,
        "delete_module": 176, "quotactl": 179, "setxattr": 188, "lsetxattr": 189, "removexattr": 197,
        "lremovexattr": 198, "tkill": 200, "lookup_dcookie": 212, "clock_settime": 227, "tgkill": 234,
        "mq_open": 240, "mq_unlink": 241, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
        "migrate_pages": 256, "openat": 257, "fchownat": 260, "fchmodat": 268, "unshare": 272, "move_pages": 279,
        "accept4": 288, "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "fanotify_init": 300, "prlimit64": 302,
        "name_to_handle_at": 303, "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "memfd_create": 319,
        "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": COMMON | {
        "setxattr": 5, "lsetxattr": 6, "removexattr": 14, "lremovexattr": 15, "lookup_dcookie": 18, "umount2": 39,
        "mount": 40, "pivot_root": 41, "truncate": 45, "chroot": 51, "fchmodat": 53, "fchownat": 54, "openat": 56,
        "quotactl": 60, "acct": 89, "personality": 92, "unshare": 97, "kexec_load": 104, "init_module": 105,
        "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117, "kill": 129, "tkill": 130,
        "tgkill": 131, "rt_sigqueueinfo": 138, "reboot": 142, "sethostname": 161, "setdomainname": 162,
        "settimeofday": 170, "adjtimex": 171, "mq_open": 180, "mq_unlink": 181, "msgget": 186, "semget": 190,
        "shmget": 194, "shmat": 196, "socket": 198, "socketpair": 199, "bind": 200, "listen": 201, "accept": 202,
        "connect": 203, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224,
        "swapoff": 225, "migrate_pages": 238, "move_pages": 239, "rt_tgsigqueueinfo": 240, "perf_event_open": 241,
        "accept4": 242, "prlimit64": 261, "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265,
        "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "finit_module": 273, "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    },
}  # fmt: skip

# Callers have a fallback for these and take it on ENOSYS. memfd_create and shared memory would escape RLIMIT_AS.
ABSENT = (
    "clone3", "openat2", "memfd_create", "memfd_secret", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "pidfd_open", "pidfd_send_signal", "pidfd_getfd", "shmget", "shmat", "semget", "msgget", "mq_open", "mq_unlink",
)  # fmt: skip
REFUSED = (
    "socket", "connect", "bind", "listen", "accept", "accept4", "unshare", "setns", "mount", "umount2", "pivot_root",
    "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "ptrace",
    "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "bpf", "userfaultfd",
    "perf_event_open", "fanotify_init", "name_to_handle_at", "open_by_handle_at", "add_key", "request_key", "keyctl",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff",
    "acct", "quotactl", "quotactl_fd", "syslog", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
    "sethostname", "setdomainname", "iopl", "ioperm", "modify_ldt", "personality", "lookup_dcookie", "migrate_pages",
    "move_pages", "tkill",
)  # fmt: skip
# Landlock does not cover these: with the host's own root in view they could change what the user owns outside.
REFUSED_WITH_SHARED_ROOT = (
    "truncate", "chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "setxattr", "lsetxattr",
    "removexattr", "lremovexattr",
)  # fmt: skip


def program(machine: str, *, shared_root: bool = False, protect: Iterable[int] = ()) -> bytes:
    """The filter as an array of struct sock_filter for `machine` (platform.machine()).

    `shared_root`: no mount namespace hides the host's files. `protect`: process ids that must not be signalled, which
    only matters without a pid namespace. Raises KeyError for a machine without a table.
    """
    numbers = NUMBERS[machine]
    rules = [_plain(numbers, name, errno.ENOSYS) for name in ABSENT]
    rules += [_plain(numbers, name, errno.EPERM) for name in REFUSED]
    rules += [_only(numbers["socketpair"], _stream_pair()), _only(numbers["clone"], _no_namespace())]
    rules += [_only(numbers["prlimit64"], _own_limits())]
    if shared_root:
        rules += [_plain(numbers, name, errno.EPERM) for name in REFUSED_WITH_SHARED_ROOT]
        rules += [_only(numbers[name], _no_hidden_truncation(flags)) for name, flags in _opens(numbers)]
    if pids := tuple(protect):
        names = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
        rules += [_only(numbers[name], _spare(pids)) for name in names]
    body = _arch_guard(machine) + [instruction for rule in rules for instruction in rule]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in [*body, _return(ALLOW)])


def _return(action: int) -> Instruction:
    return (RETURN, 0, 0, action)


def _refuse(number: int = errno.EPERM) -> Instruction:
    return _return(ERRNO | number)


def _argument(index: int) -> Instruction:
    """Load the low word: every argument looked at is an int or lives in the low 32 bits, on little-endian machines."""
    return (LOAD, 0, 0, ARGS_OFFSET + 8 * index)


def _arch_guard(machine: str) -> list[Instruction]:
    guard: list[Instruction] = [
        (LOAD, 0, 0, ARCH_OFFSET),
        (EQUAL, 1, 0, AUDIT_ARCH[machine]),
        _return(KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_OFFSET),
    ]
    if machine == "x86_64":
        guard += [(AT_LEAST, 0, 1, X32_BIT), _return(KILL_PROCESS)]
    return [*guard, (AT_LEAST, 0, 1, NEWEST_REVIEWED + 1), _refuse(errno.ENOSYS)]


def _plain(numbers: dict[str, int], name: str, number: int) -> list[Instruction]:
    """Answer `number` to the call; nothing on a machine that has no such call."""
    return _only(numbers[name], [_refuse(number)]) if name in numbers else []


def _only(call: int, body: list[Instruction]) -> list[Instruction]:
    """Run `body`, which must end in a return, for this call; the accumulator still holds the number otherwise."""
    return [(EQUAL, 0, len(body), call), *body]


def _stream_pair() -> list[Instruction]:
    """Only connected unix stream pairs (asyncio needs them): a datagram pair could send to a path-named socket."""
    return [
        _argument(0),
        (EQUAL, 0, 3, AF_UNIX),
        _argument(1),
        (AND, 0, 0, SOCK_TYPE_MASK),
        (EQUAL, 1, 0, SOCK_STREAM),
        _refuse(),
        _return(ALLOW),
    ]


def _no_namespace() -> list[Instruction]:
    return [_argument(0), (AND, 0, 0, NEW_NAMESPACE_FLAGS), (EQUAL, 1, 0, 0), _refuse(), _return(ALLOW)]


def _own_limits() -> list[Instruction]:
    return [_argument(0), (EQUAL, 1, 0, 0), _refuse(), _return(ALLOW)]


def _opens(numbers: dict[str, int]) -> list[tuple[str, int]]:
    return [(name, flags) for name, flags in (("open", 1), ("openat", 2)) if name in numbers]


def _no_hidden_truncation(flags: int) -> list[Instruction]:
    """Before Landlock 3 a file opened for reading with O_TRUNC is emptied although the rules allow only reading."""
    return [_argument(flags), (AND, 0, 0, O_TRUNC | O_ACCMODE), (EQUAL, 0, 1, O_TRUNC), _refuse(), _return(ALLOW)]


def _spare(pids: tuple[int, ...]) -> list[Instruction]:
    """Refuse a signal to one of `pids`, to its process group, or to every process (-1)."""
    words = [-1 & 0xFFFFFFFF, *pids, *(-pid & 0xFFFFFFFF for pid in pids)]
    tests: list[Instruction] = [(EQUAL, len(words) - place, 0, word) for place, word in enumerate(words)]
    return [_argument(0), *tests, _return(ALLOW), _refuse()]
