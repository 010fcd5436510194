"""One side of a comparison: every result of one implementation on one case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from replaycases.verdict.manifest import Manifest
from replaycases.verdict.verified import VerifiedManifest

SideName = Literal["old", "new"]

UNREAD = frozenset({"environment_unavailable", "cancelled"})
"""Statuses of runs that say nothing of the implementation: listed, not read."""
FEWEST_RESULTS = 2


@dataclass(frozen=True, kw_only=True)
class Side:
    """`results` are all manifests of this side, in an order that no label depends on; `read` are those that count."""

    name: SideName
    results: tuple[Manifest, ...]

    @property
    def read(self) -> tuple[Manifest, ...]:
        return tuple(manifest for manifest in self.results if manifest.status not in UNREAD)

    @property
    def unread(self) -> tuple[Manifest, ...]:
        return tuple(manifest for manifest in self.results if manifest.status in UNREAD)

    @property
    def any_run(self) -> Manifest:
        """A result that was read. Once the side is known not to vary it stands for all of them."""
        return self.read[0]

    def with_status(self, status: str) -> Manifest | None:
        return next((manifest for manifest in self.read if manifest.status == status), None)

    def varies_in(self) -> str | None:
        """What differs between the results, or None: their statuses, check results or observation hashes."""
        for what, values in (
            ("statuses", {manifest.status for manifest in self.read}),
            ("check results", {tuple(sorted(manifest.checks.items())) for manifest in self.read}),
            ("observations", {manifest["observation_hash"] for manifest in self.read}),
        ):
            if len(values) > 1:
                return what
        return None


@dataclass(frozen=True, kw_only=True)
class SideSummary:
    """Who ran and how it came out: what must stand beside every label. `boundary_passed` is None also where the runs
    differ in it. `statuses` are those of the runs that were read, each once."""

    name: str
    version: str
    digest: str
    statuses: tuple[str, ...]
    boundary_passed: bool | None


def summary(side: Side) -> SideSummary | None:
    """None for a side without any result."""
    if not side.results:
        return None
    implementation = side.results[0]["implementation"]
    passed = {manifest.boundary_passed for manifest in side.read}
    return SideSummary(
        name=implementation["name"],
        version=implementation["version"],
        digest=implementation["digest"],
        statuses=tuple(sorted({manifest.status for manifest in side.read})),
        boundary_passed=passed.pop() if len(passed) == 1 else None,
    )


def side_of(name: SideName, verified: Sequence[VerifiedManifest]) -> Side:
    manifests = [item.manifest for item in verified]
    return Side(name=name, results=tuple(sorted(manifests, key=_place)))


def _place(manifest: Manifest) -> tuple[Any, ...]:
    run = manifest["run"]
    return (run["set"]["id"], run["set"]["index"], run["id"])
