"""The boundary manifest: one run's record, as JSON. Every field that can be computed is computed here and only here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import jsonschema_rs
import orjson

from replaycases.fixture import strict_json
from replaycases.fixture.canonical import digest
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.model import Fixture
from replaycases.fixture.pointer import join
from replaycases.verdict.actions import observed_decisions
from replaycases.verdict.checks import judge
from replaycases.verdict.effects import action_counts, is_matched
from replaycases.verdict.evidence import Evidence, gather
from replaycases.verdict.normal_form import observation_hash
from replaycases.verdict.observation import GOT_THROUGH, Call, Divergence, Observation
from replaycases.verdict.rulings import CheckResult

MANIFEST_VERSION = "1"
MATCHING = {"name": "by-place", "version": 1}
"""Selection by place, approval by the event's own rules. A change of what matches is another version."""

Mode = Literal["forensic", "replay", "compatibility", "hybrid", "rerun"]
SURFACES = (
    "clock",
    "monotonic_clock",
    "randomness",
    "network",
    "files",
    "environment",
    "model",
    "tools",
    "retrieval",
    "human",
)
"""The keys of `surfaces`; each is "controlled", "denied" or "uncontrolled"."""

MANIFEST_LIMITS = strict_json.Limits(max_bytes=256 * 1024 * 1024, max_depth=160, max_string=64 * 1024 * 1024)


class ManifestRefused(Exception):
    """The manifest cannot be compared. `pointer` is the field, `reason` a sentence without values of evidence."""

    def __init__(self, pointer: str, reason: str) -> None:
        self.pointer = pointer
        self.reason = reason
        super().__init__(f"{pointer or '/'}: {reason}")


@dataclass(frozen=True, kw_only=True)
class RunSet:
    """The declared set that a run belongs to: `index` counts from 0, `size` was fixed before the first run."""

    id: str
    index: int
    size: int


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What the supervisor knows of a run and no one can compute from calls and fixture.

    `implementation` is {name, version, commit, digest, …} (more keys, such as python, may stand there). `isolation` is
    {tier, …} with tier bubblewrap, namespaces, seccomp, process or none. `surfaces` has every key of SURFACES. `limits`
    are the run's limits by name. `parent_run` is the run that this one repeats, `attempt` counts from 1. Times are UTC
    in ISO 8601.
    """

    implementation: Mapping[str, Any]
    isolation: Mapping[str, Any]
    surfaces: Mapping[str, str]
    run_id: str
    run_set: RunSet
    started_at: str
    ended_at: str
    mode: Mode = "replay"
    limits: Mapping[str, int | float] = field(default_factory=dict)
    parent_run: str | None = None
    attempt: int = 1


@dataclass(frozen=True)
class Manifest:
    """A well-formed manifest. `document` is the JSON document of schemas/manifest-1.json; do not change it."""

    document: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.document[name]

    @property
    def case_id(self) -> str:
        return str(self["case_id"])

    @property
    def fixture_hash(self) -> str:
        return str(self["fixture_hash"])

    @property
    def status(self) -> str:
        return str(self["status"])

    @property
    def boundary_passed(self) -> bool | None:
        passed: bool | None = self["boundary_passed"]
        return passed

    @property
    def implementation_digest(self) -> str:
        return str(self["implementation"]["digest"])

    @property
    def run_id(self) -> str:
        return str(self["run"]["id"])

    @property
    def checks(self) -> dict[str, str]:
        """{check id: held | violated | undetermined}."""
        return {check["id"]: check["result"] for check in self["checks"]}


def build(fixture: Fixture, observation: Observation, facts: RunFacts) -> Manifest:
    """The manifest of one run. Raises ManifestRefused if the facts do not have the shape that RunFacts documents."""
    document = {
        **_about_the_case(fixture),
        **_about_the_run(fixture, facts),
        **_as_observed(observation),
        **_judged(gather(fixture, observation)),
    }
    plain = orjson.loads(orjson.dumps(document))
    _refuse_other_shapes(plain)
    return Manifest(plain)


def parse(data: bytes) -> Manifest:
    """Bytes to manifest. Raises ManifestRefused for whatever is not strict JSON of exactly the manifest's shape."""
    try:
        document = strict_json.parse(data, limits=MANIFEST_LIMITS)
    except FixtureInvalid as error:
        first = error.findings[0]
        raise ManifestRefused(first.pointer, first.message) from None
    return from_document(document)


def from_document(document: Any) -> Manifest:
    """Strictly parsed JSON to manifest. Raises ManifestRefused for any other shape."""
    _refuse_other_shapes(document)
    return Manifest(document)


