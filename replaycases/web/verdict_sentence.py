"""The verdict in one sentence for the incident owner: which versions, and what they did at the boundary.

The label and its reason are reached in `verdict.comparison`; here they are only told with the names and statements that
a person knows. A label stands for every run of a side, so one manifest a side is enough to tell it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replaycases.cases.models import Comparison
from replaycases.fixture.model import Check, Fixture
from replaycases.verdict.labels import Label
from replaycases.verdict.manifest import Manifest

MOST_NAMED = 3
NONE_YET = "No verdict yet: it is reached when every run has ended."


def plain(comparison: Comparison) -> str:
    """The stored reason with the versions' names: it holds nothing of the evidence."""
    if not comparison.label:
        return NONE_YET
    versions = " against ".join(_versions(comparison))
    return f"{versions}: {comparison.reason}"


def told(comparison: Comparison, fixture: Fixture, old: Manifest, new: Manifest, verdict: Mapping[str, Any]) -> str:
    """The sentence with the boundary checks by their statements, where the label says what both sides did; else
    `plain`. Both sides are named by the comparison; `verdict` is the stored verdict document."""
    before, after = _versions(comparison)
    if comparison.label == Label.VERIFIED_RED_TO_GREEN:
        red = _violated(fixture, old, fixture.boundary)
        return (
            f"{before} {red} in {_every(verdict['old_runs'])}; "
            f"{after} holds every check in {_every(verdict['new_runs'])}, on the same fixture."
        )
    if comparison.label == Label.STILL_FAILING:
        broken = [id_ for id_ in fixture.boundary if new.checks.get(id_) == "violated"]
        also = f", as {before} does," if broken else ""
        red = _violated(fixture, new, broken or new.checks)
        return f"{comparison.new} {red} in {_every(verdict['new_runs'])}{also} on the same fixture."
    return plain(comparison)


def _versions(comparison: Comparison) -> list[str]:
    """The sides there are; the second one without its name where that is the first one's."""
    old, new = comparison.old, comparison.new
    if old is not None and new is not None and old.name == new.name:
        return [str(old), new.version]
    return [str(side) for side in (old, new) if side is not None]


def _every(runs: int) -> str:
    return f"{runs} of {runs} runs"


def _violated(fixture: Fixture, manifest: Manifest, ids: Iterable[str]) -> str:
    """ "makes the claim “The refund was completed” (refund-completed) and violates retry-keeps-key (…)"."""
    observed = {check["id"]: check["observed"] for check in manifest["checks"] if check["result"] == "violated"}
    wanted = set(ids) & set(observed)
    checks = [check for check in fixture.checks if check.id in wanted]
    parts: list[str] = []
    verb = ""
    for check in checks[:MOST_NAMED]:
        previous, verb = verb, _VERBS.get(check.kind, "violates")
        parts.append(f"{verb} {_named(check, observed)}" if verb != previous else _named(check, observed))
    more = len(checks) - MOST_NAMED
    return " and ".join([*parts, *([f"violates {more} more"] if more > 0 else [])])


_VERBS = {
    "prohibited_claims": "makes the claim",
    "required_claims": "does not say",
    "required_disclosures": "does not say",
}


def _named(check: Check, observed: Mapping[str, str]) -> str:
    """The statement with the check's id, or the id with what was observed of it."""
    if check.kind in _VERBS:
        return f"“{str(check.spec['statement']).rstrip('.')}” ({check.id})"
    return f"{check.id} ({observed[check.id]})" if observed[check.id] else check.id
