"""Asking for gates, and making what they look at: runs that ended as we choose, stays, overrides."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import (
    gates,
    jobs,
    proposals,
)
from replaycases.cases.models import (
    Case,
    Comparison,
    LaneEntry,
    Proposal,
    Provenance,
    Run,
)
from tests import factories, in_process
from tests.factories import People

# Answers something else each time it is asked.
FICKLE_CODE = """
asked = []
def replay(session):
    session.tools.call("refund.lookup", {"order": "o-1"})
    asked.append(1)
    session.finish(message="Your refund was completed." + "!" * len(asked), status="done")
"""


def gate(case: Case, target: gates.Target, name: str, actor: User) -> gates.Gate:
    return next(found for found in gates.gates_of(case, target, actor=actor) if found.name == name)


def red(of: People, case: Case) -> gates.Gate:
    return gate(case, "reproduced", "red", of.qa)


def states(case: Case, target: gates.Target, actor: User) -> dict[str, str]:
    return {found.name: found.state for found in gates.gates_of(case, target, actor=actor)}


def affected_by(of: People, case: Case, code: str, *, size: int = 2) -> Comparison:
    """The incident happened in this code, and it was replayed alone."""
    implementation = factories.implementation(of.project, of.engineer, code, version="7")
    Provenance.objects.update_or_create(case=case, defaults={"affected": implementation})
    asked = jobs.request_comparison(
        of.engineer, revision=factories.revision(case), old=implementation, new=None, size=size
    )
    in_process.replay_all()
    return asked


def ended(
    run: Run, *, status: str = "finished", passed: bool | None = True, observed: str = "sha256:a", did: str = ""
) -> None:
    """The run as a worker would end it, with a result of our choice."""
    held = jobs.lease(run.pk, worker="here")
    assert held is not None
    result = jobs.Result(
        manifest=str(run.pk).encode(),
        status=status,
        boundary_passed=passed,
        observation_hash=observed,
        behaviour=did,
        matching_policy="",
    )
    jobs.finish(held, result)


def queued(of: People, case: Case, size: int, *, entry: LaneEntry | None = None) -> list[Run]:
    """Runs of the fixed version that nobody has replayed yet."""
    asked = jobs.request_run_set(
        of.qa,
        revision=factories.revision(case),
        implementation=case.provenance.fixed,
        size=size,
        lane_entry=entry,
    )
    return list(asked.runs.order_by("number"))


def standing(case: Case) -> LaneEntry:
    return LaneEntry.objects.select_related("lane").get(case=case, left_at=None)


def override(of: People, case: Case, name: str = "red") -> Proposal:
    until = timezone.now() + timedelta(days=20)
    proposal = proposals.propose_override(of.lead, case=case, gate=name, reason="The trace shows it.", until=until)
    return proposals.confirm(of.owner, proposal=proposal)


# What the cases here have no need of.
NOT_APPLICABLE = ["containment", "authored_answers"]
