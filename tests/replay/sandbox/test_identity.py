"""The confined user can read what was opened to it, and root's staging folders are what needs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import Mount, Tier
from replaycases.replay.sandbox.identity import confined_uid, open_to_sandbox
from tests.replay.sandbox.confined import ask


def test_the_confined_user_is_never_root() -> None:
    assert confined_uid() != 0


def test_a_private_staged_tree_is_readable_once_opened(tier: Tier, outside: Path) -> None:
    staged = outside / "staged"
    (staged / "package").mkdir(parents=True, mode=0o700)
    staged.chmod(0o700)
    (staged / "package/module.py").write_text("answer = 42", encoding="utf-8")
    (staged / "package/module.py").chmod(0o600)
    open_to_sandbox(staged)
    mount = Mount(source=staged, target="/workflow")
    path = f"{tier.path_inside(mount)}/package/module.py"
    assert ask(tier, "print(json.dumps(open(sys.argv[1]).read()))", path, mounts=(mount,)) == "answer = 42"


def test_opening_keeps_files_unexecutable_and_follows_no_link(outside: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user runs the program as itself: nothing is opened")
    secret = outside / "secret"
    secret.write_text("x", encoding="utf-8")
    secret.chmod(0o600)
    (outside / "staged").mkdir()
    (outside / "staged/link").symlink_to(secret)
    (outside / "staged/file").write_text("x", encoding="utf-8")
    (outside / "staged/file").chmod(0o600)
    open_to_sandbox(outside / "staged")
    assert secret.stat().st_mode & 0o777 == 0o600
    assert (outside / "staged/file").stat().st_mode & 0o777 == 0o644
