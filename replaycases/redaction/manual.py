"""What a person decided of one place of the source document; rules of one revision, applied by every redaction of it.

    {"id": "…", "action": "mark", "kind": "person", "fits": "…",
     "place": {"pointer": "/input/text", "in_key": false, "path": [], "start": 3, "end": 9}}

A rule holds no value: that it still fits is told by a keyed hash of what stood at its place when it was made.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from replaycases.fixture.pointer import is_pointer, resolve, split
from replaycases.redaction.folding import is_encodable
from replaycases.redaction.leaves import text_of
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.views.tree import read
from replaycases.redaction.views.view import View

Action = Literal["mark", "keep", "join", "split", "surrogate", "drop", "structural"]

LONGEST_SURROGATE = 1000
LONGEST_TEXT = 100_000
"""Characters of any other text of a rule."""

_OF_VALUE = ("mark", "keep", "join", "split", "surrogate")
_MARKED = tuple(kind for kind in get_args(Kind) if kind != "blind")
_MEMBERS = {"id", "action", "place", "fits", "kind", "other", "other_fits", "surrogate", "reason"}
_PLACE = {"pointer", "in_key", "path", "start", "end"}
_DOMAIN = b"replaycases manual rule\0"


@dataclass(frozen=True, kw_only=True)
class ManualRule:
    """One decision. `place` is of the source document; `start` and `end` 0 with no path mean the whole leaf, for `drop`
    the member itself, and `structural` has the place of the whole document.

    `fits` is the `mac` of the value at `place` when the rule was made ("" for `drop` and `structural`), `other_fits`
    that at `other`, which only `join` has. `kind` is what a `mark` says the value is, `surrogate` the chosen text,
    `reason` why a member is dropped or the fixture is structural.
    """

    id: str
    action: Action
    place: Place
    fits: str = ""
    kind: Kind | None = None
    other: Place | None = None
    other_fits: str = ""
    surrogate: str = field(default="", repr=False)
    reason: str = field(default="", repr=False)

    @property
    def detector(self) -> str:
        """How a finding names what this rule found."""
        return f"manual:{self.action}"


class PlaceUnknown(ValueError):
    """The document has nothing at a place. Its text holds no value."""


class ManualRuleInvalid(ValueError):
    """What was given is no rule. `problems` are sentences that quote no value."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


