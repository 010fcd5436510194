"""Audit events as sentences on the case page."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from replaycases.cases import jobs
from replaycases.web import timeline

CASES = Path(jobs.__file__).parent
NOT_OF_A_CASE = {"implementation.registered"}


def recorded_actions() -> set[Any]:
    """Every action that `events.record` is called with."""
    found: set[Any] = set()
    for path in CASES.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "record":
                told = next(keyword.value for keyword in node.keywords if keyword.arg == "action")
                found |= {told.value} if isinstance(told, ast.Constant) else set(jobs.CANCELLED.values())
    return found


def test_every_event_of_a_case_has_a_sentence_and_no_sentence_is_left_over() -> None:
    assert recorded_actions() - NOT_OF_A_CASE == set(timeline.SENTENCES)
