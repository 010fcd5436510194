"""A redaction in figures, from its row alone: what a confirmation shows before somebody answers for it."""

from __future__ import annotations

from dataclasses import dataclass

from replaycases.accounts.models import User
from replaycases.cases import redaction_rows, seen_spans
from replaycases.cases.models import FixtureRevision, Redaction
from replaycases.redaction import kind_words


@dataclass(frozen=True, kw_only=True)
class Summary:
    """`open` findings are in the way, `waived` ones are not; `seen` of the redaction's places the reader has seen."""

    redaction: Redaction
    open: int
    waived: int
    seen: int

    @property
    def replaced(self) -> str:
        return kind_words.counted(self.redaction.counts)

    @property
    def kept(self) -> int:
        """Relations."""
        return self.redaction.facts


def of(user: User, revision: FixtureRevision) -> Summary | None:
    """None for a revision that nobody looked at."""
    redaction = redaction_rows.newest(revision)
    if redaction is None:
        return None
    redaction.revision = revision
    left = len(redaction_rows.left_open(redaction))
    return Summary(
        redaction=redaction,
        open=left,
        waived=len(redaction.open) - left,
        seen=len(seen_spans.of(user, redaction)),
    )


def why_not_approve(user: User, summary: Summary | None) -> str:
    """Why somebody who may approve cannot yet, "" if they have seen everything."""
    if summary is None:
        return "Nobody looked yet for what must go. Redact it first."
    return seen_spans.why_not_approve(user, summary.redaction)
