"""Queued runs answered here, in no process of their own: the same session, manifests and verdicts, in milliseconds.

For tests of what is decided from results. Whether a replay is cold, fenced and stopped is tested where replays are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from replaycases.cases import comparing, executing, fixtures, jobs, registry
from replaycases.cases.models import Implementation, Run, RunState
from replaycases.fixture.model import Fixture
from replaycases.replay.ending import Ended
from replaycases.replay.session import Answer, ReplaySession, ToolError
from replaycases.verdict.manifest import SURFACES, Manifest, RunFacts, RunSet, build
from replaycases.verdict.observation import Observation


class _Halted(Exception):
    """The session answers nothing more."""


class _NoResult(_Halted):
    """The tool ended in an error; who bears that goes on."""


class _Wire:
    """What the code of `tests.factories` uses of the harness's session."""

    ToolError = _NoResult

    def __init__(self, session: ReplaySession) -> None:
        self.session, self.tools = session, self

    def call(self, tool: str, arguments: Any) -> Any:
        reply = self.session.handle("tool.call", {"tool": tool, "arguments": arguments})
        if isinstance(reply, ToolError):
            raise _NoResult
        if not isinstance(reply, Answer):
            raise _Halted
        return reply.result["value"]

    def finish(self, *, message: str, status: str) -> None:
        said = {"message": message, "status": status, "action": None, "authorization": None, "structured": None}
        self.session.handle("finish", said)


def replay_all() -> int:
    """Answer every queued run and compute every verdict that waits. Returns how many runs there were."""
    waiting = list(Run.objects.filter(state=RunState.QUEUED).order_by("number").values_list("pk", flat=True))
    for run_id in waiting:
        held = jobs.lease(run_id, worker="here")
        assert held is not None
        run = Run.objects.select_related("run_set__implementation", "run_set__revision", "run_set__control").get(
            pk=run_id
        )
        jobs.finish(held, executing._result(_manifest(run)))
    comparing.refresh_waiting()
    return len(waiting)


def _manifest(run: Run) -> Manifest:
    fixture, implementation = fixtures.of_run(run), run.run_set.implementation
    named = {key: getattr(implementation, key) for key in ("name", "version", "commit", "digest")}
    now = datetime.now(UTC).isoformat()
    facts = RunFacts(
        implementation={**named, "contracts": {}},
        isolation={"tier": "bubblewrap", "denied": []},
        surfaces=dict.fromkeys(SURFACES, "controlled"),
        run_id=str(run.pk),
        run_set=RunSet(id=str(run.run_set_id), index=run.index, size=run.run_set.size),
        started_at=now,
        ended_at=now,
    )
    return build(fixture, _observed(fixture, _compiled(implementation.digest)), facts)


def _observed(fixture: Fixture, replay: Callable[[Any], None]) -> Observation:
    session = ReplaySession(fixture, serving=None, clock=None)
    session.handle("session.start", {"protocol": 1})
    with suppress(_Halted):
        replay(_Wire(session))
    return session.observe(ended=Ended(cause="exit", exit_status=0))


@lru_cache
def _compiled(digest: str) -> Callable[[Any], None]:
    """The `replay` function of `tests.factories.archive`'s module."""
    with registry.materialised(Implementation.objects.filter(digest=digest)[0]) as unpacked:
        scope: dict[str, Any] = {}
        exec((unpacked.path / "agent.py").read_text(), scope)
    replay: Callable[[Any], None] = scope["replay"]
    return replay