def dump(manifest: Manifest) -> bytes:
    """UTF-8 JSON, indented for review, with keys in the manifest's own order and a newline at the end."""
    return orjson.dumps(manifest.document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def boundary_passed(observation: Observation, checks: tuple[CheckResult, ...]) -> bool | None:
    """True only if the run got through, every check held (there is at least one) and nothing required is left; False
    only if a check was violated; else None. Undetermined is never a pass."""
    if any(check.result == "violated" for check in checks):
        return False
    through = observation.status in GOT_THROUGH and not observation.unconsumed
    return True if through and checks and all(check.result == "held" for check in checks) else None


def matching_policy(fixture: Fixture) -> dict[str, Any]:
    """Equal for two runs only if the same matching with the same rules was applied to both."""
    rules = [
        {
            "seq": event.seq,
            "ignore": list(event.match.ignore),
            "generated": list(event.match.generated),
            "tolerance": event.match.tolerance,
        }
        for event in fixture.events
    ]
    return {**MATCHING, "rules": digest(rules)}


def _about_the_case(fixture: Fixture) -> dict[str, Any]:
    return {
        "manifest_version": MANIFEST_VERSION,
        "case_id": fixture.case_id,
        "fixture_hash": fixture.fixture_hash,
        "content_hash": fixture.content_hash,
        "checks_hash": fixture.checks_hash,
        "fixture_schema": fixture.schema_version,
        "matching_policy": matching_policy(fixture),
    }


def _about_the_run(fixture: Fixture, facts: RunFacts) -> dict[str, Any]:
    return {
        "run": {"id": facts.run_id, "set": asdict(facts.run_set)},
        "parent_run": facts.parent_run,
        "attempt": facts.attempt,
        "started_at": facts.started_at,
        "ended_at": facts.ended_at,
        "implementation": dict(facts.implementation),
        "implementation_version": facts.implementation.get("version"),
        "mode": facts.mode,
        "substituted": _substituted(fixture, facts.mode),
        "surfaces": dict(facts.surfaces),
        "isolation": dict(facts.isolation),
        "limits": dict(facts.limits),
    }


def _substituted(fixture: Fixture, mode: Mode) -> list[str]:
    """The boundaries that recorded answers stood in for: all that were recorded, less the model where it was called
    afresh; none where nothing was executed."""
    if mode == "forensic":
        return []
    fresh = {"model"} if mode in ("hybrid", "rerun") else set()
    return sorted({event.boundary for event in fixture.events} - fresh)


def _as_observed(observation: Observation) -> dict[str, Any]:
    return {
        "status": observation.status,
        "reason": observation.reason,
        "calls": [_call(call) for call in observation.calls],
        "reads": {"clock": 0, "random": {}, **observation.reads},
        "raw_outcome": None if observation.outcome is None else dict(observation.outcome),
        "unconsumed": list(observation.unconsumed),
        "optional_skipped": list(observation.optional_skipped),
        "first_divergence": _divergence(observation.first_divergence),
        "serving": None if observation.serving is None else dict(observation.serving),
        "clock": observation.clock,
        "stderr": observation.stderr,
        "exit_status": observation.exit_status,
    }


def _judged(evidence: Evidence) -> dict[str, Any]:
    fixture, observation, checks = evidence.fixture, evidence.observation, judge(evidence)
    deltas = [call.prompt_delta for call in observation.calls if call.prompt_delta is not None]
    return {
        "boundary_passed": boundary_passed(observation, checks),
        "checks": [check.as_dict() for check in checks],
        "action_counts": action_counts(fixture, evidence.effects),
        "authorization": {
            "observed": observed_decisions(evidence),
            "reported": (observation.outcome or {}).get("authorization"),
        },
        "authored_used": authored_used(fixture, observation),
        "prompt_delta": max(deltas, default=None),
        "ignored_share": _ignored_share(observation),
        "observation_hash": observation_hash(fixture, observation),
    }


def authored_used(fixture: Fixture, observation: Observation) -> list[dict[str, int]]:
    """[{seq, alternative}] for every answer that was authored, not recorded, and was given."""
    return [
        {"seq": call.seq, "alternative": call.alternative}
        for call in observation.calls
        if is_matched(call)
        and call.seq is not None
        and call.alternative is not None
        and fixture.events_by_seq[call.seq].alternatives[call.alternative].origin == "authored"
    ]


def _ignored_share(observation: Observation) -> float:
    """Ignored leaves as a share of all leaves that stood to be compared; 0.0 if none did."""
    ignored = sum(call.ignored_leaves for call in observation.calls)
    compared = sum(call.compared for call in observation.calls)
    return ignored / (ignored + compared) if ignored else 0.0


def _call(call: Call) -> dict[str, Any]:
    return {
        "boundary": call.boundary,
        "params": dict(call.params),
        "seq": call.seq,
        "alternative": call.alternative,
        "answered": call.answered,
        "crossing": call.crossing,
        "ignored": list(call.ignored),
        "compared": call.compared,
        "ignored_leaves": call.ignored_leaves,
        "prompt_delta": call.prompt_delta,
    }


def _divergence(divergence: Divergence | None) -> dict[str, Any] | None:
    return None if divergence is None else asdict(divergence)


@cache
def _schema() -> jsonschema_rs.Draft202012Validator:
    text = files("replaycases.verdict").joinpath("schemas/manifest-1.json").read_bytes()
    return jsonschema_rs.Draft202012Validator(orjson.loads(text), offline=True)


def _refuse_other_shapes(document: Any) -> None:
    error = next(iter(_schema().iter_errors(document)), None)
    if error is not None:
        raise ManifestRefused(join("", *error.instance_path), f"breaks the manifest's schema rule {error.kind.name!r}")
