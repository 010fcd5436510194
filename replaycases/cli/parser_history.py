"""When the code that recordings pass through last changed, from the history of its own repository. Without network."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from replaycases.cli.reading import USAGE, Refused
from replaycases.replay.implementation import Implementation

_COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class ParserHistory:
    """`changed_at` is the time of the last commit that changed one of `paths` below `folder`; `uncommitted` are those
    with changes that no commit has."""

    name: str
    folder: Path
    paths: tuple[str, ...]
    changed_at: datetime
    changed_path: str
    uncommitted: tuple[str, ...]
    known_from: str = "the repository"

    def recorded_at(self, commit: str) -> datetime | None:
        """The time of the commit that a recording names; None where this repository does not have it."""
        if not _COMMIT.fullmatch(commit):
            return None
        return _instant(_git(self.folder, "log", "-1", "--format=%cI", f"{commit}^{{commit}}", "--", allow=(0, 128)))


def history_of(implementation: Implementation) -> ParserHistory | None:
    """None for an implementation that declares no parser. Raises Refused where its history cannot tell."""
    if not implementation.parsers:
        return None
    folder = implementation.path
    if _git(folder, "rev-parse", "--is-shallow-repository", allow=(0, 128)) != "false":
        text = (
            f"{implementation.name}: {folder} is in no git repository with its whole history, so nobody can tell when "
            "its parsers changed. Fetch the history (in CI: fetch-depth 0), or leave --implementation out."
        )
        raise Refused(USAGE, text)
    changed = {path: _instant(_git(folder, "log", "-1", "--format=%cI", "--", path)) for path in implementation.parsers}
    known = {path: at for path, at in changed.items() if at is not None}
    status = {path: _git(folder, "status", "--porcelain", "--", path) for path in implementation.parsers}
    if not known:
        paths = ", ".join(implementation.parsers)
        raise Refused(USAGE, f"{implementation.name}: no commit has its parsers ({paths}). Commit them.")
    newest = max(known, key=lambda path: known[path])
    return ParserHistory(
        name=implementation.name,
        folder=folder,
        paths=implementation.parsers,
        changed_at=known[newest],
        changed_path=newest,
        uncommitted=tuple(path for path, said in status.items() if said),
    )


def _instant(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _git(folder: Path, *arguments: str, allow: tuple[int, ...] = (0,)) -> str:
    """What git says; "" where it ended with another status that is allowed. Nothing of the repository is run: no hooks,
    no monitor; nothing is fetched."""
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    settings = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
    command = ["git", "-C", str(folder), "--literal-pathspecs", *settings, *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; paths come after --
            command, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError:
        raise Refused(USAGE, "git is not installed, and an implementation declares its parsers. Install it.") from None
    except subprocess.TimeoutExpired:
        raise Refused(USAGE, f"{folder}: git gave no answer in {_SECONDS} s.") from None
    if done.returncode not in allow:
        raise Refused(USAGE, f"{folder}: git cannot read the history: {done.stderr.strip()[:300]}")
    return done.stdout.strip() if done.returncode == 0 else ""
