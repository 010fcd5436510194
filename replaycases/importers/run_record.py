"""What is known of a run around its steps: which run it was, of which code, put together how, run where, allowed by
whom. It stands beside a fixture and never in it: content holds no provenance.

A trace fills in only what has the form that is asked of it here (an id, a host, a digest, a version), so that nothing
that somebody said comes along; everything else is a person's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from replaycases.importers.findings import Gap

JSON = Any
CAP = 500
"""Characters of one part."""
MOST_IDS = 10
"""Ids of one part that are kept one by one."""

# UUIDs, hexadecimal ids of the usual lengths and ULIDs, with a short prefix before. Digits alone of an id's length are
# somebody's account or telephone number as well.
MACHINE_ID = re.compile(
    r"(?:[a-z]{1,12}[-_:])?(?=.*[0-9])(?=.*[A-Fa-f])"
    r"(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?:[0-9A-Fa-f]{8}){1,8}|[0-9A-HJKMNP-TV-Z]{26})"
)
_REQUEST = re.compile(f"{MACHINE_ID.pattern}|(?:[a-z]{{2,20}}[-_]){{1,3}}(?=[^ ]*[0-9])[A-Za-z0-9-]{{5,64}}")
COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_DIGEST = re.compile(r"(?:[a-z0-9][a-z0-9._/:-]{0,200}@)?sha(?:256|512):[0-9a-f]{64,128}")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?")
_VERSION = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,39}(?: v?[0-9][A-Za-z0-9.+_-]{0,39})?")
_REPOSITORY = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]+){1,8}")


@dataclass(frozen=True, kw_only=True)
class RecordPart:
    """`form` is what a trace may say of it; None where only a person can."""

    name: str
    label: str
    form: re.Pattern[str] | None = None


@dataclass(frozen=True, kw_only=True)
class RecordGroup:
    """Parts that answer one question. `cost` is what it takes away where none of them is known."""

    name: str
    title: str
    parts: tuple[RecordPart, ...]
    cost: str


def _group(name: str, title: str, cost: str, **parts: str | tuple[str, re.Pattern[str]]) -> RecordGroup:
    said = {part: (held, None) if isinstance(held, str) else held for part, held in parts.items()}
    made = tuple(RecordPart(name=part, label=label, form=form) for part, (label, form) in said.items())
    return RecordGroup(name=name, title=title, parts=made, cost=cost)


GROUPS: tuple[RecordGroup, ...] = (
    _group(
        "run",
        "The run",
        "which run it was, and of which it was a part or a retry, is not known",
        run_id=("Run id", MACHINE_ID),
        parent_run_id=("Parent run", MACHINE_ID),
        retry_of=("Retry of", MACHINE_ID),
    ),
    _group(
        "links",
        "Links",
        "nobody is led from the case to its incident and its trace",
        incident_url="Incident link",
        trace_url="Trace link",
    ),
    _group(
        "code",
        "Code",
        "the affected code cannot be checked out again from what was recorded",
        repository=("Repository", _REPOSITORY),
        commit=("Commit", COMMIT),
        patch="Retained patch, or clean checkout",
    ),
    _group(
        "configuration",
        "Configuration",
        "what the agent was put together from is known only as far as its requests show it",
        factory_revision="Factory revision",
        skills="Skills",
        harness=("Harness", _VERSION),
        tool_configuration="Tool configuration",
    ),
    _group(
        "runner",
        "Runner",
        "whether the environment had a part in the outcome cannot be told",
        image_digest=("Image digest", _DIGEST),
        toolchain=("Toolchain", _VERSION),
        dependencies="Dependencies, such as a lock's digest",
        setup="Setup",
        cache="Cache conditions",
        deployment=("Deployment", _VERSION),
    ),
    _group(
        "task",
        "Task",
        "what set the run off, and what was taken out before it was captured, is not known",
        trigger="Original trigger",
        source_redactions="Redacted before it came here",
    ),
    _group(
        "integration",
        "Integration",
        "which service answered, under which contract, is not known, and nobody can ask it about these calls",
        endpoint=("Endpoint", _HOST),
        adapter_version="Contract or adapter version",
        request_ids=("Request ids", _REQUEST),
    ),
    _group(
        "output",
        "Output",
        "what the run left behind cannot be compared",
        artifacts="Artifacts, by digest",
        reports="Checks and reports",
    ),
    _group(
        "authority",
        "Authority",
        "who allowed the run to do what it did cannot be walked back",
        decision="Decision",
        actor="Actor",
        approval_reference="Approval reference",
        capability_scope="Capability scope",
        effect_ids="Effect ids",
    ),
    _group(
        "limits",
        "Limits",
        "what has changed since, who gives access, and what must not be replayed is not known",
        mutable_inputs="Missing or mutable inputs",
        access_owner="Access owner",
        replay_restrictions="Replay restrictions",
    ),
)
TITLES: Mapping[str, str] = {f"record.{group.name}": group.title for group in GROUPS}
"""Of the gaps."""
PARTS: Mapping[str, RecordPart] = {part.name: part for group in GROUPS for part in group.parts}


def of_trace(**said: JSON) -> dict[str, str]:
    """What a trace says of the parts, by their names; left out is what has not the form of its part. A value may be a
    list of ids."""
    found = {name: _held(PARTS[name].form, value) for name, value in said.items()}
    return {name: value for name, value in found.items() if value}


def _held(form: re.Pattern[str] | None, value: JSON) -> str:
    several = value if isinstance(value, list | tuple) else [value]
    known = dict.fromkeys(one for one in several if isinstance(one, str) and form and form.fullmatch(one))
    more = f" and {len(known) - MOST_IDS} more" if len(known) > MOST_IDS else ""
    return f"{', '.join(list(known)[:MOST_IDS])}{more}"


def host_of(url: JSON, port: JSON = None) -> str:
    """The host of an address, and its port where it is none of the web's: without user, path and query. "" for what is
    none."""
    text = url if isinstance(url, str) else ""
    try:
        split = urlsplit(text if "//" in text else f"//{text}")
        named, at = split.hostname or "", split.port or (port if isinstance(port, int) else None)
    except ValueError:
        return ""
    return f"{named}:{at}" if named and at not in (None, 80, 443) else named


def repository_of(url: JSON) -> str:
    """The address of a repository without user, query and fragment; "" for what is none."""
    try:
        split = urlsplit(url if isinstance(url, str) else "")
        host = split.hostname or ""
    except ValueError:
        return ""
    return f"{split.scheme}://{host}{split.path.rstrip('/')}" if host else ""


def lacking(known: Iterable[str]) -> tuple[Gap, ...]:
    """A gap for each group of which some part is not `known`: it is only reported, since nothing of a run record is
    compared."""
    said = frozenset(known)
    lost = {group: [part.label for part in group.parts if part.name not in said] for group in GROUPS}
    return tuple(
        Gap(name=f"record.{group.name}", pointers=(), caps=False, cost=_cost(group, labels))
        for group, labels in lost.items()
        if labels
    )


def _cost(group: RecordGroup, labels: list[str]) -> str:
    """What the gap takes away is said where the whole group is not known; else only which parts are not."""
    named = "; ".join(label[:1].lower() + label[1:] for label in labels)
    whole = len(labels) == len(group.parts)
    return f"not stated: {named}" + (f"; {group.cost}" if whole else "")


def is_record(value: JSON) -> bool:
    """Whether it is {part: text}, with parts that there are."""
    return isinstance(value, dict) and all(
        name in PARTS and isinstance(said, str) and 0 < len(said) <= CAP for name, said in value.items()
    )
