"""A draft tried out: is it a fixture already, and what would its checks say of the recorded run?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import READS_QUARANTINED_EVIDENCE
from replaycases.cases import capture_ends, drafts, evidence, recorded_results
from replaycases.cases import untouched as untouched_checks
from replaycases.cases.ignored import Ignored, ignored_in
from replaycases.cases.models import Draft, Payload
from replaycases.cases.policies import SeenAnother
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.importers.completeness import Report
from replaycases.importers.final_message import final_message
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.registry import Imported, open_recording, report_on, to_case
from replaycases.importers.supplied import Supplied, supplied_from
from replaycases.verdict.rulings import CheckResult

JSON = Any
# Drafts whose last trial is remembered by a process.
REMEMBERED = 32
# Stands in for an expectation while there is none, so that the rest of a draft can be looked at.
_NOTHING_EXPECTED: JSON = {"boundary": ["x"], "tool_sequence": {"id": "x", "tools": [], "mode": "exact"}}


@dataclass(frozen=True, kw_only=True)
class Preview:
    """`refused` says what still has to be supplied; `findings` what is wrong with the fixture as it would be, the
    expectation's first; `warnings` what a reviewer would see. `fixture_hash` and `boundary` are of the fixture, "" and
    () while it is none; `results` are of the recorded run, {} without a valid fixture with an expectation. `untouched`
    says of checks what they name and the run does not have. `message`: the recording holds a final one."""

    report: Report | None = None
    fixture_hash: str = ""
    boundary: tuple[str, ...] = ()
    refused: Finding | None = None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    results: Mapping[str, CheckResult] = field(default_factory=dict)
    untouched: Mapping[str, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    message: bool = False

    @property
    def is_fixture(self) -> bool:
        return bool(self.fixture_hash)

    @property
    def incident_is_seen(self) -> bool:
        """Whether every check that is the incident is violated in the recorded run: what a red replay must show."""
        return bool(self.boundary) and all(self.results[check].result == "violated" for check in self.boundary)


def preview(actor: User, draft: Draft) -> Preview:
    """Raises as `captures.recording_of`, and SeenAnother where others were chosen since the draft was loaded; whatever
    else is wrong with the draft is part of the answer."""
    access.require(actor, draft.capture.project, *READS_QUARANTINED_EVIDENCE)
    capture_ends.require_there(draft.capture)
    return _remembered(draft.choices_id, draft.capture.payload_id, draft.capture.format, draft.run)


@lru_cache(maxsize=REMEMBERED)
def _remembered(choices_id: UUID, payload_id: UUID, format: str, run: int) -> Preview:
    """Of bytes that never change: a long run is read and judged once, and not for each of a draft's pages. Neither its
    events nor the fixture are kept for that, only what checks and findings say of them."""
    payloads = Payload.objects.defer("body").in_bulk([choices_id, payload_id])
    if choices_id not in payloads:
        raise SeenAnother(drafts.CHANGED)  # what was chosen before is destroyed
    recorded = open_recording(evidence.read(payloads[payload_id]), format=format).read(run)
    return _tried(recorded, {**drafts.choices_in(payloads[choices_id]), "run": run})


def _tried(run: NeutralRun, chosen: Mapping[str, JSON]) -> Preview:
    try:
        supplied = supplied_from(chosen)
    except ImportRefused as refused:
        return Preview(refused=refused.finding)
    try:
        made = to_case(run, supplied)
    except ImportRefused as refused:
        return _reported(run, supplied, refused.finding)
    except FixtureInvalid as invalid:
        return Preview(report=report_on(run, supplied), findings=_ordered(invalid.findings))
    if made.fixture is None:
        findings = _without_expectation(made.document)
        return Preview(report=made.report, findings=findings, ignored=_ignored(made, supplied))
    results = recorded_results.results_of(made.fixture, run, supplied)
    return Preview(
        report=made.report,
        fixture_hash=made.fixture.fixture_hash,
        boundary=made.fixture.boundary,
        warnings=made.fixture.warnings,
        results=results,
        untouched=untouched_checks.untouched(made.fixture),
        held=recorded_results.incident_held(made.fixture, results),
        ignored=_ignored(made, supplied),
        message=final_message(run) is not None,
    )


def _ignored(made: Imported, supplied: Supplied) -> tuple[Ignored, ...]:
    return ignored_in(made.document["events"], supplied.ignore)


def _reported(run: NeutralRun, supplied: Supplied, why: Finding) -> Preview:
    try:
        return Preview(report=report_on(run, supplied), refused=why)
    except ImportRefused as refused:
        return Preview(refused=refused.finding)


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
