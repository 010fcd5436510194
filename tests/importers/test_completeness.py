from __future__ import annotations

import pytest

from replaycases.importers.completeness import Coverage, Report, report_of
from replaycases.importers.neutral import Boundary, ModelStep, NeutralRun, Note, Part, RetrievalStep, Step, ToolStep

MODEL = ModelStep(source="/0", request={"messages": []}, response={})
TOOL = ToolStep(source="/1", tool="look", arguments={}, value="one")
UNANSWERED = ToolStep(source="/2", tool="look", arguments={}, answered=False)
LOST = RetrievalStep(source="/3", query="q", chunks=[], answered=False)
COST = "how it was served is not known"


def report(*steps: Step, absent: tuple[Part, ...] = (), notes: tuple[Note, ...] = (), cut: str = "") -> Report:
    return report_of(NeutralRun(format="x", input=None, steps=steps, absent=absent, notes=notes, cut=cut), ())


def of(told: Report, boundary: Boundary) -> Coverage:
    return next(one for one in told.coverage if one.boundary == boundary)


def note(cost: str) -> Note:
    return Note(kind="content_lost", source="/0", text="something is lost", cost=cost, boundary="model")


def test_all_six_boundaries_are_told_each_once() -> None:
    told = [one.boundary for one in report(MODEL).coverage]
    assert sorted(told) == ["clock", "human", "model", "random", "retrieval", "tool"]


def test_a_boundary_that_the_run_never_crossed_is_absent_and_costs_nothing_where_the_format_could_tell() -> None:
    assert (of(report(MODEL), "human").state, of(report(MODEL), "human").cost) == ("absent", "")


def test_a_boundary_of_which_the_format_cannot_tell_is_absent_and_costs_something() -> None:
    told = of(report(MODEL, absent=("clock",)), "clock")
    assert told.state == "absent"
    assert "clock" in told.cost


@pytest.mark.parametrize(("step", "boundary"), [(UNANSWERED, "tool"), (LOST, "retrieval")])
def test_a_step_without_its_answer_makes_its_boundary_partly_recorded(step: Step, boundary: Boundary) -> None:
    told = of(report(MODEL, step), boundary)
    assert (told.state, told.lacking, bool(told.cost)) == ("partly", 1, True)


def test_a_model_call_without_its_request_is_not_whole() -> None:
    told = of(report(ModelStep(source="/0", request={}, response={})), "model")
    assert (told.state, told.recorded, told.lacking) == ("partly", 0, 1)


def test_what_a_note_takes_away_is_the_cost_and_no_more_is_said_to_be_unknown() -> None:
    told = of(report(MODEL, TOOL, notes=(note(COST), note(COST))), "model")
    assert (told.state, told.recorded, told.cost) == ("partly", 1, COST)


def test_a_note_that_costs_nothing_leaves_its_boundary_recorded() -> None:
    assert of(report(MODEL, notes=(note(""),)), "model").state == "recorded"


@pytest.mark.parametrize(
    ("steps", "cut", "mode", "replayable"),
    [
        ((MODEL, TOOL), "", "replay", 2),
        ((MODEL, TOOL), "the file ends", "prefix", 2),
        ((MODEL, UNANSWERED, MODEL), "", "prefix", 1),
        ((UNANSWERED, MODEL), "", "forensic", 0),
        ((LOST,), "", "forensic", 0),
        ((), "", "forensic", 0),
    ],
)
def test_what_can_be_replayed_ends_at_the_first_step_without_an_answer(
    steps: tuple[Step, ...], cut: str, mode: str, replayable: int
) -> None:
    told = report(*steps, cut=cut)
    assert (told.mode, told.replayable) == (mode, replayable)
