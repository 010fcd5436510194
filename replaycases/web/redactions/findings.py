"""What was found in a revision and what people decided of it, as the review page lists it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import policies, waivers
from replaycases.cases.models import Case, FixtureRevision, Redaction, RedactionRule, Waiver
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.placed import UNFIT
from replaycases.redaction.record import Kept, Open
from replaycases.redaction.report import place_of
from replaycases.web.redactions import told
from replaycases.web.redactions.loading import Read

FINDINGS_SHOWN = 100
FACTS_SHOWN = 40
KEPT_SHOWN = 100


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An open finding. `line` is the row that shows it, None where none does; `waiver` the one that is asked for or
    holds, `waived` whether it counts. `approved`: the case is not in review, where one can be asked for.
    `rules` are those of people at its place, where it is about a rule."""

    number: int
    index: int
    one: Open
    line: int | None
    page: int
    seen: bool
    waiver: Waiver | None
    why_not_confirm: str
    approved: bool = False
    rules: Sequence[RedactionRule] = ()

    @property
    def kind(self) -> str:
        return kind_word(self.one.kind)

    @property
    def certainty(self) -> str:
        return told.CERTAINTIES.get(self.one.certainty, "")

    @property
    def path(self) -> str:
        return told.path(self.one.place.path)

    @property
    def needs(self) -> str:
        if self.unfit and not self.approved:
            return told.unfit([rule.action for rule in self.rules])
        return told.needs(self.one.kind, self.one.detector, self.one.certainty, in_review=not self.approved)

    @property
    def waived(self) -> bool:
        return self.waiver is not None and self.waiver.confirmed_at is not None and not self.over

    @property
    def over(self) -> bool:
        """Whether the time of its waiver has passed."""
        return self.waiver is not None and self.waiver.until <= timezone.now()

    @property
    def text_index(self) -> str:
        return str(self.index)

    @property
    def needs_somebody(self) -> bool:
        """Whether no waiver is asked for or holds."""
        return self.waiver is None or self.over

    @property
    def unfit(self) -> bool:
        """Whether it is about a rule that does not fit, and not about a value."""
        return self.one.detector == UNFIT

    @property
    def stands_open(self) -> bool:
        return not self.waived


@dataclass(frozen=True, kw_only=True)
class KeptHit:
    """A hit that was left as it stands."""

    one: Kept

    @property
    def kind(self) -> str:
        return kind_word(self.one.kind)

    @property
    def path(self) -> str:
        return told.path(self.one.place.path)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Of the raw revision. `new` is how many were added or taken back since it was redacted."""

    standing: list[RedactionRule]
    withdrawn: list[RedactionRule]
    new: int


def listed(
    read: Read,
    redaction: Redaction,
    case: Case,
    user: User,
    at: Mapping[int, int],
    seen: Collection[int],
    rules: Iterable[RedactionRule] = (),
) -> list[Finding]:
    """Every open finding, those that no waiver covers first. One query, and two for each waiver that waits. `rules` are
    those that stand."""
    waived = _waivers(case)
    by_place: defaultdict[str, list[RedactionRule]] = defaultdict(list)
    for rule in rules:
        by_place[rule.place].append(rule)
    found = [
        _finding(read, at, seen, number, index, one, waived.get(_key(redaction, index)), user, case)
        for index, (number, one) in enumerate(_numbered(read))
    ]
    found = [replace(one, rules=by_place[_place(one, read)]) if one.unfit else one for one in found]
    return sorted(found, key=lambda finding: finding.waived)


def _place(finding: Finding, read: Read) -> str:
    """As a rule names it."""
    return place_of(finding.one.place, named=read.record.named)


def _finding(
    read: Read,
    at: Mapping[int, int],
    seen: Collection[int],
    number: int,
    index: int,
    one: Open,
    waiver: Waiver | None,
    user: User,
    case: Case,
) -> Finding:
    line = at.get(number)
    waits = waiver is not None and waiver.confirmed_at is None
    return Finding(
        number=number,
        index=index,
        one=one,
        line=line,
        page=read.lines.lines[line].page if line is not None else 0,
        seen=number in seen,
        waiver=waiver,
        why_not_confirm=waivers.why_not_confirm(user, waiver) if waiver is not None and waits else "",
        approved=case.stage in policies.APPROVED,
    )


def kept(read: Read) -> list[KeptHit]:
    return [KeptHit(one=one) for one in read.record.kept[:KEPT_SHOWN]]


def kept_by(kept: Iterable[Kept]) -> list[tuple[str, int]]:
    """How many hits each field rule of the policy, or each other reason, left as they stand, most first."""
    return Counter(one.detector if one.detector.startswith("field:") else one.why for one in kept).most_common()


def rules_of(source: FixtureRevision, redaction: Redaction | None) -> Rules:
    rows = list(RedactionRule.objects.filter(source=source).select_related("added_by", "withdrawn_by"))
    since = redaction.made_at if redaction is not None else None
    new = [row for row in rows if since is not None and _moved(row) > since]
    return Rules(
        standing=[row for row in rows if row.withdrawn_at is None],
        withdrawn=[row for row in rows if row.withdrawn_at is not None],
        new=len(new),
    )


def _moved(row: RedactionRule) -> datetime:
    return row.withdrawn_at or row.added_at


def _numbered(read: Read) -> Sequence[tuple[int, Open]]:
    first = read.spans.page(0) - len(read.record.open)
    return [(first + index, one) for index, one in enumerate(read.record.open)]


def _key(redaction: Redaction, index: int) -> str:
    """By which a waiver names the finding: the row lists them in the order of the record."""
    return redaction.open[index]["finding"] if index < len(redaction.open) else ""


def _waivers(case: Case) -> dict[str, Waiver]:
    rows = Waiver.objects.filter(case=case, ended_at=None).select_related("asked_by", "confirmed_by", "case__project")
    return {waiver.finding: waiver for waiver in rows}
