"""Rules of docs/architecture.md that a reader of the code relies on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "replaycases"
SOURCES = [path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts]


def _assignments(path: Path, name: str) -> Iterator[int]:
    """Lines where an attribute or a keyword of a write (`update`, `create`, `filter().update`) named `name` is set."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Attribute) and target.attr == name for target in targets):
                yield node.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            writes = node.func.attr in {"update", "create", "get_or_create", "update_or_create"}
            if writes and any(keyword.arg == name for keyword in node.keywords):
                yield node.lineno


@pytest.mark.parametrize(("name", "allowed"), [("stage", "lifecycle.py"), ("state", "jobs.py")])
def test_only_one_module_assigns(name: str, allowed: str) -> None:
    django_apps = [
        path for path in SOURCES if path.relative_to(PACKAGE).parts[0] in {"cases", "web", "api", "accounts"}
    ]
    found = [f"{path}:{line}" for path in django_apps if path.name != allowed for line in _assignments(path, name)]
    assert found == []


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.parts[-2] == "cases" or p.parts[-3] == "cases"], ids=lambda p: p.name
)
def test_modules_stay_under_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 400
