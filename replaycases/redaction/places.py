"""Where something stands in a document, what it is, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "secret",
    "email",
    "phone",
    "card",
    "iban",
    "ssn",
    "ip",
    "person",
    "address",
    "organisation",
    "username",
    "uuid",
    "id",
    "date",
    "url",
    "opaque_id",
    "text",
    "blind",
]
"""What a found value is. `text` is free text that a person marked; `blind` is a place that could not be read: it looks
encoded and does not decode, lies too deep, is too large, or a detector failed on it. A blind place is never passed."""

Certainty = Literal["certain", "likely", "suggested"]
"""`certain` and `likely` are replaced; what is `suggested` is put to the reviewer and left as it stands until then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A span in one decoded view of one string, number or key.

    `pointer` is the JSON Pointer (RFC 6901) of the value, or of the member whose key it is (`in_key`). `path` names
    the decodings that lead from the raw text to the view, outermost first (`("json", "percent")`), and is empty for
    the raw text. `start` and `end` count characters of the view.
    """

    pointer: str
    in_key: bool = False
    path: tuple[str, ...] = ()
    start: int
    end: int

    def __str__(self) -> str:
        where = f"the key at {self.pointer}" if self.in_key else self.pointer or "/"
        through = f" through {', '.join(self.path)}" if self.path else ""
        return f"{where}{through}, characters {self.start} to {self.end}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One value that was found, or a place that could not be read.

    `detector` is stable and documented (`rule:aws-access-token`, `field:*_name`, `personal:card`). `value` is the text
    of the span; it is kept out of every representation, since findings go to logs and reports.
    """

    kind: Kind
    detector: str
    place: Place
    certainty: Certainty
    value: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.kind} of {len(self.value)} characters at {self.place} [{self.detector}]"
