"""Whether the policies and templates that a run names as used are the recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from replaycases.fixture.hidden import gaps
from replaycases.fixture.model import Fixture
from replaycases.fixture.pointer import covers
from replaycases.replay.request import quoted
from replaycases.verdict.observation import Divergence

_REMEDY = "name in `policies_used` what the run used; after a change of policy, review the case and record it again"


def policy_refusal(fixture: Fixture, used: Sequence[Mapping[str, str]] | None) -> Divergence | None:
    """Why the `policies_used` of a finish make the run stale, or None.

    Each entry must be a recorded policy or template by name and sha256, and by version where both state one; content
    that it repeats must hash to its sha256. Where policies are recorded at least one of them is named. What the fixture
    declares as missing is not compared; where it simply records none, an entry has nothing to hash to and is refused.
    """
    lacking = gaps(fixture)
    if any(covers(gap, "/policies") for gap in lacking):
        return None
    for index, entry in enumerate(used or ()):
        if not any(_is(recorded, entry) for recorded in (*fixture.policies, *fixture.templates)):
            return Divergence(
                kind="policy",
                boundary="finish",
                pointer=f"/policies_used/{index}",
                expected=[_identity(recorded) for recorded in fixture.policies],
                actual=dict(entry),
                message=f"{quoted(entry['name'])} as used hashes to no recorded policy or template",
                remedy=_REMEDY,
            )
    if fixture.policies and not any(_is(recorded, entry) for recorded in fixture.policies for entry in used or ()):
        return Divergence(
            kind="policy",
            boundary="finish",
            pointer="/policies_used",
            expected=[_identity(recorded) for recorded in fixture.policies],
            actual=None if used is None else [dict(entry) for entry in used],
            message="the recording has policies, and the run names none of them as used",
            remedy=_REMEDY,
        )
    return None


def _is(recorded: Mapping[str, Any], entry: Mapping[str, str]) -> bool:
    if recorded.get("name") != entry["name"] or recorded.get("sha256") != entry["sha256"]:
        return False
    if "content" in entry and sha256(entry["content"].encode()).hexdigest() != entry["sha256"]:
        return False
    return "version" not in entry or recorded.get("version") in (None, entry["version"])


def _identity(recorded: Mapping[str, Any]) -> dict[str, Any]:
    return {name: recorded.get(name) for name in ("name", "version", "sha256")}
