from __future__ import annotations

from typing import Any

import pytest

from replaycases.verdict.divergence import between, first_divergence, from_manifest
from replaycases.verdict.manifest import Manifest, build
from replaycases.verdict.observation import Call, Difference, Divergence
from tests.verdict.cases import call, crossing, facts, fixture_2, model_call, observed, tool_event

CASE = fixture_2(
    [
        tool_event(1, "pay", {"n": 1}),
        tool_event(2, "look", optional=True),
        {"seq": 3, "boundary": "model", "request": {}, "response": {}},
        tool_event(4, "note"),
    ],
    {"boundary": ["s"], "run_status": {"id": "s", "forbid": ["crashed"]}},
    horizon=True,
)
PAY, LOOK, MODEL, NOTE = call("pay", {"n": 1}, seq=1), call("look", seq=2), model_call(3), call("note", seq=4)


def manifest(*calls: Call, **more: Any) -> Manifest:
    return build(CASE, observed(*calls, **more), facts())


def parted(old: list[Call], new: list[Call], **more: Any) -> Divergence | None:
    return between(CASE, manifest(*old), manifest(*new, **more))


def test_equal_runs_do_not_part() -> None:
    assert parted([PAY, MODEL], [PAY, MODEL]) is None


@pytest.mark.parametrize(
    ("old", "new", "kind", "seq", "pointer"),
    [
        ([PAY, NOTE], [call("pay", {"n": 2}, seq=1), NOTE], "arguments", 1, "/arguments/n"),
        ([PAY, crossing("pay")], [PAY, crossing("ask")], "unexpected_tool", None, "/tool"),
        ([PAY, LOOK, NOTE], [PAY, NOTE], "unexpected_tool", 2, ""),
        ([PAY], [PAY, NOTE], "extra_call", 4, ""),
        ([PAY, NOTE], [PAY], "unconsumed", 4, ""),
        (
            [MODEL],
            [Call(boundary="model", params={"request": {"m": 1}, "serving": {}}, seq=3)],
            "prompt_delta",
            3,
            "/request/m",
        ),
    ],
)
def test_two_runs_part_at_the_first_call_that_differs(old: Any, new: Any, kind: str, seq: Any, pointer: str) -> None:
    found = parted(old, new)
    assert found is not None
    assert (found.kind, found.seq, found.pointer) == (kind, seq, pointer)


def test_old_is_expected_and_new_is_actual() -> None:
    found = parted([PAY], [call("pay", {"n": 2}, seq=1)])
    assert found is not None
    assert (found.expected, found.actual, found.call) == (1, 2, 0)


def test_runs_with_equal_calls_part_at_what_they_reported() -> None:
    found = parted([PAY], [PAY], outcome={"action": "wait", "message": "m"})
    assert found is not None
    assert (found.kind, found.pointer, found.actual) == ("finish", "/outcome/action", "wait")


OWN = Divergence(
    kind="arguments",
    boundary="tool",
    seq=1,
    call=0,
    pointer="/n",
    differences=(Difference(pointer="/n", expected=1, actual=2),),
    nearest={"seq": 1, "tool": "pay", "why": "differs", "differences": []},
)


def test_a_divergence_from_the_recording_comes_before_one_between_the_runs() -> None:
    plain, diverged = manifest(PAY), manifest(NOTE, status="diverged", first_divergence=OWN)
    assert first_divergence(CASE, plain, diverged) == OWN
    assert first_divergence(CASE, diverged, plain) == OWN
    assert first_divergence(CASE, plain, plain) is None


def test_new_comes_before_old() -> None:
    theirs = Divergence(kind="extra_call", boundary="tool")
    old = manifest(NOTE, status="diverged", first_divergence=OWN)
    new = manifest(NOTE, status="diverged", first_divergence=theirs)
    assert first_divergence(CASE, old, new) == theirs


def test_a_divergence_survives_the_manifest() -> None:
    assert from_manifest(manifest(status="diverged", first_divergence=OWN)["first_divergence"]) == OWN
    assert from_manifest(None) is None
