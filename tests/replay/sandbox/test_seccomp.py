"""The filter, run by a small interpreter of classic BPF: so that arm64 is tested on any machine."""

from __future__ import annotations

import errno
import platform
import re
import signal
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.replay.sandbox.base import Tier
from replaycases.replay.sandbox.guard import seccomp
from tests.replay.sandbox.confined import run

MACHINES = sorted(seccomp.NUMBERS)
HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+) (\d+)"),
    "aarch64": ("/usr/include/asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+) (\d+)"),
}
ALLOWED = {"x86_64": {"read": 0, "execve": 59, "exit_group": 231}, "aarch64": {"read": 63, "execve": 221}}


def answer(program: bytes, number: int, *arguments: int, arch: int) -> int:
    """The action of the filter for one system call."""
    words = [argument & 0xFFFFFFFFFFFFFFFF for argument in (*arguments, 0, 0, 0, 0, 0, 0)[:6]]
    data = struct.pack("<iIQ6Q", number, arch, 0, *words)
    place, accumulator = 0, 0
    while True:
        code, if_true, if_false, operand = struct.unpack_from("HBBI", program, 8 * place)
        place += 1
        match code:
            case seccomp.LOAD:
                accumulator = struct.unpack_from("<I", data, operand)[0]
            case seccomp.AND:
                accumulator &= operand
            case seccomp.EQUAL:
                place += if_true if accumulator == operand else if_false
            case seccomp.AT_LEAST:
                place += if_true if accumulator >= operand else if_false
            case seccomp.RETURN:
                return int(operand)


def ask(machine: str, name: str, *arguments: int, shared_root: bool = False, protect: tuple[int, ...] = ()) -> int:
    program = seccomp.program(machine, shared_root=shared_root, protect=protect)
    numbers = ALLOWED[machine] | seccomp.NUMBERS[machine]
    return answer(program, numbers[name], *arguments, arch=seccomp.AUDIT_ARCH[machine])


EPERM = seccomp.ERRNO | errno.EPERM
ENOSYS = seccomp.ERRNO | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_are_allowed(machine: str) -> None:
    assert {ask(machine, name) for name in ALLOWED[machine]} == {seccomp.ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
@given(arguments=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6))
def test_what_is_refused_is_refused_for_all_arguments(machine: str, arguments: list[int]) -> None:
    numbers = seccomp.NUMBERS[machine]
    assert {ask(machine, name, *arguments) for name in seccomp.REFUSED if name in numbers} == {EPERM}
    assert {ask(machine, name, *arguments) for name in seccomp.ABSENT if name in numbers} == {ENOSYS}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_name_has_a_number_but_for_calls_that_arm64_never_had(machine: str) -> None:
    names = {*seccomp.ABSENT, *seccomp.REFUSED, *seccomp.REFUSED_WITH_SHARED_ROOT}
    never = {"chmod", "chown", "lchown", "iopl", "ioperm", "modify_ldt"} if machine == "aarch64" else set()
    assert names - set(seccomp.NUMBERS[machine]) == never


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_the_kernel_s(machine: str) -> None:
    path, pattern = HEADERS[machine]
    if not Path(path).exists():
        pytest.skip(f"linux-libc-dev is missing: {path}")
    known = {name: int(number) for name, number in re.findall(pattern, Path(path).read_text(encoding="utf-8"))}
    differing = {name for name, number in seccomp.NUMBERS[machine].items() if known.get(name, number) != number}
    assert differing == set()
    assert len(known.keys() & seccomp.NUMBERS[machine].keys()) > 60


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_is_killed(machine: str) -> None:
    others = [arch for name, arch in seccomp.AUDIT_ARCH.items() if name != machine] + [0x40000003]
    program = seccomp.program(machine)
    assert {answer(program, 0, arch=arch) for arch in others} == {seccomp.KILL_PROCESS}


def test_x32_calls_are_killed() -> None:
    arch = seccomp.AUDIT_ARCH["x86_64"]
    assert answer(seccomp.program("x86_64"), seccomp.X32_BIT | 41, arch=arch) == seccomp.KILL_PROCESS


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_newer_than_the_table_is_absent(machine: str) -> None:
    program, arch = seccomp.program(machine), seccomp.AUDIT_ARCH[machine]
    assert answer(program, seccomp.NEWEST_REVIEWED, arch=arch) == seccomp.ALLOW
    assert answer(program, seccomp.NEWEST_REVIEWED + 1, arch=arch) == ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_only_unix_stream_pairs_are_made(machine: str) -> None:
    stream, datagram, nonblocking = 1, 2, 0o4000
    assert ask(machine, "socketpair", 1, stream | nonblocking) == seccomp.ALLOW
    assert ask(machine, "socketpair", 1, datagram) == EPERM
    assert ask(machine, "socketpair", 2, stream) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_clone_makes_no_namespace(machine: str, flag: int) -> None:
    assert ask(machine, "clone", signal.SIGCHLD) == seccomp.ALLOW
    assert ask(machine, "clone", signal.SIGCHLD | flag) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_of_another_process_are_out_of_reach(machine: str) -> None:
    assert ask(machine, "prlimit64", 0) == seccomp.ALLOW
    assert ask(machine, "prlimit64", 4711) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("call", ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"])
def test_protected_processes_get_no_signal(machine: str, call: str) -> None:
    def signal_to(pid: int) -> int:
        return ask(machine, call, pid, protect=(10, 11))

    assert {signal_to(pid) for pid in (10, 11, -10, -11, -1)} == {EPERM}
    assert {signal_to(pid) for pid in (9, 12, 0, -12)} == {seccomp.ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_shared_root_is_not_emptied_by_opening_for_reading(machine: str) -> None:
    def open_with(flags: int) -> int:
        return ask(machine, "openat", -100, 0, flags, shared_root=True)

    assert open_with(0o1000) == EPERM
    assert open_with(0) == open_with(0o1001) == open_with(0o1002) == seccomp.ALLOW


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86_64 only: other machines have no x32")
def test_the_kernel_kills_an_x32_call(tier: Tier) -> None:
    status, _ = run(tier, "import ctypes; ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 39))")
    assert status == -signal.SIGSYS
