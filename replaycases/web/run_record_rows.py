"""The run record of a case in rows: what is known of it and by whom, and what is missing with its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from replaycases.cases.models import Case, Provenance
from replaycases.cases.recorded_provenance import LINKS
from replaycases.importers import run_record


@dataclass(frozen=True, kw_only=True)
class RecordRow:
    """`source` is "trace" or "declared"."""

    label: str
    value: str
    source: str


@dataclass(frozen=True, kw_only=True)
class RunRecordView:
    """`stated` of all `of` parts are known, the links of the case among them. `costs` say of each group by its title
    what nobody stated."""

    rows: Sequence[RecordRow]
    stated: int
    of: int
    costs: Sequence[tuple[str, str]]


def view_of(case: Case, provenance: Provenance | None) -> RunRecordView:
    kept = provenance or Provenance(case_id=case.pk)
    rows = [
        RecordRow(label=part.label, value=said["value"], source=said["source"])
        for name, part in run_record.PARTS.items()
        if (said := kept.run_record.get(name))
    ]
    links = sum(bool(getattr(kept, name)) for name in LINKS)
    costs = [(run_record.TITLES[gap.name], gap.cost) for gap in kept.run_record_missing]
    return RunRecordView(rows=rows, stated=len(rows) + links, of=len(run_record.PARTS), costs=costs)
