"""Why a file was not imported, and what an imported one lacks."""

from __future__ import annotations

from dataclasses import dataclass

from replaycases.fixture.findings import Finding


class ImportRefused(Exception):
    """The file cannot become a case as it is. `finding.id` is stable ("import.…", listed in docs/importing.md);
    `finding.pointer` points into the foreign file. Never quotes a value of the file."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(str(finding))


def refused(name: str, pointer: str, message: str, hint: str) -> ImportRefused:
    return ImportRefused(Finding(id=f"import.{name}", level="error", pointer=pointer, message=message, hint=hint))


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A part that a faithful recording would hold and this one does not.

    `pointers` are into the fixture document. `declared`: a person supplied the part, so it is compared. `caps`: the
    part stands in the fixture's `missing`; it then caps a pair at `compatible_pass` unless `declared`. A gap that is
    only reported (`caps` false) changes no comparison: the fixture says it by the absence of the field.
    """

    name: str
    pointers: tuple[str, ...]
    cost: str
    declared: bool = False
    caps: bool = True

    def as_missing(self) -> list[dict[str, object]]:
        """The fixture's `missing` entries, one a pointer."""
        declared = {"declared": True} if self.declared else {}
        return [{"pointer": pointer, "cost": self.cost, **declared} for pointer in self.pointers]
