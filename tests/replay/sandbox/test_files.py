"""What lies outside is neither read nor changed; what is mounted is read and not changed; /tmp is private."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import Mount, Tier
from replaycases.replay.sandbox.identity import confined_uid, popen_identity
from tests.replay.sandbox.confined import ROOT, ask, run, started

READ = "print(json.dumps({path: attempt(lambda: open(path, 'rb').read()) for path in sys.argv[1:]}))"
CHANGE = """
path = sys.argv[1]
flags = os.O_RDONLY | os.O_TRUNC
attacks = {
    "write": lambda: open(path, "ab").write(b"x"), "empty": lambda: os.open(path, flags),
    "truncate": lambda: os.truncate(path, 0), "unlink": lambda: os.unlink(path),
    "rename": lambda: os.rename(path, path + "2"), "link": lambda: os.link(path, path + "3"),
    "chmod": lambda: os.chmod(path, 0o777), "symlink": lambda: os.symlink("x", path + "4"),
    "xattr": lambda: os.setxattr(path, "user.x", b"x"), "mkdir": lambda: os.mkdir(path + "5"),
    "fifo": lambda: os.mkfifo(path + "6"),
}
print(json.dumps({name: attempt(attack) for name, attack in attacks.items()}))
"""


def theirs(path: Path, text: str = "evidence") -> Path:
    """A file that the confined user itself owns and may do anything with."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o666)
    if os.geteuid() == 0:
        os.chown(path, confined_uid(), confined_uid())
    return path


def test_files_outside_are_not_read(tier: Tier, outside: Path) -> None:
    canary = theirs(outside / "canary")
    paths = [canary, Path(__file__), ROOT / "pyproject.toml", "/etc/shadow", "/etc/passwd", Path.home() / ".profile"]
    answers = ask(tier, READ, *map(str, paths))
    assert set(answers.values()) <= {"EACCES", "ENOENT", "EPERM"}
    assert len(answers) == len(paths)


def test_files_outside_are_not_changed(tier: Tier, outside: Path) -> None:
    canary = theirs(outside / "canary")
    before = canary.stat()
    answers = ask(tier, CHANGE, str(canary))
    assert set(answers.values()) <= {"EACCES", "ENOENT", "EPERM", "EROFS", "EXDEV"}, answers
    after = canary.stat()
    assert (after.st_mode, after.st_size, after.st_ino) == (before.st_mode, before.st_size, before.st_ino)
    assert [path.name for path in outside.iterdir()] == ["canary"]


def test_a_mounted_tree_is_read_and_not_changed(tier: Tier, outside: Path) -> None:
    theirs(outside / "module.py", "answer = 42")
    mount = Mount(source=outside, target="/workflow")
    inside = f"{tier.path_inside(mount)}/module.py"
    assert ask(tier, READ, inside, mounts=(mount,)) == {inside: "worked"}
    answers = ask(tier, CHANGE, inside, mounts=(mount,))
    assert "worked" not in answers.values(), answers
    assert [path.name for path in outside.iterdir()] == ["module.py"]
    assert (outside / "module.py").read_text(encoding="utf-8") == "answer = 42"


@pytest.mark.parametrize("path", ["/x", "/usr/lib/x", "/usr/bin/python3", "/etc/x", "/dev/x", "/var/x", "/run/x"])
def test_the_root_is_read_only(tier: Tier, path: str) -> None:
    answer = ask(tier, "print(json.dumps(attempt(open, sys.argv[1], 'ab')))", path)
    assert answer in {"EACCES", "EROFS", "ENOENT", "EPERM"}


def test_the_private_folder_is_writable_and_gone_afterwards(tier: Tier) -> None:
    code = """
import tempfile
path = os.path.join(tempfile.gettempdir(), "left-behind")
os.makedirs(path + "/deep", mode=0o000); open(path + ".txt", "w").write("x" * 100000)
print(json.dumps([path + ".txt", os.listdir(os.environ["HOME"])]))
"""
    path, listing = ask(tier, code)
    assert sorted(listing) == ["left-behind", "left-behind.txt"]
    assert not Path(path).exists()
    assert not Path(path).parent.exists() or str(Path(path).parent) == "/tmp"


