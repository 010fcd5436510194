"""What the affected version does otherwise on the redacted revision than on the raw one, for who has both open."""

from __future__ import annotations

from collections.abc import Iterable

from replaycases.cases import evidence
from replaycases.cases.models import Case, Run
from replaycases.verdict.behaviour import differences
from replaycases.verdict.manifest import ManifestRefused, parse
from replaycases.web.gate_rows import GateRow


def sentences(case: Case, gates: Iterable[GateRow]) -> list[str]:
    """One for each thing that differs between the two runs that the gate of equivalence names, in its order; none where
    it compared none. Names of checks, tools and actions stand in them, and no other value."""
    numbers = [
        shown.number
        for row in gates
        if row.gate.name == "equivalent" and row.gate.blocks
        for shown in row.gate.evidence
        if shown.kind == "run" and shown.number is not None
    ]
    if len(numbers) != 2:
        return []
    found = Run.objects.filter(project=case.project, number__in=numbers).select_related("manifest")
    runs = {run.number: run for run in found}
    try:
        raw, redacted = (parse(_bytes(runs[number])) for number in numbers)
    except (KeyError, ManifestRefused, evidence.EvidenceDestroyed, evidence.EvidenceDamaged):
        return []
    return differences(raw, redacted)


def _bytes(run: Run) -> bytes:
    if run.manifest is None:
        raise ManifestRefused("", "the run has no manifest")
    return evidence.read(run.manifest)
