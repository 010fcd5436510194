"""Marking every occurrence of a text in one value of a raw revision: a rule for each, in whatever reading it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from replaycases.accounts.models import User
from replaycases.cases import redaction_rules
from replaycases.cases.models import FixtureRevision, RedactionRule, RuleAction
from replaycases.fixture.pointer import is_pointer, resolve, split
from replaycases.redaction.leaves import text_of
from replaycases.redaction.overlaps import grounds
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.views.tree import read
from replaycases.redaction.views.view import View

MOST_PLACES = 50

Ground = tuple[View, int, int]


def mark_every(
    actor: User,
    *,
    source: FixtureRevision,
    pointer: str,
    in_key: bool,
    text: str,
    kind: Kind,
    reason: str,
    inside_words: bool = False,
) -> list[RedactionRule]:
    """From the next redaction on. Whole words, unless `inside_words`. Raises as `redaction_rules.add`, and
    ValidationError where the value does not hold the text, or too often."""
    raw = redaction_rules.read(actor, source)
    found = places(raw.document, pointer, in_key, text, inside_words=inside_words)
    if not found:
        told = "This value does not hold that text" + ("." if inside_words else " as whole words.")
        raise ValidationError({"text": told})
    if len(found) > MOST_PLACES:
        told = f"It stands at {len(found)} places of this value. Mark a longer text, or the whole value."
        raise ValidationError({"text": told})
    with transaction.atomic():
        return [
            redaction_rules.add(
                actor, source=source, action=RuleAction.MARK, place=place, kind=kind, reason=reason, raw=raw
            )
            for place in found
        ]


def places(document: Any, pointer: str, in_key: bool, text: str, *, inside_words: bool = False) -> list[Place]:
    """Where the text stands in the value or name, in every reading of it; what two readings show of the same characters
    is one place. A text that is JSON is read through its members."""
    if not text or not is_pointer(pointer) or (in_key and not pointer):
        return []
    value = split(pointer)[-1] if in_key else text_of(resolve(document, pointer))
    if value is None:
        return []
    found: list[Place] = []
    taken: list[list[Ground]] = []
    for view in read(value).root.walk():
        if any(child.name.startswith("json") for child in view.children):
            continue
        for start in _starts(view.text, text, inside_words):
            ground = list(grounds(view, start, start + len(text)))
            if not any(_meet(ground, other) for other in taken):
                taken.append(ground)
                end = start + len(text)
                found.append(Place(pointer=pointer, in_key=in_key, path=view.path, start=start, end=end))
    return found


def _starts(text: str, wanted: str, inside_words: bool) -> Iterator[int]:
    at = text.find(wanted)
    while at != -1:
        end = at + len(wanted)
        if inside_words or not (_joins(text, at - 1, at) or _joins(text, end - 1, end)):
            yield at
        at = text.find(wanted, end)


def _joins(text: str, before: int, after: int) -> bool:
    """Whether a word goes on from one character to the next."""
    return before >= 0 and after < len(text) and text[before].isalnum() and text[after].isalnum()


def _meet(one: list[Ground], other: list[Ground]) -> bool:
    """Whether both take the same characters of the innermost text that they were read from together."""
    spans = {view: (start, end) for view, start, end in other}
    for view, start, end in one:
        if view in spans:
            return start < spans[view][1] and spans[view][0] < end
    return False
