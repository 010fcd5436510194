"""A set is declared before its first run: nothing is picked, retried or dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from replaycases.replay.runs import replay_set
from replaycases.replay.sandbox.base import Launch, Limits, Sandboxed, Tier
from tests.replay.implementations import one_refund, sandbox, workflow

LIMITS = Limits(wall_seconds=10.0)
HONEST = """
try:
    session.tools.call("refund", {"order": session.input["order"]})
except session.ToolError:
    session.finish("Pending.")
"""


class Counting:
    """The tier, with every start counted."""

    def __init__(self, tier: Tier) -> None:
        self._tier, self.starts = tier, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tier, name)

    def start(self, launch: Launch, limits: Limits, **descriptors: int) -> Sandboxed:
        self.starts += launch.workdir == "/workflow"
        return self._tier.start(launch, limits, **descriptors)


@pytest.fixture(scope="module")
def tier() -> Tier:
    return sandbox()


def test_every_result_is_kept_in_order_with_the_set_it_belongs_to(tier: Tier, tmp_path: Path) -> None:
    manifests = replay_set(one_refund(), workflow(tmp_path, "pass"), runs=3, tier=tier, limits=LIMITS, set_id="s-1")
    assert [m["run"]["set"] for m in manifests] == [{"id": "s-1", "index": i, "size": 3} for i in range(3)]
    assert len({m.run_id for m in manifests}) == 3


def test_two_runs_are_the_default_and_a_set_names_itself(tier: Tier, tmp_path: Path) -> None:
    manifests = replay_set(one_refund(), workflow(tmp_path, "pass"), tier=tier, limits=LIMITS)
    assert len(manifests) == 2
    assert len({m["run"]["set"]["id"] for m in manifests}) == 1


def test_a_run_that_went_wrong_is_not_run_again(tier: Tier, tmp_path: Path) -> None:
    agent = workflow(tmp_path, HONEST.replace('session.input["order"]', '"O-2"'))
    counting = Counting(tier)
    manifests = replay_set(one_refund(), agent, runs=3, tier=cast(Tier, counting), limits=LIMITS)
    assert [(m.status, m["attempt"]) for m in manifests] == [("diverged", 1)] * 3
    assert counting.starts == 3


def test_each_run_starts_from_a_clean_process(tier: Tier, tmp_path: Path) -> None:
    body = """
    sys.stderr.write(repr((os.getpid(), os.listdir(os.environ["TMPDIR"]))))
    open(os.environ["TMPDIR"] + "/left", "w").close()
    """
    manifests = replay_set(one_refund(), workflow(tmp_path, body), tier=tier, limits=LIMITS)
    assert all("[]" in m["stderr"] for m in manifests)


def test_a_cancelled_set_still_has_all_its_results(tier: Tier, tmp_path: Path) -> None:
    agent = workflow(tmp_path, "pass")
    manifests = replay_set(one_refund(), agent, runs=3, tier=tier, limits=LIMITS, cancelled=lambda: True)
    assert [m.status for m in manifests] == ["cancelled"] * 3


def test_a_set_without_an_environment_still_has_all_its_results(tier: Tier, tmp_path: Path) -> None:
    (tmp_path / "python3").write_text("no program")
    agent = workflow(tmp_path, "pass", python="python3")
    manifests = replay_set(one_refund(), agent, runs=2, tier=tier, limits=LIMITS)
    assert [m.status for m in manifests] == ["environment_unavailable"] * 2


@pytest.mark.parametrize("runs", [0, -1])
def test_an_empty_set_is_refused(tmp_path: Path, runs: int) -> None:
    with pytest.raises(ValueError, match="at least one run"):
        replay_set(one_refund(), workflow(tmp_path, "pass"), runs=runs)


def test_two_runs_of_the_same_code_observe_the_same(tier: Tier, tmp_path: Path) -> None:
    first, second = replay_set(one_refund(), workflow(tmp_path, HONEST), tier=tier, limits=LIMITS)
    assert first["observation_hash"] == second["observation_hash"]
    assert first.implementation_digest == second.implementation_digest
