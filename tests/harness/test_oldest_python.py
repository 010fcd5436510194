"""The harness runs in the workflow's own interpreter, from Python 3.9 on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from replaycases import harness

MODULES = sorted(Path(harness.__file__).parent.glob("*.py"))
# What came to the standard library after 3.9 and is within easy reach, by the name that is written.
NEWER_NAMES = {
    "UTC",
    "ExceptionGroup",
    "BaseExceptionGroup",
    "StrEnum",
    "TaskGroup",
    "Runner",
    "pairwise",
    "batched",
    "anext",
    "aiter",
}
NEWER_MODULES = {"tomllib", "typing_extensions"}
NEWER_WORDS = {("dataclass", "slots"), ("dataclass", "kw_only"), ("zip", "strict"), ("bisect", "key")}


def newer_in(source: str) -> Iterator[str]:
    """What 3.9 has not; a syntax that it does not know is a SyntaxError. Annotations are never run."""
    tree = ast.parse(source, feature_version=(3, 9))
    annotations = {id(part) for note in _annotations(tree) for part in ast.walk(note)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and (name := _name(node)) in NEWER_NAMES:
            yield name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node) & (NEWER_MODULES | NEWER_NAMES)
        elif isinstance(node, ast.Call):
            yield from (word.arg for word in node.keywords if word.arg and (_name(node.func), word.arg) in NEWER_WORDS)
        elif id(node) not in annotations and _is_union(node):
            yield "a union of types with |"


def _is_union(node: ast.AST) -> bool:
    """`X | Y` of types; sets and numbers may have it."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)):
        return False
    return bool({_name(node.left), _name(node.right)} & {"None", "int", "str", "float", "bool", "list", "dict"})


def _annotations(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if part is not None:
                yield part


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    named = {alias.name.split(".")[0] for alias in node.names}
    return named | ({node.module.split(".")[0]} if isinstance(node, ast.ImportFrom) and node.module else set())


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return getattr(node, "id", "") or getattr(node, "attr", "")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_module_of_the_harness_holds_nothing_that_came_after_3_9(module: Path) -> None:
    assert list(newer_in(module.read_text("utf-8"))) == []


@pytest.mark.parametrize("source", [
    "from datetime import UTC", "import datetime\nx = datetime.UTC", "import tomllib", "zip((), (), strict=True)",
    "isinstance(1, int | None)", "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A: ...",
])  # fmt: skip
def test_what_came_later_is_seen(source: str) -> None:
    assert list(newer_in(source)) != []


@pytest.mark.parametrize("source", ["match x:\n    case 1: ...", "try: ...\nexcept* ValueError: ..."])
def test_a_syntax_that_came_later_is_seen(source: str) -> None:
    with pytest.raises(SyntaxError):
        list(newer_in(source))
