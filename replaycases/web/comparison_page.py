"""What the comparison page shows: the stored verdict, and the manifests of one run a side as rows of one table.

The verdict is not reached here: `cases.comparing` recomputed every result before it stored the label.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse

from replaycases.accounts.models import User
from replaycases.accounts.roles import REQUESTS_REPLAYS
from replaycases.cases import evidence, fixtures, reading
from replaycases.cases.models import Comparison, Implementation, Run, RunSet, RunState
from replaycases.verdict.manifest import Manifest, parse
from replaycases.verdict.sides import UNREAD
from replaycases.web import labels, verdict_sentence, words
from replaycases.web.divergence_view import FirstDivergence, first_divergence
from replaycases.web.manifest_table import sections
from replaycases.web.raw_reading import Shown
from replaycases.web.rows import Cell, Row, Section
from replaycases.web.scope import may

ROWS_SHOWN = 500
RUNS_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class SideView:
    """A side's run set. `shown` stands for its runs in the table; `agreeing` of `finished` observed the same."""

    implementation: Implementation | None
    runs: tuple[Run, ...]
    more_runs: int
    finished: int
    total: int
    observation: str
    agreeing: int
    shown: Run | None

    @property
    def summary(self) -> str:
        return f"{self.finished} of {self.total} runs ended"

    @property
    def agreement(self) -> str:
        return f"{self.agreeing} of {self.finished} runs the same"

    @property
    def download(self) -> str:
        return reverse("run_manifest", args=[self.shown.project.key, self.shown.number]) if self.shown else ""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One field that must be equal before anything is compared. `same` is None while nothing can be said."""

    name: str
    value: str
    same: bool | None
    hash: str = ""


@dataclass(frozen=True, kw_only=True)
class View:
    sentence: str
    why: str
    strip: tuple[Fact, ...]
    comparable: str
    old: SideView
    new: SideView
    sections: tuple[Section, ...] = ()
    hidden: int = 0
    no_table: Mapping[str, str] | None = None
    divergence: FirstDivergence | None = None
    proves: Sequence[str] = ()
    proves_not: Sequence[str] = ()
    controls: Sequence[Mapping[str, Any]] = ()
    substituted: Sequence[str] = ()
    surfaces: Sequence[Mapping[str, str]] = ()
    tier: str = ""
    unread: Sequence[Mapping[str, Any]] = ()


def context(comparison: Comparison, *, user: User, raw: Shown, everything: bool) -> dict[str, Any]:
    """Everything comparisons/detail.html shows but the progress. `everything` shows equal rows too."""
    revision = comparison.revision
    case = revision.case
    sides = _sides(comparison)
    return {
        "section": "cases",
        "tab": "comparison",
        "case": case,
        "revision": revision,
        "earlier_revision": revision.pk != case.current_revision_id,
        "comparison": comparison,
        "verdict": comparison.label,
        "page": _view(comparison, sides, readable=raw.open, everything=everything),
        "everything": everything,
        "raw": raw,
        "withheld": None if raw.access.may else reading.readers(),
        "voided": _voided(comparison),
        "cancelled_controls": _cancelled_controls(comparison),
        "may_request": may(user, comparison.project, REQUESTS_REPLAYS),
        "legend": labels.LEGEND,
    }


def _sides(comparison: Comparison) -> tuple[SideView, SideView]:
    runs = list(comparison.runs().select_related("project"))
    return _side(comparison.old, runs), _side(comparison.new, runs)


def _view(comparison: Comparison, sides: tuple[SideView, SideView], *, readable: bool, everything: bool) -> View:
    old, new = sides
    verdict = _verdict(comparison) if readable else {}
    manifests = [_manifest(side) if readable else None for side in (old, new)]
    strip = _strip(comparison, [*old.runs, *new.runs], manifests if readable else None)
    view = View(
        sentence=verdict_sentence.plain(comparison),
        why=_qualifiers(verdict),
        strip=strip,
        comparable=f"{sum(fact.same is True for fact in strip)} of {len(strip)} the same",
        old=_named_runs(old),
        new=_named_runs(new),
        proves=verdict.get("proves", ()),
        proves_not=verdict.get("does_not_prove") or ("That the incident is fixed: there is no verdict to read.",),
        controls=[_control(result) for result in verdict.get("control_results", ())],
        unread=verdict.get("unread", ()),
    )
    if manifests[1] is not None:
        view = replace(view, **_surroundings(manifests[1]))
    if manifests[0] is None or manifests[1] is None:
        return replace(view, no_table=_why_no_table(old, new))
    return _with_table(view, comparison, manifests[0], manifests[1], verdict, everything=everything)


def _with_table(
    view: View, comparison: Comparison, old: Manifest, new: Manifest, verdict: Mapping[str, Any], *, everything: bool
) -> View:
    fixture = fixtures.of_revision(comparison.revision)
    table = [*sections(fixture, old, new)]
    table[-1] = replace(table[-1], rows=(*table[-1].rows, _observations(view.old, view.new)))
    shown = [section if everything else section.only_differences() for section in table]
    cut = tuple(section.first(ROWS_SHOWN) for section in shown)
    found = verdict.get("first_divergence")
    return replace(
        view,
        sentence=verdict_sentence.told(comparison, fixture, old, new, verdict),
        sections=cut,
        hidden=sum(section.hidden for section in cut),
        divergence=first_divergence(found, old, new, cut) if found else None,
    )


def _observations(old: SideView, new: SideView) -> Row:
    return Row(
        name="observation_hash",
        kind="equal" if old.observation == new.observation else "changed",
        old=Cell(text=words.whole(old.observation), note=old.agreement),
        new=Cell(text=words.whole(new.observation), note=new.agreement),
        always=True,
    )


def _verdict(comparison: Comparison) -> Mapping[str, Any]:
    """The stored verdict document; empty while there is none."""
    document: Mapping[str, Any] = json.loads(evidence.read(comparison.document)) if comparison.document else {}
    return document


def _side(implementation: Implementation | None, runs: Sequence[Run]) -> SideView:
    """The runs of one implementation on the incident fixture. Runs that were not read stand for nothing."""
    digest = implementation.digest if implementation else None
    own = [run for run in runs if run.run_set.control_id is None and run.run_set.implementation.digest == digest]
    finished = [run for run in own if run.state == RunState.FINISHED]
    read = [run for run in finished if run.status not in UNREAD]
    counted = Counter(run.observation_hash for run in read).most_common(1)
    observation, agreeing = counted[0] if counted else ("", 0)
    return SideView(
        implementation=implementation,
        runs=tuple(own),
        more_runs=0,
        finished=len(finished),
        total=len(own),
        observation=observation,
        agreeing=agreeing,
        shown=next((run for run in read if run.observation_hash == observation), None),
    )


def _named_runs(side: SideView) -> SideView:
    return replace(side, runs=side.runs[:RUNS_NAMED], more_runs=max(0, len(side.runs) - RUNS_NAMED))


def _manifest(side: SideView) -> Manifest | None:
    return parse(evidence.read(side.shown.manifest)) if side.shown and side.shown.manifest else None


def _strip(
    comparison: Comparison, runs: Sequence[Run], manifests: Sequence[Manifest | None] | None
) -> tuple[Fact, ...]:
    """Case and fixture are what the runs were selected by; the rest is what they wrote."""
    revision = comparison.revision
    finished = [run for run in runs if run.state == RunState.FINISHED]
    sides = {run.run_set.implementation.digest for run in finished}
    known = len(sides) == 2
    policies = {run.matching_policy for run in finished}
    modes = {run.run_set.mode for run in runs}
    seen = [manifest for manifest in manifests or () if manifest]
    versions = {manifest["manifest_version"] for manifest in seen}
    lacking = "not known yet" if manifests is not None else "withheld"
    named = next((f"{m['matching_policy']['name']} {m['matching_policy']['version']}" for m in seen), lacking)
    return (
        Fact(name="Case", value=revision.case.readable_id, same=True),
        Fact(name="Fixture hash", value="", hash=revision.fixture_hash, same=True),
        Fact(name="Mode", value=", ".join(sorted(modes)) or "replay", same=len(modes) == 1 if runs else None),
        Fact(name="Matching policy", value=named, same=len(policies) == 1 if known else None),
        Fact(
            name="Manifest",
            value=", ".join(f"version {version}" for version in sorted(versions)) or lacking,
            same=len(versions) == 1 if len(seen) == 2 else None,
        ),
    )


def _qualifiers(verdict: Mapping[str, Any]) -> str:
    """What a verdict is printed with: controls, authored answers, skipped events, prompt delta, ignored share."""
    if not verdict:
        return ""
    told = [
        f"controls: {verdict['controls']}",
        f"authored answers used: {verdict['authored_used']}",
        f"optional events skipped: {verdict['optional_skipped']}",
    ]
    if verdict["prompt_delta"] is not None:
        told.append(f"prompt delta: {verdict['prompt_delta']:.3f}")
    if verdict["ignored_share"]:
        told.append(f"ignored by rule: {verdict['ignored_share']:.1%} of the compared values")
    return "; ".join(told)


def _control(result: Mapping[str, Any]) -> dict[str, Any]:
    word = {True: "held", False: "violated", None: "undetermined"}[result["passed"]]
    return {"name": result["control"], "result": word, "reason": result["reason"]}


def _surroundings(manifest: Manifest) -> dict[str, Any]:
    by_state: dict[str, list[str]] = {}
    for surface, state in manifest["surfaces"].items():
        by_state.setdefault(state, []).append(surface.replace("_", " "))
    return {
        "substituted": manifest["substituted"],
        "surfaces": [{"names": ", ".join(names), "state": state} for state, names in by_state.items()],
        "tier": manifest["isolation"]["tier"],
    }


def _why_no_table(old: SideView, new: SideView) -> dict[str, str]:
    missing = " and ".join(name for name, side in (("old", old), ("new", new)) if side.shown is None)
    if any(run.state in (RunState.QUEUED, RunState.LEASED) for side in (old, new) for run in side.runs):
        text = "The table appears when each side has a result."
        return {"title": f"The {missing} side has no result yet", "text": text}
    return {
        "title": f"The {missing} side has no result that can be read",
        "text": "Nothing stands beside the other side. Look at its runs, then compare again.",
    }


def _voided(comparison: Comparison) -> list[RunSet]:
    """Sets that QA took out of the verdict; they stay listed with their reasons."""
    return list(comparison.sets_read().filter(voided_at__isnull=False).select_related("voided_by", "implementation"))


def _cancelled_controls(comparison: Comparison) -> int:
    """How many runs of its controls were cancelled. The verdict lists those of its two sides itself."""
    if not comparison.with_controls:
        return 0
    return comparison.runs().filter(run_set__control__isnull=False, state=RunState.CANCELLED).count()
