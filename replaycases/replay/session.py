"""The replay session: one request in, one recorded answer out, or a halt. Knows no process and no socket."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from replaycases.fixture.model import Event, Fixture, Outcome
from replaycases.replay.ending import Ended, Halted, conclude
from replaycases.replay.explain import explain, left_over
from replaycases.replay.matching import Miss, Script, Selection
from replaycases.replay.policies import policy_refusal
from replaycases.replay.request import BoundaryCall, ProtocolBreach, boundary_call, checked_params, quoted
from replaycases.replay.serving import ServingCheck
from replaycases.verdict.observation import Call, Divergence, Observation, RunStatus


@dataclass(frozen=True)
class Answer:
    """A JSON-RPC result."""

    result: dict[str, Any]


@dataclass(frozen=True)
class ToolError:
    """A recorded tool error: JSON-RPC error code 1 with data {kind, message}."""

    kind: str
    message: str


@dataclass(frozen=True)
class Halt:
    """Answer nothing more and end the process. Why stands in the session's observation."""


Reply = Answer | ToolError | Halt


class ReplaySession:
    """One run of one implementation against one fixture.

    `serving` and `clock` are what the implementation file declares; clock None is uncontrolled. The session keeps the
    params that it is given and hands out the fixture's own values: neither side may change them afterwards. It is
    deterministic: the same requests give the same replies and the same observation.
    """

    def __init__(
        self,
        fixture: Fixture,
        *,
        serving: Mapping[str, Any] | None,
        clock: Literal["frozen", "injected"] | None,
    ) -> None:
        self._fixture = fixture
        self._clock = clock
        self._serving = ServingCheck(fixture, serving)
        self._script = Script(fixture)
        self._then: dict[int, Outcome] = {}
        self._now = fixture.frozen_at
        self._instants = deque(event.now for event in fixture.events if event.boundary == "clock")
        self._draws: dict[str, deque[Any]] = {}
        for event in fixture.events:
            if event.boundary == "random":
                self._draws.setdefault(event.name, deque()).append(event.value)
        self._clock_reads = 0
        self._random_draws: Counter[str] = Counter()
        self._calls: list[Call] = []
        self._started = False
        self._finished = False
        self._outcome: Mapping[str, Any] | None = None
        self._halted: Halted | None = None

    @property
    def finished(self) -> bool:
        """Whether a `finish` was accepted."""
        return self._finished

    def handle(self, method: str, params: object) -> Reply:
        """The reply to one request. Never raises: what is no valid request at this point halts as `adapter_error`. What
        comes after a halt is neither compared nor part of the observation."""
        if self._halted is not None:
            return Halt()
        try:
            checked = checked_params(method, params)
            self._refuse_out_of_turn(method)
        except ProtocolBreach as error:
            return self._halt(Halted("adapter_error", str(error)))
        if method == "session.start":
            return self._start()
        if method == "finish":
            return self._finish(checked)
        if method == "clock.now":
            return self._read_clock()
        if method == "random.draw":
            return self._draw(checked["name"])
        return self._call(boundary_call(method, checked))

    def observe(self, *, ended: Ended) -> Observation:
        """The whole run as seen by now. Changes nothing and may be asked again.

        The status is the session's own where it halted the run; then what the supervisor says ended it; then what
        `finish` and the exit status make of it. Left-over events are looked at only after a clean finish.
        """
        ending = conclude(self._halted, ended, started=self._started, finished=self._finished)
        clean = ending.status == "completed"
        unconsumed = self._script.left_over(optional=False) if clean else ()
        return Observation(
            status=ending.status,
            reason=ending.reason,
            calls=tuple(self._calls),
            reads={"clock": self._clock_reads, "random": dict(self._random_draws)},
            outcome=self._outcome,
            unconsumed=unconsumed,
            optional_skipped=self._script.left_over(optional=True) if clean else self._script.passed_over(),
            first_divergence=left_over(self._script) if unconsumed else ending.divergence,
            serving=self._serving.trace(),
            clock=self._clock or "uncontrolled",
            stderr=ended.stderr,
            exit_status=ended.exit_status,
        )

    def _refuse_out_of_turn(self, method: str) -> None:
        if self._finished:
            raise ProtocolBreach(f"{quoted(method)} came after finish; nothing may follow it")
        if self._started is (method == "session.start"):
            fault = "came a second time" if self._started else "came before session.start"
            raise ProtocolBreach(f"{quoted(method)} {fault}")

    def _halt(self, halted: Halted) -> Halt:
        self._halted = halted
        return Halt()

    def _start(self) -> Reply:
        self._started = True
        fixture = self._fixture
        return Answer(
            {
                "protocol": 1,
                "input": fixture.input,
                "identity": fixture.identity,
                "locale": fixture.locale,
                "time_zone": fixture.time_zone,
                "workflow_version": fixture.workflow_version,
                "policies": [dict(policy) for policy in fixture.policies],
                "templates": [dict(template) for template in fixture.templates],
            }
        )

    def _finish(self, params: Mapping[str, Any]) -> Reply:
        self._outcome = params
        refusal = policy_refusal(self._fixture, params.get("policies_used"))
        if refusal is not None:
            return self._halt(Halted("stale", refusal.message, refusal))
        self._finished = True
        return Answer({})

    def _read_clock(self) -> Reply:
        self._clock_reads += 1
        if self._instants:
            self._now = self._instants.popleft()
        return Answer({"now": self._now})

    def _draw(self, name: str) -> Reply:
        """The next recorded value of that name. There is no honest value past the last one, so that halts."""
        self._random_draws[name] += 1
        values = self._draws.get(name)
        if values:
            return Answer({"value": values.popleft()})
        why = "never recorded" if values is None else "already consumed"
        divergence = Divergence(
            kind="extra_call",
            boundary="random",
            actual={"name": name},
            nearest={"seq": None, "tool": "", "why": why, "differences": []},
            message=f"draw {self._random_draws[name]} of {quoted(name)} has no recorded value; it is {why}",
            remedy="draw as often as recorded, or record the case again with this draw",
        )
        return self._halt(Halted("diverged", divergence.message, divergence))

    def _call(self, call: BoundaryCall) -> Reply:
        standing = self._script.standing_seq()
        found = self._script.select(call)
        if self._fixture.horizon and isinstance(found, Miss) and not found.at:
            return self._decide(call)
        if call.boundary == "model":
            refusal = self._serving.refusal(call.params.get("serving"))
            if refusal is not None:
                return self._refuse(call, "stale", replace(refusal, seq=standing))
        if isinstance(found, Miss):
            return self._refuse(call, *explain(self._script, call, found))
        return self._answer(call, found)

    def _decide(self, call: BoundaryCall) -> Halt:
        """The call past the horizon ends the run. Nothing of it is compared, its serving neither."""
        crossing = call.boundary == "tool"
        self._calls.append(Call(boundary=call.boundary, params=call.params, answered=False, crossing=crossing))
        return self._halt(Halted("decided", f"the {call.boundary} call {len(self._calls)} is past the horizon"))

    def _refuse(self, call: BoundaryCall, status: RunStatus, divergence: Divergence) -> Halt:
        numbered = replace(divergence, call=len(self._calls))
        self._calls.append(Call(boundary=call.boundary, params=call.params, answered=False))
        return self._halt(Halted(status, numbered.message, numbered))

    def _answer(self, call: BoundaryCall, found: Selection) -> Reply:
        event, approval = found.event, found.approval
        outcome = self._outcome_of(event, approval.alternative)
        self._calls.append(
            Call(
                boundary=call.boundary,
                params=call.params,
                seq=event.seq,
                alternative=approval.alternative,
                ignored=approval.ignored,
                compared=approval.compared,
                ignored_leaves=approval.ignored_leaves,
                prompt_delta=approval.prompt_delta,
            )
        )
        reply = _reply(event, outcome)
        self._script.ids.see(reply.result if isinstance(reply, Answer) else [reply.kind, reply.message])
        return reply

    def _outcome_of(self, event: Event, alternative: int | None) -> Outcome | None:
        """What a tool event answers: an alternative its own outcome, and from then on later events what its `then`
        gives them; the event itself what an alternative used before gave it, else what was recorded."""
        if alternative is None:
            return self._then.get(event.seq, event.outcome)
        used = event.alternatives[alternative]
        self._then.update(used.then)
        return used.outcome


def _reply(event: Event, outcome: Outcome | None) -> Answer | ToolError:
    if event.boundary == "model":
        return Answer({"response": event.response})
    if event.boundary == "retrieval":
        return Answer({"chunks": event.chunks})
    if event.boundary == "human":
        return Answer({"decision": event.decision})
    assert outcome is not None
    if outcome.type == "error":
        return ToolError(outcome.kind, outcome.message)
    return Answer({"value": outcome.value})
