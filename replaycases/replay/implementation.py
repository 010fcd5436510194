"""An implementation: the code under test, named by a JSON file, identified by what its folder contains.

The file: {name, version, commit, path, adapter, python?, serving?, clock?, contracts?, parsers?}. `path` and `python`
are relative to the file, `parsers` to the folder that `path` names. `adapter` is {kind: "python", target:
"package.module:function"} or {kind: "command", argv}.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from replaycases.fixture.canonical import digest
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.model import SERVING_PARTS
from replaycases.fixture.pointer import escape
from replaycases.fixture.strict_json import parse
from replaycases.replay.tree import TREE_LIMITS, Entry, TreeInvalid, TreeLimits, read_tree, tree_document

LARGEST_SPEC = 1024 * 1024
"""Bytes of an implementation file."""

_REQUIRED = ("name", "version", "commit", "path", "adapter")
_OPTIONAL = ("python", "serving", "clock", "contracts", "parsers")
_NAME = r"[^\W\d]\w*"
_TARGET = re.compile(rf"{_NAME}(?:\.{_NAME})*:{_NAME}(?:\.{_NAME})*")
_CLOCKS: dict[Any, Literal["frozen", "injected"]] = {"frozen": "frozen", "injected": "injected"}


class ImplementationInvalid(Exception):
    """The file, or the folder that it names, cannot be used. `pointer` is into the file (RFC 6901)."""

    def __init__(self, file: Path, pointer: str, message: str, hint: str) -> None:
        self.file, self.pointer, self.message, self.hint = file, pointer, message, hint
        super().__init__(f"{file.name}: {pointer or '/'}: {message}; {hint}")


@dataclass(frozen=True, kw_only=True)
class PythonAdapter:
    """Call `target` ("package.module:function", found from the folder) with the session, by the harness."""

    target: str


@dataclass(frozen=True, kw_only=True)
class CommandAdapter:
    """Run `argv` in the folder; it speaks the protocol itself over the descriptor in REPLAYCASES_FD."""

    argv: tuple[str, ...]


Adapter = PythonAdapter | CommandAdapter


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """`digest` covers the mounted files and the adapter, and nothing else: two implementations with the same code
    are the same, whatever they call themselves. `python` is the absolute path of an interpreter (of a virtual
    environment that was named: the one in it); None lets the sandbox choose. `entries` is what will be mounted.
    `parsers` are the files and folders below `path` that recorded answers pass through."""

    name: str
    version: str
    commit: str
    path: Path
    adapter: Adapter
    digest: str
    entries: tuple[Entry, ...] = field(repr=False)
    python: Path | None = None
    serving: Mapping[str, Any] | None = None
    clock: Literal["frozen", "injected"] | None = None
    contracts: Mapping[str, str] = field(default_factory=dict)
    parsers: tuple[str, ...] = ()

    def parser_digests(self) -> dict[str, str]:
        """What each declared parser, a file or a folder, hashes to."""
        return {path: digest(tree_document(self._below(path))) for path in self.parsers}

    def _below(self, path: str) -> tuple[Entry, ...]:
        at = posixpath.normpath(path)
        return tuple(one for one in self.entries if at == "." or one.path == at or one.path.startswith(f"{at}/"))


def load_implementation(path: Path, *, limits: TreeLimits = TREE_LIMITS) -> Implementation:
    """Read and check the file, and hash the folder. Raises ImplementationInvalid."""
    spec = _Spec(path)
    adapter = spec.adapter()
    root = spec.folder()
    try:
        entries = read_tree(root, limits=limits)
    except TreeInvalid as error:
        raise ImplementationInvalid(path, "/path", str(error), "correct the folder") from None
    if not entries:
        raise spec.fault("/path", "the folder holds no files to mount", "name the folder of the workflow's code")
    return Implementation(
        name=spec.text("name"),
        version=spec.text("version"),
        commit=spec.text("commit"),
        path=root,
        adapter=adapter,
        digest=implementation_digest(entries, adapter),
        entries=entries,
        python=spec.python(),
        serving=spec.serving(),
        clock=spec.clock(),
        contracts=spec.contracts(),
        parsers=spec.parsers(root),
    )


def implementation_digest(entries: tuple[Entry, ...], adapter: Adapter) -> str:
    """The digest of the RFC 8785 form of {adapter, tree: [[path, kind, digest or link target], …]}."""
    return digest({"adapter": _adapter_document(adapter), "tree": tree_document(entries)})


def _adapter_document(adapter: Adapter) -> dict[str, Any]:
    if isinstance(adapter, PythonAdapter):
        return {"kind": "python", "target": adapter.target}
    return {"kind": "command", "argv": list(adapter.argv)}


class _Spec:
    """The parsed file; each method checks and returns one part of it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.document = self._object("", self._parsed(), required=_REQUIRED, optional=_OPTIONAL)

    def fault(self, pointer: str, message: str, hint: str) -> ImplementationInvalid:
        return ImplementationInvalid(self.file, pointer, message, hint)

    def text(self, key: str) -> str:
        return self._text(f"/{key}", self.document[key])

    def folder(self) -> Path:
        root = (self.file.parent / self.text("path")).resolve()
        if not os.path.isdir(root):  # the method raises for a name that is too long
            raise self.fault("/path", "not a folder", "name the folder of the code, relative to this file")
        return root

    def python(self) -> Path | None:
        if "python" not in self.document:
            return None
        # Not resolved: an interpreter in a virtual environment is a link, and is found by where the link stands.
        named = self.file.parent.resolve() / self.text("python")
        path = named / "bin" / "python" if os.path.isdir(named) else named
        if not os.path.exists(path):
            raise self.fault("/python", "no interpreter at this path", "name an interpreter or a virtual environment")
        return path

    def adapter(self) -> Adapter:
        found = self.document["adapter"]
        kind = found.get("kind") if isinstance(found, dict) else None
        if kind == "python":
            self._object("/adapter", found, required=("kind", "target"))
            target = self._text("/adapter/target", found["target"])
            if not _TARGET.fullmatch(target):
                raise self.fault("/adapter/target", "not a function's place", 'write "package.module:function"')
            return PythonAdapter(target=target)
        if kind == "command":
            self._object("/adapter", found, required=("kind", "argv"))
            return CommandAdapter(argv=self._argv(found["argv"]))
        raise self.fault(
            "/adapter",
            "not an adapter",
            'write {"kind": "python", "target": "package.module:function"} or {"kind": "command", "argv": [...]}',
        )

    def serving(self) -> Mapping[str, Any] | None:
        if "serving" not in self.document:
            return None
        found = self._object("/serving", self.document["serving"], optional=(*SERVING_PARTS, "returned_model"))
        if not isinstance(found.get("settings", {}), dict):
            raise self.fault("/serving/settings", "not an object", "write the sampling settings as an object")
        return found

    def clock(self) -> Literal["frozen", "injected"] | None:
        if "clock" not in self.document:
            return None
        found = self.document["clock"]
        if not isinstance(found, str) or found not in _CLOCKS:
            raise self.fault("/clock", "not a way to control the clock", 'write "frozen" or "injected", or omit it')
        if found == "frozen" and not isinstance(self.adapter(), PythonAdapter):
            raise self.fault("/clock", "only a python adapter's clock can be frozen", 'write "injected" if it asks us')
        return _CLOCKS[found]

    def contracts(self) -> Mapping[str, str]:
        found = self.document.get("contracts", {})
        if not isinstance(found, dict):
            raise self.fault("/contracts", "not an object", "write {contract: version}")
        return {key: self._text(f"/contracts/{escape(key)}", value) for key, value in found.items()}

    def parsers(self, root: Path) -> tuple[str, ...]:
        found = self.document.get("parsers", [])
        if not isinstance(found, list):
            raise self.fault("/parsers", "not a list", "write the paths of parsers and validators")
        for index, path in enumerate(found):
            pointer = f"/parsers/{index}"
            named = Path(self._text(pointer, path))
            if named.is_absolute() or ".." in named.parts or not os.path.lexists(root / named):
                raise self.fault(pointer, "no file or folder below `path`", "write a path relative to it")
        return tuple(found)

    def _parsed(self) -> Any:
        try:
            with self.file.open("rb") as stream:
                data = stream.read(LARGEST_SPEC + 1)
        except OSError as error:
            raise self.fault("", f"cannot be read ({error.strerror})", "name an implementation file") from None
        if len(data) > LARGEST_SPEC:
            raise self.fault("", f"larger than {LARGEST_SPEC} bytes", "name an implementation file")
        try:
            return parse(data)
        except FixtureInvalid as error:
            first = error.findings[0]
            raise self.fault(first.pointer, first.message, first.hint.rstrip(".")) from None

    def _object(
        self, pointer: str, value: Any, *, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.fault(pointer, "not an object", f"write an object with {', '.join(required or optional)}")
        for key in value:
            if key not in required + optional:
                known = ", ".join(required + optional)
                raise self.fault(f"{pointer}/{escape(key)}", "unknown key", f"known keys are {known}")
        for key in required:
            if key not in value:
                raise self.fault(pointer, f"{key} is missing", "add it")
        return value

    def _text(self, pointer: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise self.fault(pointer, "not a text", "write a non-empty string")
        return value

    def _argv(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise self.fault("/adapter/argv", "not a command", "write a non-empty list of strings")
        for index, part in enumerate(value):
            if not isinstance(part, str) or "\0" in part or (index == 0 and not part):
                raise self.fault(f"/adapter/argv/{index}", "not a text", "write a string")
        return tuple(value)
