"""The completeness report of one run in words: what each boundary holds, what is noted where, what each gap costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from replaycases.importers.completeness import Coverage, Mode, Report
from replaycases.importers.findings import Gap
from replaycases.importers.neutral import Boundary, Note, NoteKind
from replaycases.importers.run_record import TITLES
from replaycases.web.labels import Look

# So many notes of a kind are listed; the rest is counted.
NOTES_A_KIND = 50

STATES: Mapping[str, Look] = {
    "recorded": Look(word="recorded", css="", icon="check"),
    "partly": Look(word="partly", css="look", icon="warn"),
    "absent": Look(word="absent", css="dunno", icon="dash"),
}
MODES: Mapping[Mode, Look] = {
    "replay": Look(word="can be replayed", css="", icon="check"),
    "prefix": Look(word="a prefix can be replayed", css="look", icon="warn"),
    "forensic": Look(word="can only be read", css="dunno", icon="q"),
}
BOUNDARIES: Mapping[Boundary, str] = {
    "model": "what the model was asked and answered",
    "tool": "calls of tools and their answers",
    "retrieval": "what was looked up",
    "clock": "readings of the clock",
    "random": "random draws",
    "human": "what people were asked and decided",
}
KINDS: Mapping[NoteKind, str] = {
    "call_without_result": "Calls without a result",
    "result_without_call": "Results without a call",
    "guessed_pairing": "Guessed pairings",
    "sequence_gap": "Gaps in the sequence",
    "clock_contradiction": "Clock contradictions",
    "unresolved_reference": "References that lead nowhere",
    "content_lost": "Content that was lost",
    "failed_call": "Model calls that failed",
    "server_side": "Tools that the provider ran itself",
    "branch": "Branches",
    "left_out": "Not taken over",
}


@dataclass(frozen=True, kw_only=True)
class BoundaryRow:
    boundary: Boundary
    meaning: str
    look: Look
    coverage: Coverage

    @property
    def is_crossed(self) -> bool:
        return bool(self.coverage.recorded or self.coverage.lacking)


@dataclass(frozen=True, kw_only=True)
class NoteGroup:
    """Notes of one kind; `more` counts those past the first ones."""

    title: str
    notes: tuple[Note, ...]
    more: int

    @property
    def count(self) -> int:
        return len(self.notes) + self.more


@dataclass(frozen=True, kw_only=True)
class GapRow:
    """`name` in words; `state` is declared, missing, or "reported" for what changes no comparison."""

    name: str
    cost: str
    look: Look


@dataclass(frozen=True, kw_only=True)
class ReportView:
    mode: Look
    why: str
    replayable: int
    rows: tuple[BoundaryRow, ...]
    groups: tuple[NoteGroup, ...]
    gaps: tuple[GapRow, ...]
    record: tuple[GapRow, ...]

    @property
    def is_whole(self) -> bool:
        return not any(row.coverage.lacking for row in self.rows)


def view_of(report: Report) -> ReportView:
    return ReportView(
        mode=MODES[report.mode],
        why=report.why,
        replayable=report.replayable,
        rows=tuple(
            BoundaryRow(
                boundary=coverage.boundary,
                meaning=BOUNDARIES[coverage.boundary],
                look=STATES[coverage.state],
                coverage=coverage,
            )
            for coverage in report.coverage
        ),
        groups=tuple(_groups(report.notes)),
        gaps=tuple(gap_row(gap) for gap in report.gaps),
        record=tuple(gap_row(gap) for gap in report.record),
    )


def gap_row(gap: Gap) -> GapRow:
    name = TITLES.get(gap.name) or gap.name.replace("_", " ").replace(".", " › ")
    return GapRow(name=name, cost=gap.cost, look=_gap_look(gap))


def _gap_look(gap: Gap) -> Look:
    if gap.declared:
        return Look(word="declared", css="", icon="pen")
    if gap.caps:
        return Look(word="missing", css="look", icon="warn")
    return Look(word="to know", css="dunno", icon="dash")


def _groups(notes: Iterable[Note]) -> Iterable[NoteGroup]:
    order = list(KINDS)
    by_kind = sorted(notes, key=lambda note: order.index(note.kind))
    for kind, found in groupby(by_kind, key=lambda note: note.kind):
        listed = tuple(found)
        yield NoteGroup(title=KINDS[kind], notes=listed[:NOTES_A_KIND], more=max(0, len(listed) - NOTES_A_KIND))
