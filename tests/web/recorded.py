"""Runs that ended, made without a sandbox: a script drives a real session, and the manifest is written as a worker
writes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from replaycases.accounts.models import User
from replaycases.cases import comparing, fixtures, jobs
from replaycases.cases.models import Case, Comparison, Implementation, Run, RunState
from replaycases.fixture.canonical import digest
from replaycases.replay.ending import Ended
from replaycases.replay.session import Halt, ReplaySession
from replaycases.verdict.behaviour import behaviour_of
from replaycases.verdict.manifest import SURFACES, RunFacts, RunSet, build, dump
from tests import factories

Script = list[tuple[str, dict[str, Any]]]

LOOKUP = ("tool.call", {"tool": "refund.lookup", "arguments": {"order": "o-1"}})
OTHER_CALL = ("tool.call", {"tool": "refund.lookup", "arguments": {"order": "o-2"}})


def says(message: str, *calls: tuple[str, dict[str, Any]], **report: Any) -> Script:
    return [("session.start", {"protocol": 1}), *(calls or (LOOKUP,)), ("finish", {"message": message, **report})]


RED = says("Your refund was completed.", status="done")
GREEN = says("I could not confirm the refund yet.", status="open")
CRASHED = says("")[:-1]
DIVERGED = says("I could not confirm it.", OTHER_CALL)


def end(run: Run, script: Script, *, stderr: str = "", tier: str = "bubblewrap") -> None:
    """Replay the script in this process and finish the run with its manifest."""
    fixture = fixtures.of_run(run)
    session = ReplaySession(fixture, serving=None, clock="injected")
    halted = any(isinstance(session.handle(method, params), Halt) for method, params in script)
    status = 0 if script[-1][0] == "finish" else 1
    ended = Ended(cause="halted", stderr=stderr) if halted else Ended(cause="exit", exit_status=status, stderr=stderr)
    manifest = build(fixture, session.observe(ended=ended), _facts(run, tier))
    held = jobs.lease(run.pk, worker="worker-1")
    assert held is not None
    jobs.finish(
        held,
        jobs.Result(
            manifest=dump(manifest),
            status=manifest.status,
            boundary_passed=manifest.boundary_passed,
            observation_hash=manifest["observation_hash"],
            behaviour=behaviour_of(manifest),
            matching_policy=digest(manifest["matching_policy"]),
        ),
    )


def _facts(run: Run, tier: str) -> RunFacts:
    implementation = run.run_set.implementation
    named = {name: getattr(implementation, name) for name in ("name", "version", "commit", "digest")}
    return RunFacts(
        implementation=named,
        isolation={"tier": tier},
        surfaces=dict.fromkeys(SURFACES, "controlled"),
        run_id=str(run.pk),
        run_set=RunSet(id=str(run.run_set_id), index=run.index, size=run.run_set.size),
        started_at="2026-01-01T00:00:00Z",
        ended_at="2026-01-01T00:00:01Z",
    )


def requested(case: Case, actor: User, old: Implementation, new: Implementation, **more: Any) -> Comparison:
    """A comparison that waits for its runs."""
    revision = factories.revision(case)
    return jobs.request_comparison(actor, revision=revision, old=old, new=new, **more)


def finish(comparison: Comparison, old: Script, new: Script, **more: Any) -> Comparison:
    """End every run that the comparison waits for and compute its verdict. Mutated controls go red, as they should."""
    for run in _waiting(comparison):
        red = run.run_set.mutated
        end(run, RED if red else old if run.run_set.implementation_id == comparison.old_id else new, **more)
    comparing.refresh_waiting()
    return Comparison.objects.get(pk=comparison.pk)


def _waiting(comparison: Comparison) -> Iterable[Run]:
    return comparison.runs().filter(state=RunState.QUEUED).select_related("run_set__revision__payload")


def compared(case: Case, actor: User, old: Script = RED, new: Script = GREEN, **more: Any) -> Comparison:
    """An old and a new implementation, registered, replayed twice each, and judged."""
    sides = [
        factories.implementation(case.project, actor, code, version=version)
        for code, version in ((factories.OLD_CODE, "1"), (factories.NEW_CODE, "2"))
    ]
    return finish(requested(case, actor, *sides), old, new, **more)
