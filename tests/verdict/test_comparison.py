from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.verdict import comparison, rows
from replaycases.verdict.comparability import Refusal
from replaycases.verdict.comparison import Comparison, compare, invalid_fixture
from replaycases.verdict.control_result import NOT_REPLAYED, ControlResult
from replaycases.verdict.labels import Label
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.observation import Divergence, Observation
from replaycases.verdict.verified import VerifiedManifest
from tests.verdict.cases import NEW, OLD, call, effect, fixture_2, model_call, observed, tool_event
from tests.verdict.pairs import (
    CASE,
    DONE,
    FIRST,
    LOOK,
    NOTE,
    PATH,
    SECOND,
    green,
    new,
    old,
    red,
    shipment_case,
    twice,
)

Results = Sequence[VerifiedManifest]
PASSED = (ControlResult(control="c1", passed=True),)


def label(old_results: Results, new_results: Results, **more: Any) -> Label:
    return compare(CASE, old_results, new_results, **more).label


def test_old_red_and_new_green_in_every_run_is_verified() -> None:
    verdict = compare(CASE, old(), new())
    assert verdict.label is Label.VERIFIED_RED_TO_GREEN
    assert verdict.green
    assert verdict.exit_code == 0
    assert verdict.controls == "not run"
    assert verdict.authored_used == 1


def test_only_verified_red_to_green_is_green() -> None:
    shown = {"reason": "", "side": None, "case_id": "", "fixture_hash": "", "mode": "replay", "controls": ""}
    greens = [label for label in Label if Comparison(label=label, old_runs=2, new_runs=2, **shown).green]
    assert greens == [Label.VERIFIED_RED_TO_GREEN]


# One example for each row, each of which only that row keeps from being green or from the next label.

CRASHED = {"status": "crashed", "outcome": None, "first_divergence": Divergence(kind="crash", boundary="process")}
NOT_TO_SHIP = fixture_2(
    [tool_event(1, "ship", effect=effect("ship"), optional=True)],
    {"boundary": ["action_counts.ship"], "action_counts": {"ship": {"max": 0}}},
)
EXAMPLES: dict[str, tuple[Label, str | None, tuple[Results, Results], dict[str, Any]]] = {
    "not_comparable": (Label.NOT_COMPARABLE, None, (old(digest=NEW), new()), {}),
    "environment_unavailable": (
        Label.ENVIRONMENT_UNAVAILABLE,
        "new",
        (old(), new(green(), observed(status="environment_unavailable"))),
        {},
    ),
    "adapter_error": (Label.ADAPTER_ERROR, "new", (old(), new(*twice(green(status="adapter_error")))), {}),
    "stale": (Label.STALE, "old", (old(*twice(red(status="stale"))), new()), {}),
    "baseline_only": (Label.BASELINE_ONLY, "old", ([], new()), {}),
    "old_only": (Label.OLD_ONLY, "new", (old(), []), {}),
    "varied": (Label.VARIED, "new", (old(), new(green(), red())), {}),
    "too_few_results": (Label.UNDETERMINED, "old", (old(red()), new()), {}),
    "old_undetermined": (Label.UNDETERMINED, "old", (old(*twice(observed(FIRST, **CRASHED))), new()), {}),
    "not_reproduced": (Label.NOT_REPRODUCED, "old", (old(*twice(green())), new()), {}),
    "old_compared_nothing": (Label.UNDETERMINED, "old", (old(*twice(observed(outcome=DONE))), new()), {}),
    "still_failing": (Label.STILL_FAILING, "new", (old(), new(*twice(red()))), {}),
    "diverged": (
        Label.DIVERGED,
        "new",
        (old(), new(*twice(green(status="diverged", first_divergence=PATH)))),
        {},
    ),
    "unconsumed": (Label.UNCONSUMED, "new", (old(), new(*twice(green(unconsumed=(4,))))), {}),
    "new_undetermined": (Label.UNDETERMINED, "new", (old(), new(*twice(green(outcome={})))), {}),
    "new_compared_nothing": (
        Label.UNDETERMINED,
        "new",
        (
            old(*twice(observed(call("ship", seq=1))), fixture=NOT_TO_SHIP),
            new(*twice(observed(reads={"clock": 3})), fixture=NOT_TO_SHIP),
        ),
        {"case": NOT_TO_SHIP},
    ),
    "control_failed": (
        Label.CONTROL_FAILED,
        "new",
        (old(), new()),
        {"controls": (ControlResult(control="c1", passed=False),)},
    ),
    "near_miss": (Label.NEAR_MISS, "new", (old(), new(*twice(green(NOTE)))), {}),
}


