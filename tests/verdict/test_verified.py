from __future__ import annotations

import ast
from pathlib import Path

import replaycases

PACKAGE = Path(replaycases.__file__ or ".").parent


def _makers() -> set[str]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "VerifiedManifest":
                found.add(path.relative_to(PACKAGE).as_posix())
    return found


def test_only_recomputation_makes_a_manifest_verified() -> None:
    assert _makers() == {"replay/recompute.py"}
