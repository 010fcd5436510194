"""No tier lets a byte out, whatever the family of the socket; what listens outside sees nothing."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import Mount, Tier
from tests.replay.sandbox.confined import ask

REACH_OUT = """
kind, family, where = sys.argv[1:]
address = tuple(json.loads(where)) if where.startswith("[") else "\\0" + where[1:] if where.startswith("@") else where
def reach():
    with socket.socket(getattr(socket, family), getattr(socket, kind)) as out:
        out.connect(address)
        out.send(b"secret")
print(json.dumps(attempt(reach)))
"""


def heard(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        listener.accept() if listener.type == socket.SOCK_STREAM else listener.recv(100)
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
@pytest.mark.parametrize(("family", "host"), [("AF_INET", "127.0.0.1"), ("AF_INET6", "::1")])
def test_internet_sockets_reach_nobody(tier: Tier, kind: str, family: str, host: str) -> None:
    with socket.socket(getattr(socket, family), getattr(socket, kind)) as listener:
        try:
            listener.bind((host, 0))
        except OSError:
            pytest.skip(f"this machine has no {family}")
        if kind == "SOCK_STREAM":
            listener.listen()
        refused = ask(tier, REACH_OUT, kind, family, f'["{host}", {listener.getsockname()[1]}]')
        assert refused == "EPERM"
        assert not heard(listener)


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
def test_a_unix_socket_in_a_mounted_tree_reaches_nobody(tier: Tier, outside: Path, kind: str) -> None:
    mount = Mount(source=outside, target="/workflow")
    with socket.socket(socket.AF_UNIX, getattr(socket, kind)) as listener:
        listener.bind(str(outside / "service"))
        (outside / "service").chmod(0o777)
        if kind == "SOCK_STREAM":
            listener.listen()
        refused = ask(tier, REACH_OUT, kind, "AF_UNIX", f"{tier.path_inside(mount)}/service", mounts=(mount,))
        assert refused == "EPERM"
        assert not heard(listener)


def test_a_datagram_pair_cannot_send_to_a_named_socket(tier: Tier, outside: Path) -> None:
    code = """
def send():
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"secret", sys.argv[1])
def send_connected():
    socket.socketpair()[0].sendto(b"secret", sys.argv[1])
print(json.dumps([attempt(send), attempt(send_connected)]))
"""
    mount = Mount(source=outside, target="/workflow")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(outside / "service"))
        (outside / "service").chmod(0o777)
        refused = ask(tier, code, f"{tier.path_inside(mount)}/service", mounts=(mount,))
        assert "worked" not in refused
        assert not heard(listener)


def test_abstract_unix_sockets_reach_nobody(tier: Tier) -> None:
    name = f"replaycases-{secrets.token_hex(4)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        assert ask(tier, REACH_OUT, "SOCK_STREAM", "AF_UNIX", f"@{name}") == "EPERM"
        assert not heard(listener)


@pytest.mark.parametrize("family", ["AF_NETLINK", "AF_VSOCK", "AF_PACKET", "AF_ALG", "AF_BLUETOOTH"])
def test_other_families_have_no_sockets(tier: Tier, family: str) -> None:
    number = int(getattr(socket, family, 31))
    code = "print(json.dumps(attempt(socket.socket, int(sys.argv[1]), socket.SOCK_RAW)))"
    assert ask(tier, code, str(number)) == "EPERM"


def test_names_are_not_resolved(tier: Tier) -> None:
    code = """
try:
    socket.getaddrinfo("localhost.example.com", 80)
    print(json.dumps("resolved"))
except socket.gaierror:
    print(json.dumps("refused"))
"""
    assert ask(tier, code) == "refused"


def test_what_a_workflow_needs_still_works(tier: Tier) -> None:
    code = """
import asyncio, sqlite3, ssl, subprocess, tempfile, threading, zoneinfo, shutil
asyncio.run(asyncio.sleep(0))
thread = threading.Thread(target=int); thread.start(); thread.join()
said = subprocess.run([sys.executable, "-c", "print(7)"], stdout=subprocess.PIPE).stdout.decode().strip()
ssl.create_default_context(); zoneinfo.ZoneInfo("Europe/Berlin")
with tempfile.TemporaryDirectory() as folder:
    sqlite3.connect(folder + "/db").execute("create table t (x)")
child = subprocess.Popen(["sleep", "100"]); child.terminate()
print(json.dumps([said, child.wait(), shutil.which("python3") is not None]))
"""
    assert ask(tier, code) == ["7", -15, True]
