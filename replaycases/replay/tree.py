"""Which files of an implementation's folder are mounted, and what they hash to.

Left out, because the code under test must not see its own oracle or history: version control folders, byte code
caches, virtual environments (named by `python` instead), evidence found by content (see `replay.evidence`) and what
the folder's `.replayignore` names. Empty folders are neither mounted nor hashed.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from replaycases.replay.evidence import holds_evidence

IGNORE_FILE = ".replayignore"
LEFT_OUT_NAMES = frozenset({".git", ".hg", ".svn", "__pycache__", IGNORE_FILE})
VENV_MARK = "pyvenv.cfg"
CHUNK = 1 << 20


class TreeInvalid(Exception):
    """The folder cannot be mounted. The message names the file and says what to do."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(f"{path or '.'}: {message}")


@dataclass(frozen=True, kw_only=True)
class TreeLimits:
    """Caps on what is mounted: number of files and links, bytes of file content, folders within folders."""

    files: int = 20_000
    bytes: int = 512 * 1024 * 1024
    depth: int = 100


TREE_LIMITS = TreeLimits()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One mounted file or symbolic link. `path` is relative, with "/"; `digest` is "sha256:…" over a file's bytes;
    `target` is a link's target as it stands."""

    path: str
    kind: Literal["file", "executable", "link"]
    digest: str = ""
    target: str = ""

    def as_json(self) -> list[str]:
        return [self.path, self.kind, self.target if self.kind == "link" else self.digest]


def read_tree(root: Path, *, limits: TreeLimits = TREE_LIMITS) -> tuple[Entry, ...]:
    """Every mounted file and link of `root`, ordered by path (by code point). Raises TreeInvalid."""
    ignored = _ignore_pattern(root)
    entries: list[Entry] = []
    size = 0
    for path, info in _walk(root, ignored, limits.depth):
        if len(entries) >= limits.files:
            raise TreeInvalid("", f"more than {limits.files} files; name what is not needed in {IGNORE_FILE}")
        size += info.st_size if stat.S_ISREG(info.st_mode) else 0
        if size > limits.bytes:
            raise TreeInvalid("", f"more than {limits.bytes} bytes; name what is not needed in {IGNORE_FILE}")
        entry = _entry(root, path, info)
        if entry is not None:
            entries.append(entry)
    return tuple(sorted(entries, key=lambda entry: entry.path))


def tree_document(entries: tuple[Entry, ...]) -> list[Any]:
    """What the digest covers: [[path, kind, digest or link target], …]. No times, owners or other mode bits."""
    return [entry.as_json() for entry in entries]


def open_file(path: Path) -> int:
    """A read-only descriptor of a regular file; a link or device put in its place in the meantime is refused."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("not a regular file")
    return descriptor


def _walk(root: Path, ignored: re.Pattern[str] | None, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    """(path, stat) of what is neither a folder nor left out by name."""
    folders = [""]
    while folders:
        folder = folders.pop()
        if folder.count("/") >= depth:
            raise TreeInvalid("", f"folders are nested deeper than {depth}; name what is not needed in {IGNORE_FILE}")
        found = _listed(root, folder)
        if folder and VENV_MARK in (item.name for item in found):
            continue
        for item in found:
            path = f"{folder}/{item.name}" if folder else item.name
            is_folder = item.is_dir(follow_symlinks=False)
            if item.name in LEFT_OUT_NAMES or (ignored and ignored.match(f"{path}/" if is_folder else path)):
                continue
            if is_folder:
                folders.append(path)
            else:
                yield path, item.stat(follow_symlinks=False)


def _listed(root: Path, folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(root / folder) as listing:
            return list(listing)
    except OSError as error:
        message = f"cannot be listed ({error.strerror}); make it readable or name it in {IGNORE_FILE}"
        raise TreeInvalid(ascii(folder)[1:-1], message) from None


def _entry(root: Path, path: str, info: os.stat_result) -> Entry | None:
    """The entry, or None if the file is evidence."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise TreeInvalid(ascii(path), f"the file name is not UTF-8; rename it or name it in {IGNORE_FILE}") from None
    if stat.S_ISLNK(info.st_mode):
        return Entry(path=path, kind="link", target=_inner_target(root, path))
    if not stat.S_ISREG(info.st_mode):
        raise TreeInvalid(path, f"neither a file nor a folder nor a link; remove it or name it in {IGNORE_FILE}")
    try:
        descriptor = _open_whole(root / path, info.st_size)
    except OSError as error:
        raise TreeInvalid(path, f"cannot be read ({error.strerror or error})") from None
    with os.fdopen(descriptor, "rb") as stream:
        if holds_evidence(stream, size=info.st_size):
            return None
        stream.seek(0)
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    kind: Literal["executable", "file"] = "executable" if info.st_mode & stat.S_IXUSR else "file"
    return Entry(path=path, kind=kind, digest=f"sha256:{digest}")


def _open_whole(path: Path, size: int) -> int:
    """Like open_file; refuses a file that holds more than its size, as those of /proc do: it may have no end."""
    descriptor = open_file(path)
    try:
        if os.pread(descriptor, 1, size):
            raise OSError("it holds more than its size")
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _inner_target(root: Path, path: str) -> str:
    """The link's target, refused if it leads out of the tree: by its own words, or through other links."""
    target = os.readlink(root / path)
    lexical = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    real_root = os.path.realpath(root)
    inside = os.path.commonpath([real_root, os.path.realpath(root / path)]) == real_root
    if posixpath.isabs(target) or lexical == ".." or lexical.startswith("../") or not inside:
        raise TreeInvalid(path, f"a link that leaves the folder; copy its target in, or name it in {IGNORE_FILE}")
    return target


def _ignore_pattern(root: Path) -> re.Pattern[str] | None:
    """The rules of `.replayignore` as one pattern over relative paths (folders end with "/").

    One glob a line, `#` starts a comment line. A "/" at the start or inside anchors it at the folder, otherwise it
    names a file or folder at any depth; "/" at the end means folders only; `*` and `?` stay within one name, `**`
    spans any number. Negation (`!`) is refused: a rule can only take away.
    """
    try:
        text = (root / IGNORE_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise TreeInvalid(IGNORE_FILE, "cannot be read as UTF-8 text") from None
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    rules = [(number, line) for number, line in lines if line and not line.startswith("#")]
    for number, line in rules:
        if line.startswith("!"):
            raise TreeInvalid(IGNORE_FILE, f"line {number}: negation is not supported; list what to leave out")
    return re.compile("|".join(_glob(line) for _, line in rules)) if rules else None


def _glob(rule: str) -> str:
    body = rule.strip("/")
    anchored = "/" in rule.rstrip("/")
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", body)
    wild = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pattern = "".join(wild.get(token) or re.escape(token) for token in tokens)
    end = "/$" if rule.endswith("/") else "/?$"
    return ("(?:" if anchored else "(?:(?:[^/]+/)*") + pattern + end + ")"
