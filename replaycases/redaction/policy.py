"""A redaction policy as data: what counts as what, and what is done with it.

    {"name": "support", "version": "3",
     "fields": [{"key": "*_name", "kind": "person"}, {"pointer": "/input/notes", "kind": "text"},
                {"key": "sku", "kind": "keep"}],
     "kinds_off": ["organisation"],
     "opaque": {"on": true, "min_length": 20, "min_entropy": 3.5},
     "allowed": ["support@shop.test"],
     "dates": "keep",
     "aliases": "ask"}

Everything but name and version may be left out. `aliases` says whether one word of a name that stands alone is put to
a person or replaced like the name. The policy's digest stands in every approval that was given under it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from typing import Any, Literal, get_args

from replaycases.fixture.canonical import digest
from replaycases.fixture.pointer import is_pointer
from replaycases.redaction.places import Kind

FieldKind = Kind | Literal["keep"]
MOST_FIELDS = 500
MOST_ALLOWED = 5000
NEVER_OFF: frozenset[str] = frozenset({"secret", "blind"})
"""Kinds that no policy lets stand: only two people do, for one place at a time."""

SHOWN = 40
"""Characters of what is no kind that a problem quotes."""

_KINDS: tuple[str, ...] = get_args(Kind)
_OF_FIELDS = (*(kind for kind in _KINDS if kind != "blind"), "keep")
_MAY_BE_OFF = frozenset(_KINDS) - NEVER_OFF
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_NOT_WORD = re.compile(r"[\s.-]+")
_MEMBERS = {"name", "version", "fields", "kinds_off", "opaque", "allowed", "dates", "aliases"}


class PolicyInvalid(ValueError):
    """The policy cannot be used. `problems` are sentences, each of which names its place."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


@dataclass(frozen=True, kw_only=True)
class FieldRule:
    """What the values of a field are: of a `key` (`*` is anything) or at a `pointer` (`*` is any one step)."""

    kind: FieldKind
    key: str = ""
    pointer: str = ""
    pattern: re.Pattern[str] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """How a finding names the rule."""
        return f"field:{self.key or self.pointer}"


