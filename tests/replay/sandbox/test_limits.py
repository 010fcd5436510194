"""A runaway ends by its limit, in the kernel or by the supervisor's kill, and its end is reported."""

from __future__ import annotations

import signal

from replaycases.replay.sandbox.base import MIB, Limits, Tier
from tests.replay.sandbox.confined import run, started


def test_an_endless_loop_ends_by_the_cpu_limit(any_tier: Tier) -> None:
    status, _ = run(any_tier, "while True: pass", limits=Limits(cpu_seconds=1))
    assert status == -signal.SIGXCPU


def test_an_endless_loop_that_ignores_the_signal_ends_too(any_tier: Tier) -> None:
    code = "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    status, _ = run(any_tier, code, limits=Limits(cpu_seconds=1))
    assert status == -signal.SIGKILL


def test_allocation_without_end_fails(any_tier: Tier) -> None:
    status, output = run(
        any_tier, "kept = []\nwhile True: kept.append(bytearray(1 << 20))", limits=Limits(memory_bytes=256 * MIB)
    )
    assert status == 1
    assert "MemoryError" in output


def test_memory_files_do_not_escape_the_memory_limit(tier: Tier) -> None:
    status, output = run(tier, "print(attempt(os.memfd_create, 'x'))")
    assert (status, output) == (0, "ENOSYS\n")


def test_a_huge_file_is_cut_at_the_limit(any_tier: Tier) -> None:
    code = """
file = open(os.environ["TMPDIR"] + "/huge", "wb", buffering=0)
def fill():
    while True: file.write(b"x" * 65536)
print(attempt(fill), os.fstat(file.fileno()).st_size)
"""
    status, output = run(any_tier, code, limits=Limits(file_bytes=MIB))
    assert (status, output) == (0, f"EFBIG {MIB}\n")


def test_a_tmpfs_cannot_hold_more_than_the_memory_limit(mounting_tier: Tier) -> None:
    code = """
def fill():
    for number in range(1000):
        open(os.environ["TMPDIR"] + f"/{number}", "wb").write(b"x" * (1 << 20))
print(attempt(fill))
"""
    status, output = run(mounting_tier, code, limits=Limits(memory_bytes=64 * MIB))
    assert (status, output) == (0, "ENOSPC\n")


def test_processes_are_limited(any_tier: Tier) -> None:
    code = """
count = 0
def fork():
    global count
    while count < 500:
        if os.fork() == 0:
            signal.pause()
        count += 1
print(attempt(fork), count)
"""
    status, output = run(any_tier, code, limits=Limits(processes=16))
    refused, count = output.split()
    assert (status, refused) == (0, "EAGAIN")
    # Without a user namespace the kernel counts the user's other processes, too, and those come and go.
    assert int(count) <= (16 if any_tier.name in {"bubblewrap", "namespaces"} else 200)


def test_a_fork_bomb_ends_by_kill(any_tier: Tier) -> None:
    code = """
while True:
    if attempt(os.fork) == "EAGAIN":
        me.send(b"full")
"""
    with started(any_tier, code) as confined:
        assert confined.hear().startswith(b"full")
        confined.running.kill()
        assert confined.is_gone()


def test_a_chain_that_forks_and_exits_ends_by_kill(any_tier: Tier) -> None:
    code = """
if os.fork():
    signal.pause()
os.setsid()
me.send(b"running")
while True:
    try:
        if os.fork():
            os._exit(0)
        os.setsid()
    except OSError:
        pass
"""
    with started(any_tier, code) as confined:
        assert confined.hear() == b"running"
        confined.running.kill()
        assert confined.is_gone()


def test_a_sleeper_runs_until_it_is_killed(any_tier: Tier) -> None:
    with started(any_tier, "me.send(b'here'); signal.pause()") as confined:
        assert confined.hear() == b"here"
        assert confined.running.wait(0) is None
        confined.running.kill()
        assert confined.running.wait(0) == -signal.SIGKILL
        assert confined.is_gone()


def test_there_is_no_core_file(any_tier: Tier) -> None:
    status, output = run(any_tier, "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))")
    assert (status, output) == (0, "(0, 0)\n")


def test_a_limit_cannot_be_raised(tier: Tier) -> None:
    code = """
import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError as refused:
        print(refused)
"""
    status, output = run(tier, code)
    assert (status, output) == (0, "not allowed to raise maximum limit\n" * 3)


def test_the_manifest_names_every_limit() -> None:
    assert Limits().as_dict() == {
        "wall_seconds": 60.0,
        "cpu_seconds": 60,
        "memory_bytes": 1024 * MIB,
        "processes": 64,
        "file_bytes": 64 * MIB,
        "message_bytes": 16 * MIB,
        "output_bytes": 64 * MIB,
        "grace_seconds": 2.0,
    }
