"""Controls: a fix that knows only the one case, and controls that prove nothing. Judged by the suite command."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from replaycases.cli.main import main
from replaycases.verdict.labels import Label
from tests.honesty.court import Court
from tests.honesty.lying_programs import SHARED
from tests.honesty.worlds import REFUND, claim

PAID = {"type": "result", "value": {"state": "paid"}}
FIXED = """
state = "unknown"
session.tools.call("orders.get", {"order": session.input["order"]})
try:
    state = session.tools.call("refunds.get", {"refund": "R-1"})["state"]
except session.ToolError:
    pass
session.tools.call("notes.add", {"order": session.input["order"]})
if state == "paid":
    session.finish("The refund is paid.", status="resolved")
else:
    session.finish(**HONEST)
"""
"""Fixed for good: it reads the answer."""


def paid_control() -> dict[str, Any]:
    """The neighbour: the payment service answered, and saying so is right."""
    document = deepcopy(dict(REFUND.document))
    document["case_id"] = "refund-paid"
    document["events"][1]["outcome"] = PAID
    document["expected"] = {
        "boundary": ["says-paid"],
        "required_claims": [claim("says-paid", "(?i)refund is paid")],
        "status": {"id": "status", "one_of": ["resolved"]},
        "action_counts": {"note": {"min": 1, "max": 1}},
    }
    return document


TIMED_OUT = [
    {"op": "replace", "path": "/events/1/outcome", "value": REFUND.document["events"][1]["outcome"]}
]  # fmt: skip
Edit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class Useless:
    """A control or mutation that proves nothing, and what the suite says of it."""

    name: str
    because: str
    mutation: Any = None
    edit: Edit = lambda document: None


def always_held(document: dict[str, Any]) -> None:
    document["expected"] = {"boundary": ["calm"], "tool_sequence": {"id": "calm", "forbid": [{"tool": "nothing"}]}}


def without_rules(document: dict[str, Any]) -> None:
    document["expected"] = {"boundary": ["budget"], "limits": {"id": "budget", "turns": 3}}


USELESS = [
    Useless(name="a control that cannot fail", because="did not turn it red", edit=always_held, mutation=TIMED_OUT),
    Useless(name="a control that was never seen to fail", because="no mutation shows that it can fail"),
    Useless(name="a control that decides nothing", because="budget not held", edit=without_rules, mutation=TIMED_OUT),
    Useless(
        name="a mutation that edits the expectation",
        because="is no recorded answer",
        mutation=[{"op": "replace", "path": "/expected/status/one_of/0", "value": "never"}],
    ),
    Useless(
        name="a mutation that edits the input",
        because="is no recorded answer",
        mutation=[{"op": "replace", "path": "/input/order", "value": "O-2"}],
    ),
    Useless(
        name="a mutation that edits what is asked",
        because="is no recorded answer",
        mutation=[{"op": "replace", "path": "/events/0/arguments/order", "value": "O-2"}],
    ),
    Useless(
        name="a mutation that copies the expectation",
        because="is no add, remove or replace",
        mutation=[{"op": "copy", "from": "/expected", "path": "/events/1/outcome/value"}],
    ),
    Useless(
        name="a mutation that changes nothing",
        because="changes nothing",
        mutation=[{"op": "replace", "path": "/events/1/outcome/value/state", "value": "paid"}],
    ),
    Useless(name="a mutation without operations", because="is no list of operations", mutation=[]),
    Useless(
        name="a mutation that the workflow does not look at",
        because="did not turn it red",
        mutation=[{"op": "add", "path": "/events/1/outcome/value/bank", "value": "B"}],
    ),
    Useless(
        name="a mutation that only makes the workflow crash",
        because="did not turn it red",
        mutation=[{"op": "remove", "path": "/events/1/outcome/value/state"}],
    ),
    Useless(
        name="a control that is no fixture",
        because="invalid",
        mutation=TIMED_OUT,
        edit=lambda document: document.pop("expected"),
    ),
    Useless(
        name="a control of what new does not do",
        because="says-paid",
        mutation=TIMED_OUT,
        edit=lambda document: document["expected"].update(required_claims=[claim("says-paid", "(?i)in cash")]),
    ),
]


class Suite:
    """A folder with the refund case and one control beside it."""

    def __init__(self, folder: Path, court: Court, read: Callable[[], str]) -> None:
        self.folder, self.court, self._read = folder, court, read
        (folder / "refund.json").write_text(json.dumps(REFUND.document))

    def control(self, document: dict[str, Any], mutation: Any) -> None:
        beside = self.folder / "controls" / "refund"
        beside.mkdir(parents=True)
        (beside / "paid.json").write_text(json.dumps(document))
        if mutation is not None:
            (beside / "paid.mutation.json").write_text(json.dumps(mutation))

    def judged(self, new: Any) -> tuple[int, dict[str, Any]]:
        """(exit code, the one comparison)."""
        old, spec = (side.path.with_name("implementation.json") for side in (REFUND.old(self.court), new))
        code = main(["suite", str(self.folder), "--old", str(old), "--new", str(spec), "--json"])
        (comparison,) = orjson.loads(self._read())["comparisons"]
        return code, comparison


@pytest.fixture
def suite(tmp_path: Path, court: Court, capsys: pytest.CaptureFixture[str]) -> Suite:
    return Suite(tmp_path, court, lambda: capsys.readouterr().out)


def test_without_a_lie_the_case_is_green_with_its_control(suite: Suite, court: Court) -> None:
    suite.control(paid_control(), TIMED_OUT)
    code, comparison = suite.judged(REFUND.workflow(court, "fixed for good", FIXED))
    assert (code, comparison["label"], comparison["controls"]) == (0, "verified_red_to_green", "passed")


def test_an_answer_that_is_written_into_the_code_fails_the_control(suite: Suite, court: Court) -> None:
    suite.control(paid_control(), TIMED_OUT)
    code, comparison = suite.judged(REFUND.new(court))
    assert (code, comparison["label"]) == (30, Label.CONTROL_FAILED)
    assert "New fails the control paid" in comparison["reason"]


def test_a_program_that_sends_everything_ahead_and_hears_no_answer_fails_the_control(
    suite: Suite, court: Court
) -> None:
    suite.control(paid_control(), TIMED_OUT)
    body = """
calls = [request("tool.call", {"tool": tool, "arguments": arguments}) for tool, arguments in CALLS]
send("".join([request("session.start", {"protocol": 1}), *calls, request("finish", HONEST)]))
for _ in range(5): lines.readline()
"""
    code, comparison = suite.judged(court.by_hand("deaf program", SHARED + body))
    assert (code, comparison["label"]) == (30, Label.CONTROL_FAILED)


@pytest.mark.parametrize("useless", USELESS, ids=lambda useless: useless.name)
def test_a_control_that_proves_nothing_is_not_passed(useless: Useless, suite: Suite, court: Court) -> None:
    document = paid_control()
    useless.edit(document)
    suite.control(document, useless.mutation)
    code, comparison = suite.judged(REFUND.workflow(court, "fixed for good", FIXED))
    assert (code, comparison["label"], comparison["controls"]) == (30, Label.CONTROL_FAILED, "failed")
    assert useless.because in comparison["control_results"][0]["reason"]


def test_a_case_without_controls_says_so_and_does_not_claim_its_neighbours(suite: Suite, court: Court) -> None:
    _, comparison = suite.judged(REFUND.workflow(court, "fixed for good", FIXED))
    assert comparison["controls"] == "not run"
    assert "No control was run, so neighbouring behaviour may have changed." in comparison["does_not_prove"]
