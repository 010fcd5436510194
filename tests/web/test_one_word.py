"""Open is a case that is not closed. Comments are resolved or not, gates satisfied or not, steps noted or not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
OTHERWISE = re.compile(
    r"open (comment|gate|proposal|invitation|flag|step)"
    r"|(comment|gate|proposal|invitation|flag|step)s? (is|are|stays?) open"
    r"|>\s*open\s*<(?!/a>)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_nothing_but_a_case_is_said_to_be_open(path: Path) -> None:
    said = re.sub(r"{%.*?%}", "", path.read_text())
    assert OTHERWISE.search(said) is None
