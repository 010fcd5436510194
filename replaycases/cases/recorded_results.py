"""What the checks of a draft's fixture say of the run as it was recorded."""

from __future__ import annotations

from collections.abc import Mapping

from replaycases.fixture.model import Fixture
from replaycases.importers.final_message import final_message
from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun, RetrievalStep, Step, ToolStep
from replaycases.importers.supplied import Supplied
from replaycases.importers.to_fixture import kept_steps
from replaycases.replay.recorded import Asked, judge_recording
from replaycases.verdict.rulings import CheckResult

Results = Mapping[str, CheckResult]


def results_of(fixture: Fixture, run: NeutralRun, supplied: Supplied) -> dict[str, CheckResult]:
    """By the check's id. `fixture` is what `supplied` makes of the run."""
    whole = not run.cut and not run.ends_on_answer
    past = _past(fixture, run, supplied)
    results = judge_recording(fixture, message=final_message(run), past=past, whole=whole)
    return {result.id: result for result in results}


def incident_held(fixture: Fixture, results: Results) -> tuple[str, ...]:
    """The checks that are the incident and that the recorded run keeps: a replay that is true to it keeps them too."""
    return tuple(check for check in fixture.boundary if results[check].result == "held")


def _past(fixture: Fixture, run: NeutralRun, supplied: Supplied) -> Asked | None:
    """The recorded request that comes first after the fixture's last event, where it is a prefix. Clock and random are
    no such request."""
    if not fixture.horizon:
        return None
    kept = kept_steps(run, supplied)[: len(fixture.events)]
    begin = kept[-1][0] if kept else 0
    out = frozenset(supplied.leave_out)
    later = (step for number, step in enumerate(run.steps, 1) if number > begin and number not in out)
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
