"""What the log as configured tells of an exception: enough to find the place, and nothing of what was read there."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from replaycases.cases import gates, jobs, tasks
from tests import factories

EVIDENCE = "alice@example.org"


@pytest.fixture
def console() -> Iterator[io.StringIO]:
    """What the one configured handler writes."""
    (handler,) = [one for one in logging.getLogger().handlers if one.get_name() == "console"]
    assert isinstance(handler, logging.StreamHandler)
    written = io.StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


def raises(*arguments: object) -> Any:
    try:
        raise KeyError(EVIDENCE)
    except KeyError as error:
        raise RuntimeError(f"no such customer: {EVIDENCE}") from error


@pytest.mark.django_db
def test_a_gate_that_raises_is_told_by_case_class_and_line(
    console: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = factories.project()
    case = factories.case(project, factories.everyone(project))
    monkeypatch.setattr(gates, "_RULES", {**gates._RULES, "statement": raises})
    gates.gates_of(case, "in_review", actor=case.created_by)
    said = console.getvalue()
    assert f"gate statement of case {case.pk}" in said
    assert re.search(r"RuntimeError at replaycases/cases/gates\.py:\d+ _found, tests/config/test_log\.py:\d+ rai", said)
    assert re.search(r"from KeyError at tests/config/test_log\.py:\d+ raises", said)
    assert EVIDENCE not in said


def test_a_task_that_raises_is_told_without_its_text(console: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "sweep", raises)
    tasks.sweep.apply()
    said = console.getvalue()
    assert "cases.sweep" in said
    assert re.search(r"RuntimeError at .*replaycases/cases/tasks\.py:\d+ sweep", said)
    assert EVIDENCE not in said


def test_a_page_that_raises_is_told_without_its_text(console: io.StringIO) -> None:
    try:
        raises()
    except RuntimeError as error:
        logging.getLogger("django.request").error("Internal Server Error: %s", "/cases/", exc_info=error)
    said = console.getvalue()
    assert "Internal Server Error: /cases/" in said
    assert "RuntimeError at" in said
    assert EVIDENCE not in said


def test_what_another_handler_wrote_out_is_not_repeated(console: io.StringIO) -> None:
    try:
        raises()
    except RuntimeError:
        logger = logging.getLogger("replaycases.web")
        verbose = logging.StreamHandler(io.StringIO())
        logger.addHandler(verbose)
        try:
            logger.exception("it failed")
        finally:
            logger.removeHandler(verbose)
    assert EVIDENCE in verbose.stream.getvalue()
    assert "RuntimeError at" in console.getvalue()
    assert EVIDENCE not in console.getvalue()
