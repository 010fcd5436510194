"""A draft tried out: is it a fixture already, and what would its checks say of the recorded run?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from replaycases.accounts.models import User
from replaycases.cases import captures, drafts
from replaycases.cases.models import Draft
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.importers.completeness import Report
from replaycases.importers.final_message import final_message
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun, RetrievalStep, Step, ToolStep
from replaycases.importers.registry import report_on, to_case
from replaycases.importers.supplied import Supplied, supplied_from
from replaycases.importers.to_fixture import kept_steps
from replaycases.replay.recorded import Asked, judge_recording
from replaycases.verdict.rulings import CheckResult

JSON = Any
# Stands in for an expectation while there is none, so that the rest of a draft can be looked at.
_NOTHING_EXPECTED: JSON = {"boundary": ["x"], "tool_sequence": {"id": "x", "tools": [], "mode": "exact"}}


@dataclass(frozen=True, kw_only=True)
class Preview:
    """`refused` says what still has to be supplied; `findings` what is wrong with the fixture as it would be, the
    expectation's first; `warnings` what a reviewer would see. `results` are of the recorded run, {} without a valid
    fixture with an expectation. `message`: the recording holds a final one."""

    report: Report | None = None
    fixture: Fixture | None = None
    refused: Finding | None = None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    results: dict[str, CheckResult] = field(default_factory=dict)
    message: bool = False

    @property
    def is_fixture(self) -> bool:
        return self.fixture is not None

    @property
    def incident_is_seen(self) -> bool:
        """Whether every check that is the incident is violated in the recorded run: what a red replay must show."""
        boundary = self.fixture.boundary if self.fixture else ()
        return bool(boundary) and all(self.results[check].result == "violated" for check in boundary)


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
    message = final_message(run)
    return Preview(
        report=report,
        fixture=made.fixture,
        warnings=made.fixture.warnings,
        results=_judged(made.fixture, run, supplied, message),
        message=message is not None,
    )


def _judged(fixture: Fixture, run: NeutralRun, supplied: Supplied, message: str | None) -> dict[str, CheckResult]:
    whole = not run.cut and not run.ends_on_answer
    results = judge_recording(fixture, message=message, past=_past(fixture, run, supplied), whole=whole)
    return {result.id: result for result in results}


def _past(fixture: Fixture, run: NeutralRun, supplied: Supplied) -> Asked | None:
    """The recorded request that comes first after the fixture's last event, where it is a prefix. Clock and random are
    no such request."""
    if not fixture.horizon:
        return None
    kept = kept_steps(run, supplied)[: len(fixture.events)]
    begin = kept[-1][0] if kept else 0
    later = (step for number, step in enumerate(run.steps, 1) if number > begin and number not in supplied.leave_out)
    return next((asked for step in later if (asked := _asked(step)) is not None), None)


def _asked(step: Step) -> Asked | None:
    match step:
        case ToolStep():
            return "tool.call", {"tool": step.tool, "arguments": step.arguments}
        case ModelStep():
            return "model.call", {"request": step.request}
        case RetrievalStep():
            return "retrieval.search", {"query": step.query}
        case HumanStep():
            return "human.ask", {"question": step.question}
        case _:
            return None


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
