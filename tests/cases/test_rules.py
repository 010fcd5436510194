"""Rules of docs/architecture.md that a reader of the code relies on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "replaycases"
SOURCES = [path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts]


DJANGO_APPS = [path for path in SOURCES if path.relative_to(PACKAGE).parts[0] in {"cases", "web", "api", "accounts"}]
WRITES = {"create", "bulk_create", "update", "bulk_update", "get_or_create", "update_or_create", "delete"}


def _assignments(path: Path, name: str, calls: set[str]) -> Iterator[int]:
    """Lines where an attribute named `name` is set, or a keyword of one of the `calls`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            flat = [part for target in targets for part in getattr(target, "elts", [target])]
            if any(isinstance(target, ast.Attribute) and target.attr == name for target in flat):
                yield node.lineno
        written = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in calls
        if written and any(keyword.arg == name for keyword in node.keywords):
            yield node.lineno


def _writes(path: Path, model: str) -> Iterator[int]:
    """Lines where a row of the model is made, changed or deleted by its class."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            made = isinstance(node.func, ast.Name) and node.func.id == model
            written = isinstance(node.func, ast.Attribute) and node.func.attr in WRITES and _root(node) == model
            if made or written:
                yield node.lineno


def _root(node: ast.expr) -> str:
    """ "Decision" of `Decision.objects.filter(…).update(…)`."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize(
    ("name", "allowed", "calls"),
    [
        ("stage", {"cases/lifecycle.py"}, WRITES),
        ("lane", {"cases/lane_moves.py"}, {"update"}),
        ("left_at", {"cases/lane_moves.py"}, WRITES),
        ("current_revision", {"cases/intake.py"}, WRITES),
        ("state", {"cases/jobs.py", "cases/proposals.py"}, WRITES),
        ("released_at", {"cases/evidence.py"}, WRITES),
        ("purged_at", {"cases/evidence.py", "cases/purging.py"}, WRITES),
        ("data_key", {"cases/evidence.py", "cases/sealing.py"}, WRITES),
    ],
)
def test_only_one_module_assigns(name: str, allowed: set[str], calls: set[str]) -> None:
    found = {str(path.relative_to(PACKAGE)): list(_assignments(path, name, calls)) for path in DJANGO_APPS}
    assert {name for name, lines in found.items() if lines} == allowed


@pytest.mark.parametrize(
    ("model", "allowed"),
    [
        ("Decision", "cases/decisions.py"),
        ("Proposal", "cases/proposals.py"),
        ("LaneEntry", "cases/lane_moves.py"),
        ("FixtureRevision", "cases/intake.py"),
        ("Control", "cases/intake.py"),
        ("AuditEvent", "cases/events.py"),
        ("RawRead", "cases/raw_reads.py"),
    ],
)
def test_only_one_module_writes(model: str, allowed: str) -> None:
    found = {str(path.relative_to(PACKAGE)): list(_writes(path, model)) for path in DJANGO_APPS}
    assert [name for name, lines in found.items() if lines] == [allowed]


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.parts[-2] == "cases" or p.parts[-3] == "cases"], ids=lambda p: p.name
)
def test_modules_stay_under_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 400
