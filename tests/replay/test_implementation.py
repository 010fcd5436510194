"""The implementation file is strict, and the digest names the code and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from replaycases.replay.implementation import (
    CommandAdapter,
    Implementation,
    ImplementationInvalid,
    PythonAdapter,
    load_implementation,
)
from replaycases.replay.staging import HARNESS_PACKAGE, StagingFailed, staged
from replaycases.replay.tree import TreeLimits

FIXTURE = {"schema_version": "1.0", "case_id": "RC-1", "tool_events": [], "expected": {"prohibited_claims": ["done"]}}
MANIFEST = {"manifest_version": "1", "fixture_hash": "sha256:00"}


def write_spec(folder: Path, **changes: Any) -> Path:
    spec: dict[str, Any] = {
        "name": "support-agent",
        "version": "1.4.0",
        "commit": "abc123",
        "path": "code",
        "adapter": {"kind": "python", "target": "agent:replay"},
    }
    spec.update(changes)
    file = folder / "implementation.json"
    file.write_text(json.dumps({key: value for key, value in spec.items() if value is not None}))
    return file


def load(folder: Path, **changes: Any) -> Implementation:
    return load_implementation(write_spec(folder, **changes))


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "lib").mkdir(parents=True)
    (folder / "agent.py").write_text("def replay(session): ...\n")
    (folder / "lib" / "rules.py").write_text("LIMIT = 3\n")
    return folder


def paths(implementation: Implementation) -> list[str]:
    return [entry.path for entry in implementation.entries]


def test_a_python_adapter_is_read_with_its_defaults(tmp_path: Path, code: Path) -> None:
    found = load(tmp_path)
    assert found.adapter == PythonAdapter(target="agent:replay")
    assert (found.name, found.version, found.commit, found.path) == ("support-agent", "1.4.0", "abc123", code)
    assert (found.python, found.serving, found.clock, found.contracts) == (None, None, None, {})


def test_a_command_adapter_is_read(tmp_path: Path, code: Path) -> None:
    found = load(tmp_path, adapter={"kind": "command", "argv": ["node", "main.js", ""]})
    assert found.adapter == CommandAdapter(argv=("node", "main.js", ""))


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"colour": "red"}, "/colour"),
        ({"a/b": 1}, "/a~1b"),
        ({"name": None}, ""),
        ({"name": " "}, "/name"),
        ({"version": 3}, "/version"),
        ({"path": "nowhere"}, "/path"),
        ({"path": "implementation.json"}, "/path"),
        ({"adapter": {"kind": "shell"}}, "/adapter"),
        ({"adapter": "agent:replay"}, "/adapter"),
        ({"adapter": {"kind": "python"}}, "/adapter"),
        ({"adapter": {"kind": "python", "target": "agent.replay"}}, "/adapter/target"),
        ({"adapter": {"kind": "python", "target": "agent:replay", "argv": []}}, "/adapter/argv"),
        ({"adapter": {"kind": "command", "argv": []}}, "/adapter/argv"),
        ({"adapter": {"kind": "command", "argv": ["sh", 1]}}, "/adapter/argv/1"),
        ({"python": "no-such-python"}, "/python"),
        ({"serving": ["gpt"]}, "/serving"),
        ({"serving": {"model": "gpt"}}, "/serving/model"),
        ({"serving": {"settings": 1}}, "/serving/settings"),
        ({"clock": "real"}, "/clock"),
        ({"clock": "frozen", "adapter": {"kind": "command", "argv": ["sh"]}}, "/clock"),
        ({"contracts": {"refund/v1": 1}}, "/contracts/refund~1v1"),
    ],
)
def test_a_fault_is_named_by_its_pointer(tmp_path: Path, code: Path, changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(ImplementationInvalid) as refused:
        load(tmp_path, **changes)
    assert refused.value.pointer == pointer
    assert refused.value.hint
    assert "implementation.json" in str(refused.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"\xff{}", b'{"name": "a", "name": "b"}', b'{"name": NaN}', b"[" * 100_000, b" " * 2_000_000],
)
def test_a_file_that_is_no_strict_json_object_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "implementation.json"
    file.write_bytes(data)
    with pytest.raises(ImplementationInvalid):
        load_implementation(file)


def test_a_missing_file_is_refused_as_such(tmp_path: Path) -> None:
    with pytest.raises(ImplementationInvalid, match="cannot be read"):
        load_implementation(tmp_path / "none.json")


def test_names_do_not_hide_that_the_code_is_the_same(tmp_path: Path, code: Path) -> None:
    old = load(tmp_path)
    new = load(tmp_path, name="other", version="2.0.0", commit="def456", serving={"provider": "x"}, clock="frozen")
    assert old.digest == new.digest


def test_the_digest_is_the_same_for_another_checkout(tmp_path: Path, code: Path) -> None:
    before = load(tmp_path).digest
    shutil.copytree(code, tmp_path / "again")
    os.utime(tmp_path / "again" / "agent.py", (0, 0))
    (tmp_path / "again" / "agent.py").chmod(0o600)
    (tmp_path / "again" / "empty").mkdir()
    assert load(tmp_path, path="again").digest == before


def _edit(code: Path) -> None:
    (code / "agent.py").write_text("def replay(session): return 1\n")


def _rename(code: Path) -> None:
    (code / "agent.py").rename(code / "agent2.py")


def _make_executable(code: Path) -> None:
    (code / "agent.py").chmod(0o755)


def _link(code: Path) -> None:
    (code / "lib" / "rules.py").unlink()
    (code / "lib" / "rules.py").symlink_to("../agent.py")


@pytest.mark.parametrize("change", [_edit, _rename, _make_executable, _link])
def test_a_change_of_what_is_mounted_changes_the_digest(tmp_path: Path, code: Path, change: Any) -> None:
    (code / "agent.py").chmod(0o644)
    before = load(tmp_path).digest
    change(code)
    assert load(tmp_path).digest != before


def test_where_a_link_leads_stands_in_the_digest(tmp_path: Path, code: Path) -> None:
    link = code / "link.py"
    link.symlink_to("agent.py")
    before = load(tmp_path).digest
    link.unlink()
    link.symlink_to("lib/rules.py")
    assert load(tmp_path).digest != before


@pytest.mark.parametrize(
    "adapter", [{"kind": "python", "target": "agent:other"}, {"kind": "command", "argv": ["python3", "agent.py"]}]
)
def test_another_adapter_is_another_implementation(tmp_path: Path, code: Path, adapter: dict[str, Any]) -> None:
    assert load(tmp_path).digest != load(tmp_path, adapter=adapter).digest


def test_the_arguments_of_a_command_stand_in_the_digest(tmp_path: Path, code: Path) -> None:
    one = load(tmp_path, adapter={"kind": "command", "argv": ["sh", "a b"]})
    two = load(tmp_path, adapter={"kind": "command", "argv": ["sh", "a", "b"]})
    assert one.digest != two.digest


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("case.json", json.dumps(FIXTURE)),
        ("case.txt", json.dumps(FIXTURE)),
        ("pretty.json", "\ufeff\n" + json.dumps(FIXTURE, indent=2)),
        ("content-only.json", json.dumps({"schema_version": "2.0", "case_id": "RC-1", "events": []})),
        ("manifest.json", json.dumps(MANIFEST)),
        ("manifests.json", json.dumps([MANIFEST, MANIFEST])),
        ("packet.json", json.dumps({"packet": {"parts": [{"old": MANIFEST}]}})),
        ("lines.jsonl", json.dumps({"a": 1}) + "\n" + json.dumps(FIXTURE) + "\n"),
        ("escaped.json", json.dumps(FIXTURE).replace("expected", "\\u0065xpected")),
        ("case.detect.json", json.dumps({"the refund is done": {"any": ["refunded"]}})),
    ],
)
def test_evidence_is_left_out_by_its_content(tmp_path: Path, code: Path, name: str, content: str) -> None:
    before = load(tmp_path)
    (code / "tests").mkdir()
    (code / "tests" / name).write_text(content)
    found = load(tmp_path)
    assert (found.digest, paths(found)) == (before.digest, ["agent.py", "lib/rules.py"])


@pytest.mark.parametrize(
    "content", ['{"schema_version": "3"}', '{"expected": 1}', "[1, 2]", "{not json", "", "{}", "[" * 5000]
)
def test_other_json_is_mounted(tmp_path: Path, code: Path, content: str) -> None:
    (code / "settings.json").write_text(content)
    assert "settings.json" in paths(load(tmp_path))


def test_history_caches_and_virtual_environments_are_left_out(tmp_path: Path, code: Path) -> None:
    before = load(tmp_path).digest
    for name in (".git/HEAD", "lib/__pycache__/rules.pyc", "env/pyvenv.cfg", "env/bin/activate"):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text("x")
    (code / "env" / "bin" / "python").symlink_to("/usr/bin/python3")
    (code / "vendored").mkdir()
    (code / "vendored" / ".git").write_text("gitdir: elsewhere")
    assert load(tmp_path).digest == before


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ("rules.py", ["a/x.log", "agent.py", "b/a/x.log"]),
        ("*.log", ["agent.py", "lib/rules.py"]),
        ("a/", ["agent.py", "lib/rules.py"]),
        ("/a", ["agent.py", "b/a/x.log", "lib/rules.py"]),
        ("a/x.log", ["agent.py", "b/a/x.log", "lib/rules.py"]),
        ("**/x.log", ["agent.py", "lib/rules.py"]),
        ("b/**", ["a/x.log", "agent.py", "lib/rules.py"]),
        ("?.log/", ["a/x.log", "agent.py", "b/a/x.log", "lib/rules.py"]),
        ("# rules.py", ["a/x.log", "agent.py", "b/a/x.log", "lib/rules.py"]),
        ("  \n\nlib", ["a/x.log", "agent.py", "b/a/x.log"]),
        ("*", []),
        ("[abc].log", ["a/x.log", "agent.py", "b/a/x.log", "lib/rules.py"]),
    ],
)
def test_the_ignore_file_takes_away_what_it_names(tmp_path: Path, code: Path, rule: str, left: list[str]) -> None:
    for folder in ("a", "b/a"):
        (code / folder).mkdir(parents=True)
        (code / folder / "x.log").write_text("x")
    (code / ".replayignore").write_text(rule + "\n")
    try:
        found = paths(load(tmp_path))
    except ImplementationInvalid:
        found = []
    assert found == left


def test_a_negated_ignore_rule_is_refused(tmp_path: Path, code: Path) -> None:
    (code / ".replayignore").write_text("*.log\n!keep.log\n")
    with pytest.raises(ImplementationInvalid, match="line 2"):
        load(tmp_path)


@pytest.mark.parametrize("target", ["/etc/passwd", "../implementation.json", "lib/../../x", "../code/agent.py", "loop"])
def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path, code: Path, target: str) -> None:
    (code / "link").symlink_to(target)
    if target == "loop":
        (code / "loop").symlink_to(tmp_path)
    with pytest.raises(ImplementationInvalid, match="leaves the folder"):
        load(tmp_path)


def test_a_link_that_leaves_through_another_link_is_refused(tmp_path: Path, code: Path) -> None:
    """By its words the second link stays inside; the first one makes its `..` lead out."""
    (code / "lib" / "deep").mkdir()
    (code / "lib" / "deep" / "top").symlink_to("../..")
    (code / "link").symlink_to("lib/deep/top/../implementation.json")
    with pytest.raises(ImplementationInvalid, match="link: a link that leaves the folder"):
        load(tmp_path)


@pytest.mark.parametrize(("depth", "fits"), [(100, True), (101, False)])
def test_folders_nest_as_deep_as_every_later_reader_can_follow(
    tmp_path: Path, code: Path, depth: int, fits: bool
) -> None:
    deep = code.joinpath(*["d"] * depth)
    deep.mkdir(parents=True)
    (deep / "deep.py").write_text("x")
    if fits:
        assert "d/" * depth + "deep.py" in paths(load(tmp_path))
    else:
        with pytest.raises(ImplementationInvalid, match="nested deeper than 100"):
            load(tmp_path)


def test_a_path_that_is_too_long_is_refused(tmp_path: Path, code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(code)
    for _ in range(20):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    with pytest.raises(ImplementationInvalid, match="cannot be listed"):
        load(tmp_path)


@pytest.mark.parametrize("key", ["path", "python"])
def test_a_name_that_no_system_takes_is_a_fault_of_the_file(tmp_path: Path, code: Path, key: str) -> None:
    with pytest.raises(ImplementationInvalid) as refused:
        load(tmp_path, **{key: "x" * 5000})
    assert refused.value.pointer == f"/{key}"


@pytest.mark.skipif(not Path("/proc/sys/kernel/random").is_dir(), reason="needs Linux's /proc")
def test_a_file_that_holds_more_than_its_size_is_refused(tmp_path: Path) -> None:
    """Such a file may have no end, and what it holds now is not what it holds next."""
    with pytest.raises(ImplementationInvalid) as refused:
        load(tmp_path, path="/proc/sys/kernel/random")
    assert refused.value.pointer == "/path"
    assert "more than its size" in str(refused.value)


def test_a_pipe_in_the_folder_is_refused_and_not_read(tmp_path: Path, code: Path) -> None:
    os.mkfifo(code / "pipe")
    with pytest.raises(ImplementationInvalid, match="pipe: neither a file"):
        load(tmp_path)


def test_a_file_name_that_is_not_utf8_is_refused(tmp_path: Path, code: Path) -> None:
    Path(os.fsdecode(os.fsencode(code) + b"/\xff.py")).write_text("x")
    with pytest.raises(ImplementationInvalid, match="not UTF-8"):
        load(tmp_path)


@pytest.mark.parametrize("limits", [TreeLimits(files=1), TreeLimits(bytes=10)])
def test_a_folder_beyond_the_caps_is_refused(tmp_path: Path, code: Path, limits: TreeLimits) -> None:
    with pytest.raises(ImplementationInvalid, match="more than"):
        load_implementation(write_spec(tmp_path), limits=limits)


def test_a_virtual_environment_stands_for_the_interpreter_in_it(tmp_path: Path, code: Path) -> None:
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "bin" / "python").symlink_to("/bin/sh")
    assert load(tmp_path, python="env").python == tmp_path / "env" / "bin" / "python"


def test_the_copy_holds_what_was_hashed_and_the_harness_and_is_removed(tmp_path: Path, code: Path) -> None:
    (code / "case.json").write_text(json.dumps(FIXTURE))
    (code / "run.sh").write_text("#!/bin/sh\n")
    (code / "run.sh").chmod(0o700)
    (code / "link").symlink_to("lib")
    with staged(load(tmp_path)) as copies:
        found = sorted(str(p.relative_to(copies.workflow)) for p in copies.workflow.rglob("*") if not p.is_dir())
        assert found == ["agent.py", "lib/rules.py", "run.sh"]
        assert os.readlink(copies.workflow / "link") == "lib"
        assert (copies.workflow / "run.sh").stat().st_mode & 0o777 == 0o555
        assert (copies.workflow / "agent.py").stat().st_mode & 0o777 == 0o444
        assert (copies.harness / HARNESS_PACKAGE / "child.py").is_file()
    assert not copies.workflow.exists()


def test_a_file_that_changed_since_it_was_hashed_is_never_mounted(tmp_path: Path, code: Path) -> None:
    loaded = load(tmp_path)
    (code / "agent.py").write_text("def replay(session): cheat()\n")
    with pytest.raises(StagingFailed, match=r"agent\.py: changed"), staged(loaded):
        pytest.fail("mounted")


def test_a_file_replaced_by_a_link_is_never_mounted(tmp_path: Path, code: Path) -> None:
    loaded = load(tmp_path)
    (code / "agent.py").unlink()
    (code / "agent.py").symlink_to("/etc/passwd")
    with pytest.raises(StagingFailed, match=r"agent\.py: cannot be copied"), staged(loaded):
        pytest.fail("mounted")


def test_the_digest_is_one_that_others_can_compute(tmp_path: Path, code: Path) -> None:
    """docs/protocol.md states the rule; here it is followed with other tools."""
    lines = []
    for name in ("agent.py", "lib/rules.py"):
        out = subprocess.run(["sha256sum", code / name], capture_output=True, text=True, check=True).stdout
        lines.append(f'["{name}","file","sha256:{out.split()[0]}"]')
    document = '{"adapter":{"kind":"python","target":"agent:replay"},"tree":[' + ",".join(lines) + "]}"
    out = subprocess.run(["sha256sum"], input=document, capture_output=True, text=True, check=True).stdout
    assert load(tmp_path).digest == "sha256:" + out.split()[0]
