"""The gates about the case and what people decided of it. Facts in, what was found out; not known is not satisfied."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import decisions, failure_statement, fixtures
from replaycases.cases.gate_around import Approval
from replaycases.cases.gate_facts import Facts
from replaycases.cases.gate_found import Evidence, Found, listed, not_applicable, satisfied, unsatisfied
from replaycases.cases.models import Boundary, DecisionKind, FixtureRevision, RunSet
from replaycases.fixture.findings import FixtureInvalid

_ANEW = "Capture the incident as a new case."
_STATEMENT = Evidence(kind="details", label="Failure statement")
_OWNERS = Evidence(kind="details", label="Owners")
_LINKS = Evidence(kind="details", label="Links and versions")
_CASE = Evidence(kind="details", label="Overview")


class NoFixture(Exception):
    """The case has no revision yet."""


class HashesDiffer(Exception):
    """The stored bytes load as another fixture than the one that the revision names."""


def statement(facts: Facts) -> Found:
    case = facts.case
    faults = failure_statement.faults(case.trigger, case.prohibited_outcome, case.deciding_evidence)
    if faults:
        return unsatisfied(" ".join(faults.values()), "Edit the failure statement.", _STATEMENT)
    return satisfied("Trigger, prohibited outcome and deciding evidence are stated.", _STATEMENT)


def evidence_expiry(facts: Facts) -> Found:
    ends, destroyed = facts.case.evidence_expires_at, facts.case.evidence_destroyed_at
    if not facts.snapshot.holds_quarantined and destroyed is not None:
        return not_applicable(f"The raw evidence was destroyed on {destroyed:%Y-%m-%d}, when its time was over.")
    if not facts.snapshot.holds_quarantined:
        return not_applicable("The case holds no quarantined evidence.")
    if ends is None:
        return unsatisfied("The raw evidence has no end.", "Set when it expires.", _CASE)
    if ends <= timezone.now():
        return unsatisfied(f"The raw evidence ended on {ends:%Y-%m-%d}.", _ANEW, _CASE)
    return satisfied(f"The raw evidence ends on {ends:%Y-%m-%d}.", _CASE)


def containment(facts: Facts) -> Found:
    case = facts.case
    if not case.security_incident:
        return not_applicable("This is no security incident.")
    if case.contained_at is None:
        return unsatisfied(
            "This security incident is not contained yet.", "The security owner confirms containment.", _CASE
        )
    return satisfied(f"{case.contained_by} confirmed containment on {case.contained_at:%Y-%m-%d}.", _CASE)


def fixture_valid(facts: Facts) -> Found:
    """Loads the revision again from its bytes. What cannot be read raises, and is an error."""
    revision = current(facts)
    shown = Evidence(kind="revision", label=f"revision {revision.number}", number=revision.number)
    try:
        loaded = fixtures.of_revision(revision)
    except FixtureInvalid as invalid:
        first = invalid.findings[0]
        return unsatisfied(f"The fixture is not valid at {first.pointer or '/'}.", "Add a valid revision.", shown)
    if (loaded.content_hash, loaded.checks_hash) != (revision.content_hash, revision.checks_hash):
        raise HashesDiffer(f"revision {revision.pk}")
    return satisfied(f"Revision {revision.number} is valid in schema {revision.schema_version}.", shown)


def comments_resolved(facts: Facts) -> Found:
    shown = Evidence(kind="comments", label="comments")
    number = facts.snapshot.open_comments
    if number:
        return unsatisfied(f"Unresolved comments: {number}.", "Resolve each of them.", shown)
    return satisfied("Every comment is resolved.", shown)


def redaction_approval(facts: Facts) -> Found:
    revision, given = current(facts), facts.approvals.get(DecisionKind.REDACTION)
    remedy = "A privacy reviewer who did not make the case approves it."
    if given is None:
        return unsatisfied(f"The redaction of revision {revision.number} is not approved.", remedy)
    if given.content_hash != revision.content_hash:
        return unsatisfied("The approved redaction is of other content.", remedy, _decision(given))
    return satisfied(_approved(given), _decision(given))


def expectation_approval(facts: Facts) -> Found:
    revision, given = current(facts), facts.approvals.get(DecisionKind.EXPECTATION)
    remedy = "An incident owner who did not make the case approves it."
    if given is None:
        return unsatisfied(f"The expectation of revision {revision.number} is not approved.", remedy)
    if (given.fixture_hash, given.checks_hash) != (revision.fixture_hash, revision.checks_hash):
        return unsatisfied("The approved expectation is of another fixture.", remedy, _decision(given))
    return satisfied(_approved(given), _decision(given))


def owners(facts: Facts) -> Found:
    lacking = [boundary.label for boundary in Boundary if boundary not in facts.snapshot.owned]
    if lacking:
        return unsatisfied(
            f"Nobody who can be asked owns: {listed(lacking, 5).lower()}.", "Name an active person or team.", _OWNERS
        )
    return satisfied("Every boundary has an owner.", _OWNERS)


def provenance(facts: Facts) -> Found:
    """Complete is: the incident by id or link, the affected and the fixed version, and the trace by id or link. Where
    there never was a trace, its id says so in words."""
    found = facts.provenance
    parts = {
        "the incident": facts.case.incident_id or found.incident_url,
        "the affected version": found.affected,
        "the fixed version": found.fixed,
        "the trace": found.trace_id or found.trace_url,
    }
    lacking = [name for name, value in parts.items() if not value]
    if lacking:
        remedy = "Record it. If there is no trace, say so as its id."
        return unsatisfied(f"Not recorded: {listed(lacking)}.", remedy, _LINKS)
    return satisfied(f"{facts.case.incident_id or 'The incident'}, from {found.affected} to {found.fixed}.", _LINKS)


def authored_answers(facts: Facts) -> Found:
    """Answers that the recording does not hold are confirmed by who owns the dependency, in what they said last of the
    revision."""
    revision, said = current(facts), facts.snapshot.dependency
    if not revision.authored_answers:
        return not_applicable("Every answer of the fixture was recorded.")
    if said is None or not said.confirmed:
        return unsatisfied(
            f"Nobody confirmed the authored answers of revision {revision.number}: {revision.authored_answers}.",
            "A dependency owner who did not make the case confirms them on its page.",
            _CASE,
        )
    return satisfied(f"{said.name} confirmed the authored answers: {revision.authored_answers}.", _CASE)


def effects_stated(facts: Facts) -> Found:
    """A tool of which the fixture names no effect asks for no control of its own, so that somebody must have said that
    there is none: silence is no statement."""
    revision, said = current(facts), facts.snapshot.dependency
    tools = fixtures.unstated_tools_of(revision)
    if not tools:
        return not_applicable("The fixture names an effect of every tool.")
    if said is None or not said.no_effect:
        return unsatisfied(
            f"Nobody said whether these tools have an effect: {listed(tools)}.",
            "Write their effects into the fixture, or have a dependency owner who did not make the case confirm on its "
            "page that they have none.",
            _CASE,
        )
    return satisfied(f"{said.name} confirmed that these have no effect: {listed(tools)}.", _CASE)


def replayable(facts: Facts) -> Found:
    revision = current(facts)
    if fixtures.is_non_replayable(revision):
        return unsatisfied(
            f"Forensic reading only: revision {revision.number} says that it cannot be replayed.",
            "Mark the case as non-replayable, or capture the incident with its content as a new case.",
            _CASE,
        )
    return satisfied("Its fixture is a recording that can be replayed.")


def only_name(facts: Facts) -> Found:
    """A suite holds each case_id once, so no two cases of a project stand in lanes under the same one."""
    current(facts)
    other = facts.snapshot.namesake
    if other:
        return unsatisfied(
            f"{other} stands in a lane under the same case_id, {facts.case.case_id}: a suite holds each name once.",
            "Retire one of the two, or capture this one under a name of its own.",
        )
    return satisfied(f"No other case stands in a lane as {facts.case.case_id}.")


def covered(facts: Facts) -> Found:
    found = facts.provenance
    lacking = [
        name
        for name, value in {"the fixed version": found.fixed, "the covering test": found.covering_test}.items()
        if not value
    ]
    if lacking:
        return unsatisfied(f"Not recorded: {listed(lacking)}.", "Record it.", _LINKS)
    return satisfied(f"{found.covering_test} covers it since {found.fixed}.", _LINKS)


def promoter(facts: Facts, *, actor: User) -> Found:
    """Neither captured the case, or the run that it was made of, nor edited its statement or any revision of it, also
    the one that last changed the expectation; and did not choose, by voiding others, the runs on which the promotion
    rests."""
    current(facts)
    own = decisions.contributors(facts.case, facts.authors).get(actor.pk)
    if own:
        return unsatisfied(own, "Somebody else of QA promotes it.")
    chose = [one for one in facts.voided if one.voided_by_id == actor.pk]
    if chose:
        return unsatisfied(
            f"You voided {len(chose)} of the run sets on this fixture and its controls.",
            "Somebody else of QA promotes it.",
        )
    last = _last_change_of_checks(facts.every_revision)
    return satisfied(f"{actor}; the expectation is {last.created_by}'s, of revision {last.number}.")


def without_voided(sets: Iterable[RunSet]) -> str:
    """Which runs the others stand without, by whom and why; "" where none was taken out. For the end of a detail."""
    told = [f"{one.voided_by} voided a set of {one.size}: {one.void_reason}" for one in sets]
    return f" Left out: {listed(told)}." if told else ""


def _last_change_of_checks(revisions: Sequence[FixtureRevision]) -> FixtureRevision:
    """The revision with which the checks became what they are. `revisions` are all, oldest first."""
    newest = revisions[-1]
    same = itertools.takewhile(lambda revision: revision.checks_hash == newest.checks_hash, reversed(revisions))
    return list(same)[-1]


def current(facts: Facts) -> FixtureRevision:
    if facts.revision is None:
        raise NoFixture
    return facts.revision


def _approved(given: Approval) -> str:
    return f"{given.by} approved revision {given.revision} on {given.at:%Y-%m-%d}."


def _decision(given: Approval) -> Evidence:
    return Evidence(kind="decision", label="approval")
