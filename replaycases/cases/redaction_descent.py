"""Of which raw revision a revision was made, through the edits by hand that came between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from replaycases.cases.models import FixtureRevision, Redaction
from replaycases.redaction.residual import DIGITS, ORIGINAL

NOT_COMPARED = "blind:relations not compared"
"""What is open in an edit by hand where the raw revision is destroyed: nobody can tell whether a relation was lost."""


@dataclass(frozen=True, kw_only=True)
class Descent:
    """`raw` is what was redacted. `redacted` is the revision asked about, or the one that it was edited from where only
    what is expected was edited."""

    raw: FixtureRevision
    redacted: FixtureRevision


def looks_at(cases: Collection[UUID]) -> QuerySet[Redaction]:
    """Every look at a revision of these cases, the oldest first."""
    rows = Redaction.objects.filter(revision__case__in=cases).select_related("revision", "source")
    return rows.order_by("made_at")


class Descents:
    """Of the revisions of one case, from the looks at them, the oldest first."""

    def __init__(self, looks: Iterable[Redaction]) -> None:
        self._looks: defaultdict[int, list[Redaction]] = defaultdict(list)
        for look in looks:
            self._looks[look.revision.number].append(look)
        self._known = {look.mapping_id for rows in self._looks.values() for look in rows if look.source_id}

    def of(self, revision: FixtureRevision) -> Descent | None:
        """None where neither it nor any that it was edited from was redacted."""
        raw: FixtureRevision | None = None
        redacted, number = revision, revision.number
        while number > 0:
            source = self._source(number)
            if source is not None:
                if raw is None and self._looks[number][0].revision.content_hash == revision.content_hash:
                    redacted = self._looks[number][0].revision
                raw, number = source, source.number
            elif number != revision.number and self._is_raw(number):
                break
            else:
                number -= 1
        return Descent(raw=raw, redacted=redacted) if raw is not None else None

    def redaction_of(self, number: int, *, itself: bool) -> Redaction | None:
        """The newest look at the redaction which this revision is, or was edited from; None where there was none.
        Without `itself` what is made of this revision asks, and of raw evidence there is none."""
        while number > 0 and self._source(number) is None:
            if not itself and self._is_raw(number):
                return None
            number, itself = number - 1, False
        made = [look for look in self._looks[number] if look.source_id not in (None, look.revision_id)]
        return made[-1] if made else None

    def _source(self, number: int) -> FixtureRevision | None:
        return source_in(self._looks[number])

    def _is_raw(self, number: int) -> bool:
        """Whether a revision made by hand is evidence of its own, and no edit of a redacted one: values stand in it
        that were replaced before. Once nobody knows those any more, anything that must go counts. It is so for what was
        made of it alone: the revision asked about is held against what comes before it in any case."""
        looked = self._looks[number]
        if not looked:
            return False
        found = [one["detector"] for one in looked[0].open if one["detector"] != NOT_COMPARED]
        return any(one in (ORIGINAL, DIGITS) for one in found) or bool(
            found and looked[0].mapping_id not in self._known
        )


def source_in(looks: Iterable[Redaction]) -> FixtureRevision | None:
    """The other revision that one was made of by replacing what was found, from the looks at it, the oldest first."""
    other = [look.source for look in looks if look.source_id != look.revision_id and look.source is not None]
    return other[-1] if other else None
