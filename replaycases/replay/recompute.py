"""Trust no manifest: replay what it says was observed, and rebuild every field that can be computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any

from replaycases.fixture.canonical import NotCanonical, digest
from replaycases.fixture.model import Fixture
from replaycases.fixture.pointer import join
from replaycases.replay.ending import ENDED_OUTSIDE, Ended
from replaycases.replay.session import ReplaySession
from replaycases.verdict.manifest import Manifest, ManifestRefused, RunFacts, RunSet, build
from replaycases.verdict.verified import VerifiedManifest

_METHODS = {
    "tool": "tool.call",
    "model": "model.call",
    "retrieval": "retrieval.search",
    "human": "human.ask",
}
MOST_READS = 5_000_000
_TAKEN_ON_TRUST = frozenset({*ENDED_OUTSIDE, "adapter_error"})
"""Statuses that may have come from outside the session, so that its calls cannot show them."""
_DIVERGENCE_WORDS = frozenset({"message", "remedy"})


def recompute(fixture: Fixture, manifest: Manifest) -> VerifiedManifest:
    """The manifest, once a new session fed with its calls has given the same one.

    Taken on trust is only what happened outside the session and cannot be computed: who ran where and when, standard
    error, the exit status, and that a limit, a signal or a broken request ended the run; none of these makes a run
    completed. Sentences are rebuilt and not compared: another release says the same in other words, and nothing reads
    those of the given manifest. Raises ManifestRefused, with the field, for a manifest of another fixture and for any
    other field that differs from its recomputation.
    """
    _refuse_another_fixture(fixture, manifest)
    try:
        rebuilt = build(fixture, _replayed(fixture, manifest).observe(ended=_ended(manifest)), _facts(manifest))
    except NotCanonical:
        raise ManifestRefused("/calls", "holds a value that no run can have received") from None
    for field, value in manifest.document.items():
        if digest(_wordless(field, value)) != digest(_wordless(field, rebuilt[field])):
            raise ManifestRefused(join("", field), "differs from what the observed calls give when they are replayed")
    return VerifiedManifest(rebuilt)


def _wordless(field: str, value: Any) -> Any:
    """The field without the sentences that the code writes about it."""
    if field == "reason":
        return None
    if field == "checks":
        return [{key: part for key, part in check.items() if key != "observed"} for check in value]
    if field == "first_divergence" and value is not None:
        return {key: part for key, part in value.items() if key not in _DIVERGENCE_WORDS}
    return value


def _refuse_another_fixture(fixture: Fixture, manifest: Manifest) -> None:
    for field in ("case_id", "fixture_hash", "content_hash", "checks_hash"):
        if manifest[field] != getattr(fixture, field):
            raise ManifestRefused(join("", field), "is not that of the fixture")


def _replayed(fixture: Fixture, manifest: Manifest) -> ReplaySession:
    serving: Mapping[str, Any] | None = manifest["serving"] and manifest["serving"].get("declared")
    clock = manifest["clock"]
    session = ReplaySession(fixture, serving=serving, clock=None if clock == "uncontrolled" else clock)
    for method, params in _requests(fixture, manifest):
        session.handle(method, params)
    return session


def _requests(fixture: Fixture, manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the run asked, less the order of clock reads and draws among the calls: it is not kept and changes nothing.

    Reads come first; a draw beyond the recorded ones ends a run, so it comes after the calls.
    """
    reads, recorded = manifest["reads"], Counter(event.name for event in fixture.events if event.boundary == "random")
    draws: dict[str, int] = reads["random"]
    yield "session.start", {"protocol": 1}
    yield from repeat(("clock.now", {}), _bounded(reads["clock"]))
    for name, times in draws.items():
        yield from repeat(("random.draw", {"name": name}), min(times, recorded[name]))
    for call in manifest["calls"]:
        yield _METHODS[call["boundary"]], call["params"]
    for name, times in draws.items():
        yield from repeat(("random.draw", {"name": name}), _bounded(times - min(times, recorded[name])))
    if manifest["raw_outcome"] is not None:
        yield "finish", manifest["raw_outcome"]


def _bounded(reads: int) -> int:
    if reads > MOST_READS:
        raise ManifestRefused("/reads", f"counts more than {MOST_READS} reads, which no run can have made")
    return reads


def _ended(manifest: Manifest) -> Ended:
    """How the process ended, so far as the status says it. A status that the session itself must reach is not passed
    on: without the calls that lead to it the session comes to another one."""
    return Ended(
        cause=manifest.status if manifest.status in _TAKEN_ON_TRUST else "exit",
        exit_status=manifest["exit_status"],
        reason=manifest["reason"],
        stderr=manifest["stderr"],
    )


def _facts(manifest: Manifest) -> RunFacts:
    return RunFacts(
        implementation=manifest["implementation"],
        isolation=manifest["isolation"],
        surfaces=manifest["surfaces"],
        run_id=manifest["run"]["id"],
        run_set=RunSet(**manifest["run"]["set"]),
        started_at=manifest["started_at"],
        ended_at=manifest["ended_at"],
        mode=manifest["mode"],
        limits=manifest["limits"],
        parent_run=manifest["parent_run"],
        attempt=manifest["attempt"],
    )
