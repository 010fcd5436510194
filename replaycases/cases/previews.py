"""A draft tried out: is it a fixture already, and what would its checks say of the recorded run?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from replaycases.accounts.models import User
from replaycases.cases import captures, drafts, recorded_results
from replaycases.cases import untouched as untouched_checks
from replaycases.cases.models import Draft
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.importers.completeness import Report
from replaycases.importers.final_message import final_message
from replaycases.importers.findings import ImportRefused
from replaycases.importers.registry import report_on, to_case
from replaycases.importers.supplied import supplied_from
from replaycases.verdict.rulings import CheckResult

JSON = Any
# Stands in for an expectation while there is none, so that the rest of a draft can be looked at.
_NOTHING_EXPECTED: JSON = {"boundary": ["x"], "tool_sequence": {"id": "x", "tools": [], "mode": "exact"}}


@dataclass(frozen=True, kw_only=True)
class Preview:
    """`refused` says what still has to be supplied; `findings` what is wrong with the fixture as it would be, the
    expectation's first; `warnings` what a reviewer would see. `results` are of the recorded run, {} without a valid
    fixture with an expectation. `untouched` says of checks what they name and the run does not have. `message`: the
    recording holds a final one."""

    report: Report | None = None
    fixture: Fixture | None = None
    refused: Finding | None = None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    results: dict[str, CheckResult] = field(default_factory=dict)
    untouched: Mapping[str, str] = field(default_factory=dict)
    message: bool = False

    @property
    def is_fixture(self) -> bool:
        return self.fixture is not None

    @property
    def incident_is_seen(self) -> bool:
        """Whether every check that is the incident is violated in the recorded run: what a red replay must show."""
        boundary = self.fixture.boundary if self.fixture else ()
        return bool(boundary) and all(self.results[check].result == "violated" for check in boundary)

    @property
    def held(self) -> tuple[str, ...]:
        """The checks that are the incident and that the recorded run keeps."""
        return recorded_results.incident_held(self.fixture, self.results) if self.fixture else ()


def preview(actor: User, draft: Draft) -> Preview:
    """Raises as `captures.recording_of`; whatever else is wrong with the draft is part of the answer."""
    run = captures.recording_of(actor, draft.capture).read(draft.run)
    chosen = drafts.choices_of(draft)
    try:
        supplied = supplied_from({**chosen, "run": draft.run})
        report = report_on(run, supplied)
    except ImportRefused as refused:
        return Preview(refused=refused.finding)
    try:
        made = to_case(run, supplied)
    except ImportRefused as refused:
        return Preview(report=report, refused=refused.finding)
    except FixtureInvalid as invalid:
        return Preview(report=report, findings=_ordered(invalid.findings))
    if made.fixture is None:
        return Preview(report=report, findings=_without_expectation(made.document))
    return Preview(
        report=report,
        fixture=made.fixture,
        warnings=made.fixture.warnings,
        results=recorded_results.results_of(made.fixture, run, supplied),
        untouched=untouched_checks.untouched(made.fixture),
        message=final_message(run) is not None,
    )


def _without_expectation(document: dict[str, JSON]) -> tuple[Finding, ...]:
    """What is wrong with the rest. The stand-in is all that makes the difference, so nothing is said of it."""
    try:
        load_fixture(json.dumps({**document, "expected": _NOTHING_EXPECTED}, ensure_ascii=False).encode())
    except FixtureInvalid as invalid:
        errors = (found for found in invalid.findings if found.level == "error")
        return _ordered(found for found in errors if not found.pointer.startswith("/expected"))
    return ()


def _ordered(findings: Any) -> tuple[Finding, ...]:
    """Faults before remarks, and what was typed into the expectation before the rest."""
    return tuple(
        sorted(findings, key=lambda found: (found.level != "error", not found.pointer.startswith("/expected")))
    )
