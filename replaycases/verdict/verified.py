"""A manifest whose every computable field was recomputed: the only kind that a verdict reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from replaycases.verdict.manifest import Manifest


@dataclass(frozen=True)
class VerifiedManifest:
    """Made by `replay.recompute.recompute` and by nothing else: a manifest as such is only a claim."""

    manifest: Manifest


@dataclass(frozen=True, kw_only=True)
class ControlResult:
    """A neighbouring case that must stay right. `passed` is None where it could not be decided, which is no pass."""

    control: str
    passed: bool | None
    reason: str = ""

    def as_dict(self) -> Mapping[str, str | bool | None]:
        return {"control": self.control, "passed": self.passed, "reason": self.reason}


@dataclass(frozen=True, kw_only=True)
class ControlResults:
    """What the new version did on the controls of this case. Empty means that none was run."""

    results: tuple[ControlResult, ...] = ()
