from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from replaycases.verdict.manifest import Manifest, ManifestRefused, build, dump, parse
from replaycases.verdict.observation import Observation
from tests.verdict.cases import call, effect, facts, fixture_2, observed, tool_event

CASE = fixture_2(
    [tool_event(1, "pay", {"k": "a"}, effect=effect("pay", key="/k")), tool_event(2, "look", optional=True)],
    {
        "boundary": ["action_counts.pay", "s"],
        "action_counts": {"pay": {"max": 1}},
        "status": {"id": "s", "one_of": ["done"]},
    },
)


def run(**more: Any) -> Observation:
    return observed(call("pay", {"k": "a"}, seq=1), **{"outcome": {"status": "done"}, **more})


def built(**more: Any) -> Manifest:
    return build(CASE, run(**more), facts())


def changed(edit: Callable[[dict[str, Any]], None]) -> bytes:
    document = json.loads(dump(built()))
    edit(document)
    return json.dumps(document).encode()


def test_a_manifest_survives_writing_and_reading() -> None:
    assert parse(dump(built())) == built()


def test_boundary_passed_is_true_when_every_check_held_and_nothing_required_is_left() -> None:
    assert built().boundary_passed is True
    assert built(status="decided").boundary_passed is True


def test_boundary_passed_is_null_when_something_required_was_left_over() -> None:
    assert built(unconsumed=(1,)).boundary_passed is None


def test_boundary_passed_is_null_when_a_check_is_undetermined() -> None:
    assert built(outcome={}).boundary_passed is None


@pytest.mark.parametrize("status", ["crashed", "diverged", "timed_out", "cancelled"])
def test_boundary_passed_is_null_when_the_run_broke_off(status: Any) -> None:
    assert built(status=status).boundary_passed is None


def test_boundary_passed_is_false_when_any_check_was_violated() -> None:
    assert built(outcome={"status": "lost"}).boundary_passed is False
    assert built(outcome={"status": "lost"}, status="crashed").boundary_passed is False


def test_a_missing_field_is_refused_whichever_it_is() -> None:
    for name in built().document:
        with pytest.raises(ManifestRefused):
            parse(changed(lambda document, name=name: document.pop(name)))


@pytest.mark.parametrize(
    ("pointer", "edit"),
    [
        ("/boundary_passed", lambda d: d.update(boundary_passed="true")),
        ("/boundary_passed", lambda d: d.update(boundary_passed=1)),
        ("/calls/0/answered", lambda d: d["calls"][0].update(answered="yes")),
        ("/fixture_hash", lambda d: d.update(fixture_hash="sha256:abc")),
        ("/status", lambda d: d.update(status="passed")),
        ("/isolation/tier", lambda d: d["isolation"].update(tier="trust me")),
        ("/run/set/size", lambda d: d["run"]["set"].update(size=0)),
        ("/surfaces", lambda d: d["surfaces"].pop("network")),
        ("", lambda d: d.update(green=True)),
        ("/manifest_version", lambda d: d.update(manifest_version="2")),
    ],
)
def test_a_wrong_type_or_an_unknown_field_is_refused_with_its_pointer(pointer: str, edit: Any) -> None:
    with pytest.raises(ManifestRefused) as refused:
        parse(changed(edit))
    assert refused.value.pointer == pointer


def test_a_duplicate_key_is_refused() -> None:
    data = dump(built()).replace(b'"boundary_passed"', b'"boundary_passed": false, "boundary_passed"')
    with pytest.raises(ManifestRefused, match="boundary_passed"):
        parse(data)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff"])
def test_bytes_that_are_no_manifest_are_refused(data: bytes) -> None:
    with pytest.raises(ManifestRefused):
        parse(data)


def test_facts_of_another_shape_are_refused_when_building() -> None:
    with pytest.raises(ManifestRefused, match="/surfaces"):
        build(CASE, run(), facts(surfaces={}))


def test_the_ignored_share_is_stated() -> None:
    observation = observed(call("pay", {"k": "a"}, seq=1, compared=3, ignored_leaves=1), outcome={"status": "done"})
    assert build(CASE, observation, facts())["ignored_share"] == 0.25


def test_the_matching_policy_is_equal_only_for_the_same_rules() -> None:
    ruled = fixture_2(
        [tool_event(1, "pay", {"k": "a", "t": 1}, match={"ignore": ["/t"]})],
        {"boundary": ["s"], "status": {"id": "s", "one_of": ["done"]}},
    )
    assert build(ruled, observed(), facts())["matching_policy"] != built()["matching_policy"]
