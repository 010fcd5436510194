"""What a detector is: it reads one text and names the spans of it that should not leave the project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from replaycases.redaction.places import Certainty, Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """Where a text stands: `keys` are the member names above it, outermost first, those of nested JSON included, and
    `named` is what it is called beside them, as that of a `Leaf`."""

    pointer: str
    keys: tuple[str, ...] = field(default=(), repr=False)
    leaf: Literal["string", "number", "key"] = "string"
    named: str = field(default="", repr=False)

    @property
    def key(self) -> str:
        """The nearest member name, or "" where there is none."""
        return self.keys[-1] if self.keys else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """The span `start` to `end` of the text is a value of this kind.

    `kept` is empty, or says in a few words why the value is left as it stands: a hit is kept back openly and never
    dropped. `detector` is stable and documented.
    """

    kind: Kind
    detector: str
    start: int
    end: int
    certainty: Certainty = "certain"
    kept: str = ""


class Detector(Protocol):
    """Finds values of some kinds. Holds what it compiled, and no state of a document."""

    def hits(self, text: str, context: Context) -> Iterable[Hit]:
        """The hits in `text`, in any order; they may overlap. Time is linear in the text."""