def of_example(row: str) -> Comparison:
    _, _, sides, more = EXAMPLES[row]
    return compare(more.get("case", CASE), *sides, controls=more.get("controls", ()))


@pytest.mark.parametrize("row", EXAMPLES)
def test_each_row_gives_its_label_and_names_its_side(row: str) -> None:
    expected, side, _, _ = EXAMPLES[row]
    verdict = of_example(row)
    assert (verdict.label, verdict.side) == (expected, side)
    assert verdict.reason.endswith(".")
    assert side is None or side in verdict.reason.lower()
    assert not verdict.green


@pytest.mark.parametrize("row", EXAMPLES)
def test_each_row_is_what_gives_its_label(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the row removed the label changes, or nothing is left to compare."""
    expected = EXAMPLES[row][0]
    for name in ("OF_THE_PAIR", "OF_NEW"):
        kept = tuple(function for function in getattr(rows, name) if function.__name__ != row)
        monkeypatch.setattr(comparison, name, kept)
    try:
        found: Label | None = of_example(row).label
    except IndexError:
        found = None
    assert found is not expected


def test_the_examples_cover_every_row() -> None:
    assert list(EXAMPLES) == [row.__name__ for row in (*rows.OF_THE_PAIR, *rows.OF_NEW)]


def test_an_invalid_fixture_has_its_own_label() -> None:
    fault = Finding(id="json.syntax", level="error", pointer="/a", message="not JSON", hint="mend it")
    verdict = invalid_fixture("case-1", FixtureInvalid([fault]))
    assert (verdict.label, verdict.exit_code, verdict.case_id) == (Label.FIXTURE_INVALID, 10, "case-1")


# Row 2


@pytest.mark.parametrize("field", ["fixture_hash", "checks_hash", "content_hash", "case_id"])
def test_runs_of_another_fixture_are_not_comparable(field: str) -> None:
    other = {"case_id": "case-2"} if field == "case_id" else {field: "sha256:" + "e" * 64}
    foreign = [VerifiedManifest(Manifest({**item.manifest.document, **other})) for item in new()]
    verdict = compare(CASE, old(), foreign)
    assert (verdict.label, verdict.side) == (Label.NOT_COMPARABLE, "new")
    assert field in verdict.reason


def test_runs_of_the_same_case_with_other_expectations_are_not_comparable() -> None:
    other = shipment_case(locale="de")
    assert label(old(), new(fixture=other)) is Label.NOT_COMPARABLE


@pytest.mark.parametrize("field", ["mode", "matching_policy", "manifest_version"])
def test_runs_that_mean_different_things_are_not_comparable(field: str) -> None:
    foreign = [VerifiedManifest(Manifest({**item.manifest.document, field: "other"})) for item in new()]
    assert label(old(), foreign) is Label.NOT_COMPARABLE


def test_the_same_implementation_on_both_sides_is_not_comparable() -> None:
    verdict = compare(CASE, old(), new(digest=OLD))
    assert (verdict.label, "digests are equal" in verdict.reason) == (Label.NOT_COMPARABLE, True)


def test_a_refused_manifest_forbids_comparing_and_says_why() -> None:
    refused = [Refusal(side="new", run="new.json", reason="/boundary_passed: is a string")]
    verdict = compare(CASE, old(), new(), refused=refused)
    assert (verdict.label, verdict.side) == (Label.NOT_COMPARABLE, "new")
    assert "/boundary_passed" in verdict.reason


def test_a_lucky_run_cannot_be_picked_from_its_set() -> None:
    three = new(green(), red(), green())
    assert label(old(), [three[0], three[2]]) is Label.NOT_COMPARABLE


def test_one_run_cannot_be_counted_twice() -> None:
    lucky = new(green(), size=2)
    assert label(old(), [*lucky, *lucky]) is Label.NOT_COMPARABLE
    renamed = new(green(), name="again", run_id="new-0")
    assert label(old(), [*new(green()), *renamed]) is Label.NOT_COMPARABLE


def test_one_run_cannot_stand_on_both_sides() -> None:
    assert label(old(), new(green(), run_id="old-0")) is Label.NOT_COMPARABLE


def test_runs_of_several_implementations_are_no_side() -> None:
    assert label(old(), [*new(green()), *new(green(), name="x", digest="sha256:" + "2" * 64)]) is Label.NOT_COMPARABLE


def test_nothing_on_either_side_is_not_comparable() -> None:
    assert label([], []) is Label.NOT_COMPARABLE


# Rows 3 to 8


def test_runs_without_an_environment_are_listed_and_not_read_while_two_results_remain() -> None:
    results = new(green(), observed(status="cancelled"), green())
    verdict = compare(CASE, old(), results)
    assert verdict.label is Label.VERIFIED_RED_TO_GREEN
    assert [(item.side, item.status) for item in verdict.unread] == [("new", "cancelled")]


@pytest.mark.parametrize("status", ["environment_unavailable", "cancelled"])
def test_too_few_results_beside_runs_without_an_environment_are_environment_unavailable(status: Any) -> None:
    assert label(old(red(), observed(status=status)), new()) is Label.ENVIRONMENT_UNAVAILABLE
    assert label(old(), new(*twice(observed(status=status)))) is Label.ENVIRONMENT_UNAVAILABLE


def test_one_result_on_either_side_is_undetermined() -> None:
    assert label(old(red()), new()) is Label.UNDETERMINED
    assert label(old(), new(green())) is Label.UNDETERMINED


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (green(status="timed_out", outcome=None), "statuses"),
        (green(outcome={"status": "odd"}), "check results"),
        (green(outcome={"status": "done", "message": "another text"}), "observations"),
    ],
)
def test_new_varies_if_status_check_results_or_observation_differ(other: Observation, what: str) -> None:
    verdict = compare(CASE, old(), new(green(), other))
    assert (verdict.label, what in verdict.reason) == (Label.VARIED, True)


def test_old_varies_too() -> None:
    assert label(old(red(), green()), new()) is Label.VARIED


# Rows 9 and 10: is old red?


@pytest.mark.parametrize("status", ["timed_out", "limit_exceeded", "exhausted", "crashed"])
def test_old_that_broke_off_without_a_violation_is_undetermined(status: Any) -> None:
    verdict = compare(CASE, old(*twice(observed(FIRST, status=status, outcome=None))), new())
    assert (verdict.label, verdict.side) == (Label.UNDETERMINED, "old")
    assert status.replace("_", " ") in verdict.reason


def test_old_whose_boundary_check_is_undetermined_is_undetermined() -> None:
    unsure = fixture_2(
        [tool_event(1, "ship", effect=effect("ship", accepted="unknown"))],
        {"boundary": ["action_counts.ship"], "action_counts": {"ship": {"max": 0}}},
    )
    sides = old(*twice(observed(call("ship", seq=1))), fixture=unsure), new(*twice(observed()), fixture=unsure)
    verdict = compare(unsure, *sides)
    assert (verdict.label, verdict.side) == (Label.UNDETERMINED, "old")


@pytest.mark.parametrize("status", ["timed_out", "limit_exceeded", "exhausted", "crashed"])
def test_old_that_broke_off_after_violating_the_boundary_is_red(status: Any) -> None:
    assert label(old(*twice(red(status=status))), new()) is Label.VERIFIED_RED_TO_GREEN


def test_a_hang_is_red_where_the_boundary_is_the_run_status() -> None:
    hang = fixture_2(
        [tool_event(1, "look")],
        {
            "boundary": ["ends"],
            "run_status": {"id": "ends", "forbid": ["timed_out", "exhausted"]},
            "status": {"id": "s", "one_of": ["done"]},
        },
    )
    good = observed(call("look", seq=1), outcome=DONE)
    for status in ("timed_out", "exhausted"):
        bad = observed(call("look", seq=1), status=status, outcome=None)
        assert compare(hang, old(*twice(bad), fixture=hang), new(*twice(good), fixture=hang)).green


@pytest.mark.parametrize(
    ("observation", "why"),
    [
        (green(), "authored"),
        (observed(FIRST, LOOK, outcome=DONE), "held"),
        (observed(FIRST, LOOK, outcome={"status": "odd"}), "only other checks"),
        (red(status="diverged", first_divergence=PATH), "diverged"),
        (red(first_divergence=PATH), "diverged"),
        (red(status="diverged"), "diverged"),
        (red(unconsumed=(4,)), "left"),
    ],
)
def test_old_that_is_not_red_is_not_reproduced_and_the_reason_says_why(observation: Observation, why: str) -> None:
    verdict = compare(CASE, old(*twice(observation)), new())
    assert (verdict.label, verdict.side) == (Label.NOT_REPRODUCED, "old")
    assert why in verdict.reason


def test_old_that_uses_an_authored_answer_is_not_reproduced_however_red() -> None:
    case = fixture_2(
        [
            tool_event(
                1,
                "ship",
                {"n": 1},
                effect=effect("ship"),
                alternatives=[
                    {
                        "tool": "ship",
                        "arguments": {"n": 2},
                        "outcome": {"type": "result", "value": 1},
                        "effect": effect("ship"),
                        "origin": "authored",
                    }
                ],
            )
        ],
        {"boundary": ["action_counts.ship"], "action_counts": {"ship": {"max": 0}}},
    )
    bad = observed(call("ship", {"n": 2}, seq=1, alternative=0))
    verdict = compare(case, old(*twice(bad), fixture=case), new(*twice(observed()), fixture=case))
    assert (verdict.label, "authored" in verdict.reason) == (Label.NOT_REPRODUCED, True)


def test_old_is_red_only_if_every_boundary_check_is_violated() -> None:
    case = fixture_2(
        [tool_event(1, "ship", effect=effect("ship"))],
        {
            "boundary": ["action_counts.ship", "s"],
            "action_counts": {"ship": {"max": 0}},
            "status": {"id": "s", "one_of": ["done"]},
        },
    )
    bad = observed(call("ship", seq=1), outcome=DONE)
    verdict = compare(case, old(*twice(bad), fixture=case), new(*twice(observed(outcome=DONE)), fixture=case))
    assert (verdict.label, "in part" in verdict.reason) == (Label.NOT_REPRODUCED, True)


# Rows 11 to 14: new


def test_new_that_violates_another_check_is_still_failing_and_the_reason_says_so() -> None:
    verdict = compare(CASE, old(), new(*twice(green(outcome={"status": "odd"}))))
    assert verdict.label is Label.STILL_FAILING
    assert "other checks" in verdict.reason


def test_new_that_violates_before_it_breaks_off_is_still_failing() -> None:
    assert label(old(), new(*twice(red(status="diverged", first_divergence=PATH)))) is Label.STILL_FAILING


def test_new_that_asks_for_more_than_recorded_is_diverged() -> None:
    more = green(status="exhausted", first_divergence=Divergence(kind="model_exhausted", boundary="model"))
    assert label(old(), new(*twice(more))) is Label.DIVERGED


def test_a_divergence_is_named_with_its_event_and_kind() -> None:
    gone = compare(CASE, old(), new(*twice(green(status="diverged", first_divergence=PATH))))
    assert "at event 2 (arguments)" in gone.reason


@pytest.mark.parametrize("status", ["timed_out", "limit_exceeded", "crashed"])
def test_new_that_breaks_off_is_undetermined(status: Any) -> None:
    verdict = compare(CASE, old(), new(*twice(green(status=status, outcome=None))))
    assert (verdict.label, verdict.side) == (Label.UNDETERMINED, "new")
    assert status.replace("_", " ") in verdict.reason


def test_new_whose_only_fault_is_an_undetermined_check_off_the_boundary_is_undetermined() -> None:
    assert label(old(), new(*twice(green(outcome={"status": None})))) is Label.UNDETERMINED


# Row 15


@pytest.mark.parametrize("passed", [False, None])
def test_a_control_that_did_not_pass_is_control_failed(passed: bool | None) -> None:
    controls = (*PASSED, ControlResult(control="c2", passed=passed))
    verdict = compare(CASE, old(), new(), controls=controls)
    assert (verdict.label, verdict.controls) == (Label.CONTROL_FAILED, "failed")
    assert "c2" in verdict.reason


def test_a_control_that_nobody_replayed_is_no_pass_and_is_not_said_to_fail() -> None:
    controls = (*PASSED, ControlResult(control="c2", passed=None, reason=NOT_REPLAYED))
    verdict = compare(CASE, old(), new(), controls=controls)
    assert (verdict.label, verdict.green, verdict.controls) == (Label.CONTROL_FAILED, False, "not run")
    assert verdict.reason.startswith("The control c2 has not been replayed on new yet, which is no pass;")
    assert any("they were not replayed yet: c2." in sentence for sentence in verdict.does_not_prove)


@pytest.mark.parametrize(
    ("passed", "told"), [(False, "New fails the control z"), (None, "New could not be decided on")]
)
def test_what_a_control_did_is_told_before_that_another_was_not_replayed(passed: bool | None, told: str) -> None:
    controls = (
        ControlResult(control="a", passed=None, reason=NOT_REPLAYED),
        ControlResult(control="z", passed=passed, reason="run completed"),
    )
    verdict = compare(CASE, old(), new(), controls=controls)
    assert (verdict.label, verdict.controls) == (Label.CONTROL_FAILED, "failed")
    assert verdict.reason.startswith(told)


def test_controls_that_passed_are_stated() -> None:
    assert compare(CASE, old(), new(), controls=PASSED).controls == "passed"


def test_an_empty_list_of_controls_is_no_passed_control() -> None:
    assert compare(CASE, old(), new(), controls=()).controls == "not run"


# Caps, outside the order


@pytest.mark.parametrize(
    ("facts", "side"),
    [
        ({"isolation": {"tier": "process"}}, "old"),
        ({"isolation": {"tier": "process"}}, "new"),
        ({"surfaces": dict.fromkeys(new()[0].manifest["surfaces"], "uncontrolled")}, "new"),
    ],
)
def test_a_pass_without_isolation_is_never_green(facts: Any, side: str) -> None:
    sides = (old(**facts), new()) if side == "old" else (old(), new(**facts))
    verdict = compare(CASE, *sides)
    assert verdict.label is Label.UNISOLATED_PASS
    assert side in verdict.reason


@pytest.mark.parametrize("mode", ["compatibility", "hybrid", "rerun"])
def test_a_pair_that_is_no_replay_is_at_best_compatible_and_never_changes_the_code(mode: str) -> None:
    good = compare(CASE, old(mode=mode), new(mode=mode))
    bad = compare(CASE, old(mode=mode), new(*twice(red()), mode=mode))
    assert (good.label, good.exit_code) == (Label.COMPATIBLE_PASS, 0)
    assert (bad.label, bad.exit_code) == (Label.COMPATIBLE_FAIL, 0)
    assert (
        compare(
            CASE,
            old(mode=mode),
            [],
        ).exit_code
        == 0
    )


def test_a_pair_of_two_modes_is_no_compatibility_pair() -> None:
    verdict = compare(CASE, old(mode="compatibility"), new())
    assert (verdict.label, verdict.exit_code) == (Label.NOT_COMPARABLE, 40)


SERVING = {"provider": "p", "requested_model": "m", "api_version": "1", "settings": {}}
GAP = {"pointer": "/locale", "cost": "unknown locale"}


def model_case(**more: Any) -> Any:
    return fixture_2(
        [
            {"seq": 1, "boundary": "model", "request": {}, "response": {}},
            tool_event(2, "ship", effect=effect("ship"), optional=True),
        ],
        {"boundary": ["action_counts.ship"], "action_counts": {"ship": {"max": 0}}},
        **more,
    )


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"serving": SERVING}, Label.VERIFIED_RED_TO_GREEN),
        ({}, Label.COMPATIBLE_PASS),
        ({"serving": {**SERVING, "settings": None}}, Label.COMPATIBLE_PASS),
        ({"serving": {k: v for k, v in SERVING.items() if k != "requested_model"}}, Label.COMPATIBLE_PASS),
        ({"serving": SERVING, "missing": [GAP]}, Label.COMPATIBLE_PASS),
        ({"serving": SERVING, "missing": [{**GAP, "declared": False}]}, Label.COMPATIBLE_PASS),
        ({"serving": SERVING, "locale": "de", "missing": [{**GAP, "declared": True}]}, Label.VERIFIED_RED_TO_GREEN),
        ({"serving": SERVING, "replayability": {"class": "non_replayable"}}, Label.COMPATIBLE_PASS),
        ({"serving": SERVING, "replayability": {"class": "structural"}}, Label.VERIFIED_RED_TO_GREEN),
    ],
)
def test_what_the_recording_does_not_know_caps_the_pair(more: Any, expected: Label) -> None:
    case = model_case(**more)
    bad, good = observed(model_call(1), call("ship", seq=2)), observed(model_call(1))
    found = compare(case, old(*twice(bad), fixture=case), new(*twice(good), fixture=case))
    assert found.label is expected
    failing = compare(case, old(*twice(bad), fixture=case), new(*twice(bad), fixture=case))
    assert failing.label is (Label.STILL_FAILING if expected is Label.VERIFIED_RED_TO_GREEN else Label.COMPATIBLE_FAIL)


def test_an_approved_missing_red_is_labelled_as_such_and_never_green() -> None:
    verdict = compare(CASE, [], new(), approved_without_red=True)
    assert (verdict.label, verdict.green, verdict.exit_code) == (Label.GREEN_WITHOUT_RED, False, 50)


@pytest.mark.parametrize(
    "results",
    [
        new(*twice(red())),
        new(green()),
        new(green(), red()),
        new(*twice(green(unconsumed=(4,)))),
        new(isolation={"tier": "process"}),
        new(mode="compatibility"),
    ],
)
def test_approval_of_a_missing_red_makes_nothing_of_a_new_side_that_is_not_green(results: Results) -> None:
    assert label([], results, approved_without_red=True) is Label.BASELINE_ONLY


def test_approval_of_a_missing_red_does_not_excuse_an_old_that_held() -> None:
    assert label(old(*twice(green())), new(), approved_without_red=True) is Label.NOT_REPRODUCED


# What is shown


def test_differences_of_what_was_reported_are_listed_and_change_no_label() -> None:
    said = green(outcome={"status": "done", "claims": ["x"], "action": "wait"})
    verdict = compare(CASE, old(), new(*twice(said)))
    assert verdict.green
    assert [d.pointer for d in verdict.differences] == [
        "/outcome/action",
        "/outcome/claims",
        "/action_counts/ship/min",
        "/action_counts/ship/max",
    ]


def test_the_largest_prompt_delta_is_stated_also_when_it_was_allowed() -> None:
    case = model_case(serving=SERVING)
    good = observed(model_call(1, prompt_delta=0.08))
    bad = observed(model_call(1), call("ship", seq=2))
    verdict = compare(case, old(*twice(bad), fixture=case), new(*twice(good), fixture=case))
    assert (verdict.green, verdict.prompt_delta) == (True, 0.08)


def test_what_is_proved_and_what_is_not_follow_from_the_facts() -> None:
    verdict = compare(CASE, old(), new())
    assert any("2 runs the old version violates action_counts.ship" in line for line in verdict.proves)
    assert any("closes no incident" in line for line in verdict.does_not_prove)
    assert any("No control was run" in line for line in verdict.does_not_prove)
    assert any("authored" in line for line in verdict.does_not_prove)
    failing = compare(CASE, old(), new(*twice(red())), controls=PASSED)
    assert "It does not show that the incident is fixed." in failing.does_not_prove
    assert not any("No control was run" in line for line in failing.does_not_prove)


def test_a_comparison_can_be_written_as_json() -> None:
    document = json.loads(orjson.dumps(compare(CASE, old(), new(), controls=PASSED).as_dict()))
    assert (document["label"], document["green"], document["exit_code"]) == ("verified_red_to_green", True, 0)
    assert document["first_divergence"]["pointer"] == "/arguments/key"
    assert document["control_results"] == [{"control": "c1", "passed": True, "reason": ""}]


def test_version_and_boundary_of_both_sides_stand_beside_the_label() -> None:
    verdict = compare(CASE, old(), new())
    assert verdict.old is not None
    assert verdict.new is not None
    assert (verdict.old.digest, verdict.old.boundary_passed, verdict.old.statuses) == (OLD, False, ("completed",))
    assert (verdict.new.version, verdict.new.boundary_passed) == ("2", True)
    mixed = compare(CASE, [], new(green(), red()))
    assert mixed.old is None
    assert mixed.new is not None
    assert mixed.new.boundary_passed is None


# Properties

POOL = [
    red(),
    green(),
    green(NOTE),
    green(unconsumed=(4,)),
    green(outcome={}),
    green(outcome={"status": "odd"}),
    green(status="diverged", first_divergence=PATH),
    red(status="diverged", first_divergence=PATH),
    red(unconsumed=(4,)),
    red(status="timed_out"),
    observed(FIRST, SECOND, status="crashed", outcome=None),
    observed(FIRST, LOOK, outcome=DONE),
    green(status="stale"),
    green(status="adapter_error"),
    observed(status="environment_unavailable", outcome=None),
    observed(status="cancelled", outcome=None),
]
SIDE = st.lists(st.sampled_from(POOL), max_size=3)
MOSTLY = st.sampled_from([[red(), red()], [green(), green()]])
TIER = st.sampled_from(["bubblewrap", "seccomp", "process"])
UNDECIDED = (ControlResult(control="c", passed=None),)
CONTROLS = st.sampled_from([(), PASSED, UNDECIDED])


def earned(
    old_results: Results, new_results: Results, controls: tuple[ControlResult, ...], digests: tuple[str, str]
) -> bool:
    """The conditions of green, restated from the documents alone."""
    documents = [[item.manifest.document for item in side] for side in (old_results, new_results)]
    reds, greens = (
        [d for d in side if d["status"] not in ("environment_unavailable", "cancelled")] for side in documents
    )
    everything = [document for side in documents for document in side]
    return (
        len(reds) >= 2
        and len(greens) >= 2
        and digests[0] != digests[1]
        and all(d["isolation"]["tier"] != "process" for d in [*reds, *greens])
        and all(d["mode"] == "replay" for d in everything)
        and all({c["id"]: c["result"] for c in d["checks"]}["action_counts.ship"] == "violated" for d in reds)
        and all(d["status"] not in ("diverged", "stale", "adapter_error") for d in reds)
        and not any(d["unconsumed"] or d["authored_used"] for d in reds)
        and all(d["status"] in ("completed", "decided") for d in greens)
        and all(c["result"] == "held" for d in greens for c in d["checks"])
        and not any(d["unconsumed"] for d in greens)
        and len({d["observation_hash"] for d in reds}) == len({d["observation_hash"] for d in greens}) == 1
        and all(d["action_counts"]["note"] == reds[0]["action_counts"]["note"] for d in greens)
        and all(control.passed is True for control in controls)
    )


@settings(deadline=None)
@given(
    SIDE | MOSTLY,
    SIDE | MOSTLY,
    TIER,
    TIER,
    CONTROLS,
    st.sampled_from(["replay", "rerun"]),
    st.booleans(),
    st.booleans(),
)
@example([*twice(red())], [*twice(green())], "bubblewrap", "bubblewrap", PASSED, "replay", False, False)
@example([*twice(red())], [*twice(green())], "bubblewrap", "bubblewrap", UNDECIDED, "replay", False, False)
def test_no_label_is_green_that_was_not_earned_and_none_that_was_is_withheld(
    old_runs: list[Observation],
    new_runs: list[Observation],
    old_tier: str,
    new_tier: str,
    controls: tuple[ControlResult, ...],
    mode: str,
    same: bool,
    approved: bool,
) -> None:
    digests = (OLD, OLD if same else NEW)
    before = old(*old_runs, isolation={"tier": old_tier}, mode=mode) if old_runs else []
    after = new(*new_runs, isolation={"tier": new_tier}, mode=mode, digest=digests[1]) if new_runs else []
    verdict = compare(CASE, before, after, controls=controls, approved_without_red=approved)
    assert verdict.green is earned(before, after, controls, digests)


@settings(deadline=None)
@given(SIDE, SIDE, st.randoms(use_true_random=False))
def test_the_order_of_results_never_changes_the_verdict(
    old_runs: list[Observation], new_runs: list[Observation], random: Any
) -> None:
    before, after = (old(*old_runs) if old_runs else []), (new(*new_runs) if new_runs else [])
    shuffled = [random.sample(side, len(side)) for side in (before, after)]
    assert compare(CASE, *shuffled) == compare(CASE, before, after)


@settings(deadline=None, max_examples=30)
@given(SIDE, SIDE)
def test_which_run_of_a_set_came_first_never_changes_the_label(
    old_runs: list[Observation], new_runs: list[Observation]
) -> None:
    found = {
        label(old(*left) if left else [], new(*right) if right else [])
        for left, right in itertools.product(itertools.permutations(old_runs), itertools.permutations(new_runs))
    }
    assert len(found) == 1
