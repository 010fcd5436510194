"""A project's redaction policy as its pages show it: what is in force, its versions, and what one would do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import READS_QUARANTINED_EVIDENCE, SETS_REDACTION_POLICY
from replaycases.cases import redaction_policies, redaction_rows
from replaycases.cases.models import RedactionPolicy
from replaycases.cases.redacting import Preview
from replaycases.fixture.findings import Finding
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.policy import Policy
from replaycases.web import difference_rows, revision_page
from replaycases.web.revision_page import FindingLine

JSON = Any
ALLOWED = "allowed"
MINUS = "\N{MINUS SIGN}"
_DATES = {
    "keep": "Stay as they are, except dates of birth.",
    "shift": "Every date of a case is moved by the same number of whole weeks.",
}
_ALIASES = {
    "ask": "One word of a name that stands alone is put to a person.",
    "replace": "One word of a name that stands alone is replaced like the name.",
}
_NAMED = re.compile(r"(/[^\s:]*):? ")


@dataclass(frozen=True, kw_only=True)
class FieldRow:
    """`name` is a key or a pointer, which `by` says."""

    name: str
    by: str
    means: str


@dataclass(frozen=True, kw_only=True)
class Told:
    """A version in words. `number` is 0 for the built-in one, and `row` None. `allowed` are the values where the reader
    may see them, else None."""

    number: int
    row: RedactionPolicy | None
    digest: str
    fields: tuple[FieldRow, ...]
    kinds_off: tuple[str, ...]
    opaque: str
    dates: str
    aliases: str
    allowed_count: int
    allowed: tuple[str, ...] | None

    @property
    def name(self) -> str:
        return redaction_rows.policy_name(self.number)


@dataclass(frozen=True, kw_only=True)
class KindRow:
    """How many values of one kind are replaced now, and would be."""

    kind: str
    now: int
    then: int

    @property
    def change(self) -> str:
        more = self.then - self.now
        return f"{'+' if more > 0 else MINUS}{abs(more)}" if more else ""


@dataclass(frozen=True, kw_only=True)
class Previewed:
    """What a policy would do with the case of this id."""

    case: str
    rows: tuple[KindRow, ...]
    open: KindRow

    @property
    def same(self) -> bool:
        return not any(row.change for row in (*self.rows, self.open))


def sets(user: User, project: Project) -> bool:
    return access.has_any(user, project, SETS_REDACTION_POLICY)


def sees_allowed(user: User, project: Project) -> bool:
    """What a policy lets stand may be somebody's address: it is told to who writes it and to who reads raw evidence."""
    return access.has_any(user, project, SETS_REDACTION_POLICY | READS_QUARANTINED_EVIDENCE)


def versions(project: Project) -> list[RedactionPolicy]:
    """The newest first."""
    return list(RedactionPolicy.objects.filter(project=project).select_related("created_by").order_by("-number"))


def told_of(row: RedactionPolicy | None, *, allowed: bool) -> Told:
    policy = redaction_policies.as_policy(row)
    kept: Sequence[str] = row.data.get(ALLOWED, []) if row else []
    return Told(
        number=row.number if row else 0,
        row=row,
        digest=policy.digest,
        fields=tuple(_field_rows(policy)),
        kinds_off=tuple(sorted(map(kind_word, policy.kinds_off))),
        opaque=_opaque(policy),
        dates=_DATES[policy.dates],
        aliases=_ALIASES[policy.aliases],
        allowed_count=len(kept),
        allowed=tuple(kept) if allowed else None,
    )


def _field_rows(policy: Policy) -> Iterator[FieldRow]:
    for rule in policy.fields:
        means = "left as it stands" if rule.kind == "keep" else kind_word(rule.kind)
        yield FieldRow(name=rule.key or rule.pointer, by="field" if rule.key else "place", means=means)


def _opaque(policy: Policy) -> str:
    if not policy.opaque.on:
        return "Runs of letters and digits that mean nothing stay."
    least = f"{policy.opaque.min_length} characters or more and {policy.opaque.min_entropy:g} bits a character"
    return f"Runs of letters and digits that mean nothing are replaced: of {least}."


def compared(
    old: RedactionPolicy | None, new: RedactionPolicy | Mapping[str, JSON] | None, *, allowed: bool
) -> difference_rows.Differences:
    """Two versions, or one and what was sent in its place. Where the values that stand are not told, how many of them
    are new is."""
    before, after = _data(old), _data(new)
    return difference_rows.compare(before, after) if allowed else difference_rows.compare(*_counted(before, after))


def _data(version: RedactionPolicy | Mapping[str, JSON] | None) -> Mapping[str, JSON]:
    return version.data if isinstance(version, RedactionPolicy) else version or {}


def _counted(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> tuple[Mapping[str, JSON], Mapping[str, JSON]]:
    old, new = (set(data.get(ALLOWED, ())) for data in (before, after))
    told = [f"{len(values)} values" for values in (old, new)]
    if new - old:
        told[1] += f", {len(new - old)} of them new"
    sides = zip((before, after), told, strict=True)
    left, right = ({**data, ALLOWED: count} if ALLOWED in data else data for data, count in sides)
    return left, right


def previewed(case: str, found: Preview) -> Previewed:
    kinds = sorted({*found.now, *found.then}, key=lambda kind: (-found.then.get(kind, 0), kind))
    return Previewed(
        case=case,
        rows=tuple(
            KindRow(kind=kind_word(kind), now=found.now.get(kind, 0), then=found.then.get(kind, 0)) for kind in kinds
        ),
        open=KindRow(kind="open findings", now=found.open_now, then=found.open_then),
    )


def beside_lines(refused: ValidationError, text: str) -> list[FindingLine]:
    """What is wrong with a policy, each with its line: a sentence begins with the place that it is about."""
    findings = []
    for sentence in refused.messages:
        named = _NAMED.match(sentence)
        pointer = named.group(1) if named else ""
        findings.append(Finding(id="policy.invalid", level="error", pointer=pointer, message=sentence, hint=""))
    return sorted(revision_page.beside_lines(findings, text), key=lambda found: found.line)
