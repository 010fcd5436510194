"""A manifest whose every computable field was recomputed: the only kind that a verdict reads."""

from __future__ import annotations

from dataclasses import dataclass

from replaycases.verdict.manifest import Manifest


@dataclass(frozen=True)
class VerifiedManifest:
    """Made by `replay.recompute.recompute` and by nothing else: a manifest as such is only a claim."""

    manifest: Manifest
