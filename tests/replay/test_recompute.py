from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.fixture.model import Fixture
from replaycases.replay.ending import Ended
from replaycases.replay.recompute import MOST_READS, recompute
from replaycases.replay.session import Halt, ReplaySession
from replaycases.verdict.manifest import Manifest, ManifestRefused, build, dump, parse
from tests.verdict.cases import effect, facts, fixture_2, tool_event

CASE = fixture_2(
    [
        tool_event(1, "pay", {"k": "a"}, effect=effect("pay", key="/k")),
        {"seq": 2, "boundary": "clock", "now": "2026-03-29T01:30:00+01:00"},
        {"seq": 3, "boundary": "random", "name": "dice", "value": 4},
        tool_event(4, "look", {"k": "a"}, optional=True),
        {"seq": 5, "boundary": "human", "question": "sure?", "decision": "yes"},
    ],
    {
        "boundary": ["action_counts.pay"],
        "action_counts": {"pay": {"min": 1, "max": 1}},
        "status": {"id": "s", "one_of": ["done"]},
    },
)

START = ("session.start", {"protocol": 1})
CLOCK = ("clock.now", {})
DRAW = ("random.draw", {"name": "dice"})
PAY = ("tool.call", {"tool": "pay", "arguments": {"k": "a"}})
OTHER = ("tool.call", {"tool": "pay", "arguments": {"k": "b"}})
LOOK = ("tool.call", {"tool": "look", "arguments": {"k": "a"}})
ASK = ("human.ask", {"question": "sure?"})
FINISH = ("finish", {"message": "paid", "status": "done"})
NO_REQUEST = ("tool.call", {"arguments": 1})


def ran(*requests: Any, ended: Ended | None = None, fixture: Fixture = CASE) -> Manifest:
    session = ReplaySession(fixture, serving=None, clock="injected")
    replies = [session.handle(method, deepcopy(params)) for method, params in requests]
    by_itself = Ended(cause="halted") if Halt() in replies else Ended(cause="exit", exit_status=0)
    return build(fixture, session.observe(ended=ended or by_itself), facts())


CLEAN = (START, CLOCK, PAY, DRAW, LOOK, ASK, FINISH)


@pytest.mark.parametrize(
    ("requests", "status"),
    [
        (CLEAN, "completed"),
        ((START, PAY, CLOCK, CLOCK, CLOCK, ASK, FINISH), "completed"),
        ((START, PAY, FINISH), "completed"),
        ((START, OTHER), "diverged"),
        ((START, PAY, ASK, DRAW, DRAW), "diverged"),
        ((START, PAY, LOOK, LOOK), "diverged"),
        ((START, PAY), "crashed"),
        ((START, NO_REQUEST), "adapter_error"),
        ((PAY,), "adapter_error"),
        ((), "adapter_error"),
        ((*CLEAN, PAY), "adapter_error"),
    ],
)
def test_an_honest_manifest_recomputes_to_itself(requests: Any, status: str) -> None:
    manifest = ran(*requests)
    assert manifest.status == status
    assert recompute(CASE, parse(dump(manifest))).manifest == manifest


@pytest.mark.parametrize(
    "cause", ["timed_out", "limit_exceeded", "cancelled", "environment_unavailable", "adapter_error"]
)
def test_what_ended_the_run_outside_the_session_is_taken_from_the_manifest(cause: str) -> None:
    manifest = ran(START, PAY, ended=Ended(cause=cause, reason="ended", stderr="warning"))
    assert manifest.status == cause
    assert recompute(CASE, manifest).manifest == manifest


def test_a_crash_after_finish_recomputes_to_a_crash() -> None:
    manifest = ran(*CLEAN, ended=Ended(cause="exit", exit_status=3))
    assert manifest.status == "crashed"
    assert recompute(CASE, manifest).manifest == manifest


def forged(manifest: Manifest, edit: Callable[[dict[str, Any]], None]) -> Manifest:
    document = deepcopy(dict(manifest.document))
    edit(document)
    return Manifest(document)


FORGERIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "/case_id": lambda d: d.update(case_id="case-2"),
    "/fixture_hash": lambda d: d.update(fixture_hash="sha256:" + "f" * 64),
    "/content_hash": lambda d: d.update(content_hash="sha256:" + "f" * 64),
    "/checks_hash": lambda d: d.update(checks_hash="sha256:" + "f" * 64),
    "/fixture_schema": lambda d: d.update(fixture_schema="1.0"),
    "/manifest_version": lambda d: d.update(manifest_version="2"),
    "/matching_policy": lambda d: d["matching_policy"].update(version=9),
    "/implementation_version": lambda d: d.update(implementation_version="9"),
    "/substituted": lambda d: d.update(substituted=[]),
    "/boundary_passed": lambda d: d.update(boundary_passed=False),
    "/checks": lambda d: d["checks"][0].update(result="violated"),
    "/action_counts": lambda d: d["action_counts"]["pay"].update(max=2),
    "/authorization": lambda d: d["authorization"].update(reported="allow"),
    "/unconsumed": lambda d: d.update(unconsumed=[1]),
    "/optional_skipped": lambda d: d.update(optional_skipped=[4]),
    "/authored_used": lambda d: d.update(authored_used=[{"seq": 1, "alternative": 0}]),
    "/first_divergence": lambda d: d.update(first_divergence={"kind": "crash"}),
    "/observation_hash": lambda d: d.update(observation_hash="sha256:" + "f" * 64),
    "/prompt_delta": lambda d: d.update(prompt_delta=0.1),
    "/ignored_share": lambda d: d.update(ignored_share=0.5),
    "/calls": lambda d: d["calls"][0].update(compared=99),
    "/serving": lambda d: d.update(serving={"declared": None, "recorded": None, "compared": True}),
}


@pytest.mark.parametrize("pointer", FORGERIES)
def test_a_forged_field_is_refused_by_name(pointer: str) -> None:
    with pytest.raises(ManifestRefused) as refused:
        recompute(CASE, forged(ran(*CLEAN), FORGERIES[pointer]))
    assert refused.value.pointer == pointer


def test_a_manifest_of_a_release_with_other_words_is_read_in_those_of_this_one() -> None:
    honest = ran(*CLEAN)
    older = forged(honest, lambda d: d["checks"][0].update(observed="told in another way"))
    assert recompute(CASE, older).manifest == honest


def test_a_divergence_told_in_other_words_is_the_same_divergence() -> None:
    strayed = ran(START, OTHER)
    older = forged(strayed, lambda d: d["first_divergence"].update(message="another path", remedy="look"))
    assert recompute(CASE, forged(older, lambda d: d.update(reason="another path"))).manifest == strayed


def test_a_manifest_of_another_fixture_is_refused_as_such() -> None:
    with pytest.raises(ManifestRefused, match="/fixture_hash: is not that of the fixture"):
        recompute(CASE, forged(ran(*CLEAN), FORGERIES["/fixture_hash"]))


@pytest.mark.parametrize(
    "requests", [(START, OTHER), (START, PAY), (START, PAY, FINISH), (START, PAY, ASK, DRAW, DRAW)]
)
def test_no_run_becomes_a_pass_by_saying_that_it_completed(requests: Any) -> None:
    def claim(document: dict[str, Any]) -> None:
        document.update(status="completed", boundary_passed=True, unconsumed=[], first_divergence=None, exit_status=0)

    with pytest.raises(ManifestRefused):
        recompute(CASE, forged(ran(*requests), claim))


@pytest.mark.parametrize("status", ["decided", "diverged", "stale", "exhausted"])
def test_a_status_that_only_the_session_can_reach_is_not_believed(status: str) -> None:
    with pytest.raises(ManifestRefused):
        recompute(CASE, forged(ran(*CLEAN), lambda d: d.update(status=status)))


def test_a_call_slipped_in_or_left_out_is_refused() -> None:
    with pytest.raises(ManifestRefused):
        recompute(CASE, forged(ran(*CLEAN), lambda d: d["calls"].pop(0)))
    with pytest.raises(ManifestRefused):
        recompute(CASE, forged(ran(START, PAY, FINISH), lambda d: d["calls"].append(d["calls"][0])))


def test_a_count_of_reads_that_no_run_can_have_made_is_refused_before_it_is_replayed() -> None:
    with pytest.raises(ManifestRefused) as refused:
        recompute(CASE, forged(ran(*CLEAN), lambda d: d["reads"].update(clock=MOST_READS + 1)))
    assert refused.value.pointer == "/reads"


@settings(deadline=None)
@given(st.lists(st.sampled_from([CLOCK, DRAW, PAY, OTHER, LOOK, ASK, FINISH, NO_REQUEST]), max_size=9))
def test_every_run_recomputes_to_itself_whatever_it_asked(requests: list[Any]) -> None:
    manifest = ran(START, *requests)
    assert recompute(CASE, parse(dump(manifest))).manifest == manifest
