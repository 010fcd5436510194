"""Manifests are recomputed: what can be computed cannot be forged, and what cannot be computed is named here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.cli.compare import judge, manifests_in
from replaycases.fixture.pointer import join, leaves, resolve, split
from replaycases.replay.recompute import recompute
from replaycases.replay.sandbox.tiers import choose_tier
from replaycases.verdict.labels import Label
from replaycases.verdict.manifest import Manifest, ManifestRefused, from_document
from tests.honesty.court import Court, Lie, assert_right
from tests.honesty.forgeries import FORGERIES, MISSHAPEN, OTHER_HASH, SAID, Forgery, put
from tests.honesty.worlds import REFUND

ON_TRUST: dict[str, Any] = {
    "run": {"id": "r", "set": {"id": "s", "index": 0, "size": 1}},
    "parent_run": "r-0",
    "attempt": 2,
    "started_at": "2020-01-01T00:00:00+00:00",
    "ended_at": "2020-01-01T00:00:00+00:00",
    "implementation": {"name": "n", "version": "1", "commit": None, "digest": OTHER_HASH},
    "mode": "compatibility",
    "surfaces": None,
    "isolation": {"tier": "seccomp"},
    "limits": {},
    "reason": "because",
    "stderr": "fine",
}
"""Who ran what where and when, and in which words it ended: another value for each. No computation can find it out;
gates therefore accept only runs that this deployment's workers made. None: every surface was controlled."""
NOT_EMPTY = {"unconsumed": [1], "optional_skipped": [1], "authored_used": [{"seq": 1, "alternative": 0}]}


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forged_field_is_found_out_by_name(forgery: Forgery, court: Court) -> None:
    world, fixture = forgery.world, forgery.world.fixture
    liar = world.workflow(court, f"forger {forgery.name}", forgery.body, **(forgery.spec or {}))
    runs = [from_document(forgery.of(run.document)) for run in court.runs(fixture, liar)]
    comparison = judge(fixture, court.kept(fixture, world.old(court)), runs)
    assert_right(comparison, Label.NOT_COMPARABLE, f"was refused: {forgery.field}: ")


@pytest.mark.parametrize(("name", "edit", "because"), MISSHAPEN, ids=lambda item: item if isinstance(item, str) else "")
def test_a_misshapen_manifest_is_refused(
    name: str, edit: Callable[[bytes], bytes], because: str, court: Court, tmp_path: Path
) -> None:
    lie = Lie(name="claims", body="walk(session); say(session, CLAIM)", label=Label.STILL_FAILING, because="")
    runs = court.kept(REFUND.fixture, REFUND.lying(court, lie))
    forged = edit(orjson.dumps([run.document for run in runs], option=orjson.OPT_INDENT_2))
    (tmp_path / "new.json").write_bytes(forged)
    old = court.kept(REFUND.fixture, REFUND.old(court))
    comparison = judge(REFUND.fixture, old, manifests_in(tmp_path / "new.json", "new"))
    assert_right(comparison, Label.NOT_COMPARABLE, because)
    assert "was refused" in comparison.reason, name


def test_what_stays_on_trust_is_exactly_what_no_computation_can_find_out(court: Court) -> None:
    honest = court.kept(REFUND.fixture, REFUND.new(court))[0].document
    others = {**ON_TRUST, "surfaces": dict.fromkeys(honest["surfaces"], "controlled")}
    others |= {name: _another(value) for name, value in honest.items() if name not in others} | NOT_EMPTY
    trusted = {name for name, value in others.items() if _accepted({**honest, name: value})}
    assert trusted == set(ON_TRUST)


def _accepted(document: dict[str, Any]) -> bool:
    try:
        recompute(REFUND.fixture, from_document(document))
    except ManifestRefused:
        return False
    return True


def _another(value: Any) -> Any:
    """Another value of the same type; a number for null."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return OTHER_HASH if value.startswith("sha256:") else f"{value}x"
    return type(value)() if isinstance(value, dict | list) else 1 if value in (None, 0) else 0


@pytest.mark.parametrize(
    "pointer", ["isolation/tier", "surfaces/network"], ids=["only the tier edited", "only the network edited"]
)
def test_one_edit_does_not_make_an_isolated_run_of_one_without_a_sandbox(pointer: str, court: Court) -> None:
    fixture = REFUND.fixture
    open_court = Court(court.folder, choose_tier("process", allow_process=True))
    edit = put(pointer, "bubblewrap" if pointer.endswith("tier") else "denied")
    runs = [_edited(run, edit) for run in open_court.runs(fixture, REFUND.new(court))]
    comparison = judge(fixture, court.kept(fixture, REFUND.old(court)), runs)
    assert_right(comparison, Label.UNISOLATED_PASS, "it may have cheated")


def test_a_run_of_another_mode_is_not_compared_with_replays_and_is_never_green(court: Court) -> None:
    fixture = REFUND.fixture
    old, new = court.kept(fixture, REFUND.old(court)), court.kept(fixture, REFUND.new(court))
    old_again, new_again = ([_edited(run, put("mode", "rerun")) for run in side] for side in (old, new))
    assert_right(judge(fixture, old, new_again), Label.NOT_COMPARABLE, "differ in mode")
    assert_right(judge(fixture, old_again, new_again), Label.COMPATIBLE_PASS, "these are rerun runs")


def _edited(run: Manifest, edit: Callable[[dict[str, Any]], None]) -> Manifest:
    document = orjson.loads(orjson.dumps(run.document))
    edit(document)
    return from_document(document)


POOL: list[Any] = [
    True,
    False,
    None,
    0,
    1,
    -1,
    3,
    "",
    "held",
    "completed",
    "true",
    "replay",
    SAID,
    OTHER_HASH,
    [],
    {},
    [1],
]


@given(choice=st.integers(0), value=st.sampled_from(POOL), remove=st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_edit_of_any_one_place_of_red_runs_makes_them_green(
    choice: int, value: Any, remove: bool, court: Court
) -> None:
    fixture = REFUND.fixture
    old = court.kept(fixture, REFUND.old(court))
    red = court.kept(
        fixture, REFUND.workflow(court, "red with other words", "walk(session); say(session, CLAIM + '!')")
    )
    places = [pointer for pointer, _ in leaves(red[0].document) if pointer]
    edit = partial(_put_or_remove, place=places[choice % len(places)], value=value, remove=remove)
    try:
        runs = [_edited(run, edit) for run in red]
    except ManifestRefused:
        return
    comparison = judge(fixture, old, runs)
    assert comparison.label in (Label.NOT_COMPARABLE, Label.STILL_FAILING), comparison.reason


def _put_or_remove(document: dict[str, Any], *, place: str, value: Any, remove: bool) -> None:
    if remove:
        *parents, last = split(place)
        holder = resolve(document, join("", *parents))
        holder.pop(int(last) if isinstance(holder, list) else last)
    else:
        put(place, value)(document)