def mac(key: bytes, text: str) -> str:
    """The keyed hash (HMAC-SHA256, hexadecimal) by which a value is known again without being kept."""
    return hmac.new(key, _DOMAIN + text.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()


def value_at(document: Any, place: Place) -> str:
    """The text of the span in the decoded view; of the whole leaf where `start` and `end` are 0 and there is no path.

    Raises PlaceUnknown where the document has no such string, number, key, view or span.
    """
    text = _leaf_text(document, place)
    view = view_at(read(text).root, place.path) if place.path else None
    start, end = span_in(text if view is None else view.text, place)
    return (text if view is None else view.text)[start:end]


def _leaf_text(document: Any, place: Place) -> str:
    if not is_pointer(place.pointer):
        raise PlaceUnknown("the place is no JSON Pointer")
    parent, _, _ = place.pointer.rpartition("/")
    if place.in_key:
        name = split(place.pointer)[-1:]
        holder = resolve(document, parent)
        if not name or not isinstance(holder, dict) or name[0] not in holder:
            raise PlaceUnknown("there is no such member")
        return name[0]
    text = text_of(resolve(document, place.pointer))
    if text is None:
        raise PlaceUnknown("there is no string or number at the place")
    return text


def view_at(root: View, path: tuple[str, ...]) -> View:
    """The view to which `path` leads. Raises PlaceUnknown."""
    view = root
    for name in path:
        found = next((child for child in view.children if child.name == name), None)
        if found is None:
            raise PlaceUnknown("there is no such reading of the text")
        view = found
    return view


def span_in(text: str, place: Place) -> tuple[int, int]:
    """The span of a view's text that the place names. Raises PlaceUnknown."""
    if place.start == place.end == 0 and not place.path:
        return 0, len(text)
    if not 0 <= place.start < place.end <= len(text):
        raise PlaceUnknown("the text has no such span")
    return place.start, place.end


def as_json(rule: ManualRule) -> dict[str, Any]:
    """The rule as `rule_from` reads it."""
    said: dict[str, Any] = {"id": rule.id, "action": rule.action, "place": place_as_json(rule.place)}
    if rule.other is not None:
        said["other"] = place_as_json(rule.other)
    for member in ("fits", "kind", "other_fits", "surrogate", "reason"):
        if getattr(rule, member):
            said[member] = getattr(rule, member)
    return said


def place_as_json(place: Place) -> dict[str, Any]:
    """The place as `place_from` reads it."""
    return {
        "pointer": place.pointer,
        "in_key": place.in_key,
        "path": list(place.path),
        "start": place.start,
        "end": place.end,
    }


def rule_from(data: Any) -> ManualRule:
    """The rule in a JSON value. Raises ManualRuleInvalid with every problem."""
    problems = list(_problems(data))
    if problems:
        raise ManualRuleInvalid(problems)
    other = data.get("other")
    return ManualRule(
        id=data["id"],
        action=data["action"],
        place=place_from(data["place"]),
        fits=data.get("fits", ""),
        kind=data.get("kind"),
        other=None if other is None else place_from(other),
        other_fits=data.get("other_fits", ""),
        surrogate=data.get("surrogate", ""),
        reason=data.get("reason", ""),
    )


def place_from(data: Mapping[str, Any]) -> Place:
    """The place in a JSON value whose form was checked."""
    return Place(
        pointer=data["pointer"],
        in_key=data["in_key"],
        path=tuple(data["path"]),
        start=data["start"],
        end=data["end"],
    )


def _problems(data: Any) -> Iterator[str]:
    if not isinstance(data, dict):
        yield "A rule is a JSON object."
        return
    if data.keys() - _MEMBERS:
        yield f"A rule has no members but {', '.join(sorted(_MEMBERS))}."
    action = data.get("action")
    if action not in get_args(Action):
        yield f"/action is one of {', '.join(get_args(Action))}."
    for member in ("id", "fits", "other_fits", "surrogate", "reason"):
        yield from _text_problems(member, data.get(member, ""))
    if not data.get("id"):
        yield "/id is not empty."
    yield from place_problems(data.get("place"), "/place")
    if data.get("other") is not None:
        yield from place_problems(data["other"], "/other")
    if action in _OF_VALUE and not data.get("fits"):
        yield "/fits is the keyed hash of the value at the place."
    yield from _action_problems(action, data)


def _text_problems(member: str, text: Any) -> Iterator[str]:
    most = LONGEST_SURROGATE if member == "surrogate" else LONGEST_TEXT
    if not isinstance(text, str) or len(text) > most or not is_encodable(text):
        yield f"/{member} is a text of at most {most} characters."


def _action_problems(action: Any, data: Mapping[str, Any]) -> Iterator[str]:
    """Each action has what it needs, and nothing that only another one needs."""
    if (data.get("kind") not in _MARKED) if action == "mark" else (data.get("kind") is not None):
        yield "/kind is what a mark says the value is, and only a mark has one."
    if (action == "join") is not bool(data.get("other") is not None and data.get("other_fits")):
        yield "/other and /other_fits are the second occurrence of a join, and only a join has them."
    if (action == "surrogate") is not bool(data.get("surrogate")):
        yield "/surrogate is the text that a person chose, and only this action has one."
    if action == "structural" and not data.get("reason"):
        yield "/reason says why the fixture is structural."


def place_problems(place: Any, at: str) -> Iterator[str]:
    """What keeps a JSON value from being a place."""
    if not isinstance(place, dict) or set(place) != _PLACE:
        yield f"{at} has {', '.join(sorted(_PLACE))}, and nothing else."
        return
    if not isinstance(place["pointer"], str) or not is_pointer(place["pointer"]):
        yield f"{at}/pointer is a JSON Pointer."
    if not isinstance(place["in_key"], bool):
        yield f"{at}/in_key is true or false."
    if not isinstance(place["path"], list) or not all(isinstance(name, str) for name in place["path"]):
        yield f"{at}/path is a list of the names of readings."
    spans = place["start"], place["end"]
    if not all(type(position) is int and position >= 0 for position in spans) or spans[0] > spans[1]:
        yield f"{at}/start and {at}/end are whole numbers, the start not after the end."
