"""What one field of the run record may say, told where it is typed, and which field a finding of the fixture is of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django import forms

from replaycases.fixture.findings import Finding
from replaycases.fixture.instants import is_time_zone, parse_instant

JSON = Any
_LOCALE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*\Z", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_TEXT_PARTS = frozenset({"name", "version", "sha256", "content"})
_PLACES = (
    (re.compile(r"/events/\d+/match(/|\Z)"), "ignore"),
    (re.compile(r"/events/\d+/alternatives(/|\Z)"), "alternatives"),
    (re.compile(r"/events/\d+/optional\Z"), "optional"),
)


def validate_instant(text: str) -> None:
    if parse_instant(text.strip()) is None:
        raise forms.ValidationError(
            "This is no instant with its offset. Write date, time and offset: 2026-11-01T09:00:00+01:00, or …Z for UTC."
        )


def validate_zone(text: str) -> None:
    if not is_time_zone(text.strip()):
        raise forms.ValidationError("The time zone is not in the IANA database. Use a name such as Europe/Berlin.")


def validate_locale(text: str) -> None:
    if not _LOCALE.match(text.strip()):
        raise forms.ValidationError("This is no locale. Write language and region: de-DE.")


def texts_of(items: Sequence[JSON]) -> list[JSON]:
    """Policies or templates with the digest of each content that came without one. Raises ValidationError that names
    every entry with a fault."""
    filled = [_with_digest(item) for item in items]
    faults = [f"Entry {number}: {fault}" for number, item in enumerate(filled, 1) for fault in _faults(item)]
    if faults:
        raise forms.ValidationError(faults[:10])
    return filled


def _with_digest(item: JSON) -> JSON:
    if isinstance(item, dict) and "sha256" not in item and isinstance(item.get("content"), str):
        return {**item, "sha256": _digest(item["content"])}
    return item


def _faults(item: JSON) -> Iterator[str]:
    if not isinstance(item, dict):
        yield "an object with name, version and sha256 is wanted."
        return
    for part in ("name", "version"):
        if not isinstance(item.get(part), str) or not item[part]:
            yield f"its {part} is missing."
    strange = sorted(set(item) - _TEXT_PARTS)
    if strange:
        yield f"“{strange[0][:40]}” is no part of it."
    digest, content = item.get("sha256"), item.get("content")
    if not isinstance(digest, str) or not _DIGEST.match(digest):
        yield "sha256 is 64 hexadecimal digits in lower case, without a prefix. Give the content, and it is computed."
    elif isinstance(content, str) and _digest(content) != digest:
        yield "sha256 is not the digest of its content."


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def rule_faults(rules: Iterable[dict[str, str]], called: Sequence[str], boundaries: Sequence[str]) -> list[str]:
    """Rules that can touch nothing of the run."""
    unknown = [rule["tool"] for rule in rules if "tool" in rule and rule["tool"] not in called]
    others = [rule["boundary"] for rule in rules if "boundary" in rule and rule["boundary"] not in boundaries]
    return [
        *(f"The run calls no tool “{tool[:60]}”: the rule would touch nothing." for tool in unknown),
        *(f"The run crosses no boundary “{name[:60]}”: the rule would touch nothing." for name in others),
    ]


def by_field(findings: Iterable[Finding], fields: Iterable[str]) -> dict[str, list[Finding]]:
    """Findings beside what was typed there; of equal ones the first."""
    known = list(fields)
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        name = _field_of(finding.pointer, known)
        there = found.setdefault(name, []) if name else []
        if name and (finding.id, finding.message) not in [(other.id, other.message) for other in there]:
            there.append(finding)
    return found


def _field_of(pointer: str, known: Sequence[str]) -> str:
    tokens = pointer.split("/")[1:]
    nested = "_".join(tokens[:2])
    place = next((name for pattern, name in _PLACES if pattern.match(pointer)), "")
    return place or next((name for name in (nested, tokens[0] if tokens else "") if name in known), "")
