"""What one check says about one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from replaycases.fixture.model import CheckKind

Result = Literal["held", "violated", "undetermined"]


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The public result of a check, as it stands in the manifest.

    `observed` is a short explanation for people; `pointers` are places in the observation document (`/calls/2`,
    `/outcome/message`) that decided it.
    """

    id: str
    kind: CheckKind
    result: Result
    observed: str
    pointers: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "result": self.result,
            "observed": self.observed,
            "pointers": list(self.pointers),
        }


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """What a check's family concludes from the calls and the outcome alone, whatever became of the run.

    `final` marks a violation that nothing the run might still have done could undo; only such a violation counts
    when the run broke off.
    """

    result: Result
    observed: str
    pointers: tuple[str, ...] = ()
    final: bool = False


def held(observed: str, *pointers: str) -> Ruling:
    return Ruling(result="held", observed=observed, pointers=pointers)


def violated(observed: str, *pointers: str, final: bool) -> Ruling:
    return Ruling(result="violated", observed=observed, pointers=pointers, final=final)


def undetermined(observed: str, *pointers: str) -> Ruling:
    return Ruling(result="undetermined", observed=observed, pointers=pointers)


def worst(rulings: Sequence[Ruling]) -> Ruling:
    """The ruling of a check made of several parts: a violation before a doubt before what held; a final violation
    first, since it stays one when the run broke off."""
    return min(rulings, key=lambda ruling: (_SEVERITY[ruling.result], not ruling.final))


_SEVERITY: Mapping[Result, int] = {"violated": 0, "undetermined": 1, "held": 2}