def test_a_killed_run_leaves_no_private_folder(tier: Tier) -> None:
    code = "me.send(os.environ['TMPDIR'].encode()); open(os.environ['TMPDIR'] + '/mine', 'w'); signal.pause()"
    with started(tier, code) as confined:
        folder = Path(confined.hear().decode())
        confined.running.kill()
        assert not (folder / "mine").exists()
        assert not folder.exists() or str(folder) == "/tmp"


def test_one_run_does_not_see_what_another_left(tier: Tier) -> None:
    leave = "open(os.environ['TMPDIR'] + '/left', 'w'); print(json.dumps(os.listdir(os.environ['TMPDIR'])))"
    assert ask(tier, leave) == ["left"]
    assert ask(tier, "print(json.dumps(os.listdir(os.environ['TMPDIR'])))") == []


def test_the_environment_holds_only_what_we_set(tier: Tier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "secret")
    names = set(ask(tier, "print(json.dumps(dict(os.environ)))"))
    expected = {"PATH", "LANG", "HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "REPLAYCASES_FD"}
    assert expected <= names <= expected | {"PWD", "LC_CTYPE"}


def test_the_environment_of_a_process_outside_is_not_read(tier: Tier) -> None:
    code = """
import glob
def read(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
environments = [path for path in glob.glob("/proc/*/environ") if b"CANARY_TOKEN" in read(path)]
# Not written out, or our own command line would hold it.
lines = [path for path in glob.glob("/proc/*/cmdline") if b"sle" + b"ep" in read(path)]
print(json.dumps(environments + lines))
"""
    # Of the same user as the confined process, so that ownership is not what refuses.
    with subprocess.Popen(["sleep", "1000"], env={"CANARY_TOKEN": "secret"}, **popen_identity()) as victim:
        try:
            assert ask(tier, code) == []
        finally:
            victim.kill()


def test_no_process_inside_has_the_environment_of_the_supervisor(tier: Tier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/canary-folder")
    code = """
import glob
def read(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
print(json.dumps([path for path in glob.glob("/proc/*/environ") if b"canary" + b"-folder" in read(path)]))
"""
    assert ask(tier, code) == []


OPEN_DESCRIPTORS = """
def is_open(fd):
    return attempt(os.fstat, fd) == "worked"
print(json.dumps([fd for fd in range(1024) if is_open(fd)] + [me.fileno()]))
"""


def test_no_descriptor_is_inherited_but_the_protocol_and_the_outputs(tier: Tier) -> None:
    with open(__file__, "rb") as secret:
        os.set_inheritable(secret.fileno(), True)
        *fds, protocol = ask(tier, OPEN_DESCRIPTORS)
    assert fds == [0, 1, 2, protocol]


def test_no_descriptor_is_inherited_where_another_run_goes_on(tier: Tier) -> None:
    """Its guard is forked when its request is there already, and the status socket in it would tell the outcome."""
    with started(tier, "me.send(b'here'); signal.pause()") as other:
        assert other.hear() == b"here"
        *fds, protocol = ask(tier, OPEN_DESCRIPTORS)
    assert fds == [0, 1, 2, protocol]


def test_standard_input_is_empty(tier: Tier) -> None:
    assert ask(tier, "print(json.dumps(sys.stdin.read()))") == ""


def test_the_process_has_no_rights_to_gain(tier: Tier) -> None:
    status, output = run(tier, "print(os.getuid(), attempt(os.setuid, 0), os.getgroups())")
    assert status == 0
    uid, refused, _ = output.split(maxsplit=2)
    assert int(uid) == confined_uid()
    assert refused in {"EPERM", "EINVAL"}  # EINVAL: the namespace has no such user