@dataclass(frozen=True, kw_only=True)
class Opaque:
    """When a run of characters that means nothing is taken for an identifier."""

    on: bool = True
    min_length: int = 20
    min_entropy: float = 3.5


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A policy that was checked. `digest` identifies its content, whatever it is called."""

    name: str
    version: str
    digest: str
    fields: tuple[FieldRule, ...] = ()
    kinds_off: frozenset[str] = frozenset()
    opaque: Opaque = Opaque()
    allowed: frozenset[str] = field(default=frozenset(), repr=False)
    dates: Literal["keep", "shift"] = "keep"
    aliases: Literal["ask", "replace"] = "ask"


def read_policy(data: Any) -> Policy:
    """The policy in a JSON value. Raises PolicyInvalid with every problem."""
    problems = list(_problems(data))
    if problems:
        raise PolicyInvalid(problems)
    return Policy(
        name=data["name"],
        version=data["version"],
        digest=digest({key: value for key, value in data.items() if key not in ("name", "version")}),
        fields=tuple(_field(row) for row in data.get("fields", ())),
        kinds_off=frozenset(data.get("kinds_off", ())),
        opaque=Opaque(**data.get("opaque", {})),
        allowed=frozenset(text.casefold() for text in data.get("allowed", ())),
        dates=data.get("dates", "keep"),
        aliases=data.get("aliases", "ask"),
    )


def _field(row: Mapping[str, str]) -> FieldRule:
    if "key" in row:
        return FieldRule(kind=_kind(row), key=row["key"], pattern=re.compile(translate(folded_key(row["key"]))))
    steps = (re.escape(step).replace(r"\*", "[^/]*") for step in row["pointer"].split("/"))
    return FieldRule(kind=_kind(row), pointer=row["pointer"], pattern=re.compile("/".join(steps) + r"\Z"))


def _kind(row: Mapping[str, str]) -> FieldKind:
    return row["kind"]  # type: ignore[return-value]


@lru_cache(maxsize=8192)
def folded_key(key: str) -> str:
    """The form in which names of fields are compared: `customerName`, `Customer-Name` and `customer_name` are one."""
    return _NOT_WORD.sub("_", _HUMP.sub(r"\1_\2", key)).casefold()


def _problems(data: Any) -> Iterator[str]:
    if not isinstance(data, dict):
        yield "A policy is a JSON object."
        return
    for member in sorted(data.keys() - _MEMBERS):
        yield f"A policy has no member {member!r}; it has {', '.join(sorted(_MEMBERS))}."
    for member in ("name", "version"):
        if not isinstance(data.get(member), str) or not data[member].strip():
            yield f"/{member} is a text that is not empty."
    yield from _field_problems(data.get("fields", []))
    yield from _off_problems(data)
    yield from _text_list_problems(data, "allowed", MOST_ALLOWED)
    if data.get("dates", "keep") not in ("keep", "shift"):
        yield '/dates is "keep" or "shift".'
    if data.get("aliases", "ask") not in ("ask", "replace"):
        yield '/aliases is "ask" or "replace".'
    yield from _opaque_problems(data.get("opaque", {}))


def _field_problems(rows: Any) -> Iterator[str]:
    if not isinstance(rows, list) or len(rows) > MOST_FIELDS:
        yield f"/fields is a list of at most {MOST_FIELDS} rules."
        return
    for index, row in enumerate(rows):
        place = f"/fields/{index}"
        if not isinstance(row, dict) or set(row) not in ({"key", "kind"}, {"pointer", "kind"}):
            yield f"{place} has a kind and either a key or a pointer, and nothing else."
        elif not all(isinstance(value, str) and value for value in row.values()):
            yield f"{place}: kind, key and pointer are texts that are not empty."
        elif row["kind"] not in _OF_FIELDS:
            yield f"{place}/kind: there is no kind {row['kind'][:SHOWN]!r}; it is one of {', '.join(_OF_FIELDS)}."
        elif "pointer" in row and not is_pointer(row["pointer"]):
            yield f"{place}/pointer is a JSON Pointer such as /input/customer/name, with * for any one step."


def _off_problems(data: Mapping[str, Any]) -> Iterator[str]:
    wrong = list(_text_list_problems(data, "kinds_off", len(_KINDS)))
    yield from wrong
    named = set() if wrong else set(data.get("kinds_off", ()))
    if named & NEVER_OFF:
        yield "/kinds_off: secrets and what could not be read are never switched off."
    for kind in sorted(named - NEVER_OFF - _MAY_BE_OFF):
        yield f"/kinds_off: there is no kind {kind[:SHOWN]!r}; it is of {', '.join(sorted(_MAY_BE_OFF))}."


def _text_list_problems(data: Mapping[str, Any], member: str, most: int) -> Iterator[str]:
    rows = data.get(member, [])
    if not isinstance(rows, list) or len(rows) > most or not all(isinstance(row, str) and row for row in rows):
        yield f"/{member} is a list of at most {most} texts that are not empty."


def _opaque_problems(opaque: Any) -> Iterator[str]:
    if not isinstance(opaque, dict) or opaque.keys() - {"on", "min_length", "min_entropy"}:
        yield "/opaque has on, min_length and min_entropy."
        return
    if not isinstance(opaque.get("on", True), bool):
        yield "/opaque/on is true or false."
    length, bits = opaque.get("min_length", 20), opaque.get("min_entropy", 3.5)
    if isinstance(length, bool) or not isinstance(length, int) or not 12 <= length <= 200:
        yield "/opaque/min_length is a whole number from 12 to 200."
    if isinstance(bits, bool) or not isinstance(bits, int | float) or not 2 <= bits <= 6:
        yield "/opaque/min_entropy is a number of bits from 2 to 6."


BUILT_IN = read_policy({"name": "built-in", "version": "1"})
"""What holds where a project has no policy of its own: every kind on, dates kept."""
