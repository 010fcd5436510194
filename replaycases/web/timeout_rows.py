"""Calls of a revision that ran out of time, as pages show them. Read from the revision's row, without its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from replaycases.cases.models import Boundary, FixtureRevision
from replaycases.fixture.timeouts import MEANINGS, TimeoutKind
from replaycases.web.case_facts import Fact
from replaycases.web.document_rows import anchor_of

_BOUNDARIES = {"workflow": Boundary.WORKFLOW, "dependency": Boundary.DEPENDENCY}


@dataclass(frozen=True, kw_only=True)
class TimeoutRow:
    """A call at `pointer` of a revision. `boundary` says whose it is; `owner` who that is for the case, None where
    nobody is or the page does not say."""

    revision: int
    seq: int
    pointer: str
    tool: str
    title: str
    says: str
    reasons: tuple[str, ...]
    cannot_help: str
    boundary: str
    owner: Fact | None

    @property
    def anchor(self) -> str:
        return anchor_of(self.pointer)


def rows_of(revision: FixtureRevision | None, owners: Mapping[str, Fact] | None = None) -> list[TimeoutRow]:
    """One row a call, in recorded order."""
    rows: list[TimeoutRow] = []
    if revision is None:
        return rows
    for told in revision.timeouts:
        meaning = MEANINGS[TimeoutKind(told["kind"])]
        boundary = _BOUNDARIES[meaning.owner]
        rows.append(
            TimeoutRow(
                revision=revision.number,
                seq=told["seq"],
                pointer=told["pointer"],
                tool=told["tool"],
                title=meaning.title,
                says=meaning.says,
                reasons=tuple(told["reasons"]),
                cannot_help=meaning.cannot_help,
                boundary=boundary.label,
                owner=(owners or {}).get(boundary),
            )
        )
    return rows
