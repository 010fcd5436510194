"""What stands for each value of one document, and the document with it in place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from replaycases.redaction.entities import Entities, Entity
from replaycases.redaction.first_look import FirstLook
from replaycases.redaction.leaves import Address
from replaycases.redaction.originals import automaton
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.relations import Occurrence
from replaycases.redaction.scan import Detectors, Found, Source
from replaycases.redaction.surrogates.ids import split
from replaycases.redaction.surrogates.surrogates import Surrogates
from replaycases.redaction.views.edits import Edit, settled
from replaycases.redaction.views.view import View

LONGEST_PRESENT = 200
"""Characters of a text that stays up to which a surrogate could be mistaken for it."""

FEW = 8
"""Texts up to which it is quicker to look for one after the other."""

_SCANNED_AS = 'api_key = "{}"'


class Chosen:
    """The surrogates of the values of one document. `entities` are settled before the first surrogate is asked for.
    `staying` are the hits that stay, to which the values have relations too."""

    def __init__(self, first: FirstLook, entities: Entities, key: bytes, staying: Sequence[Found]) -> None:
        values = first.values
        self._values = values
        self._staying = staying
        self._entities = entities
        self.findings = [value.found.finding() for value in values]
        self._replaced = [(entities.kind(value.found), value.found.text) for value in values]
        self._left_out = first.left_out
        self.originals: list[tuple[Kind, str]] = [*self._replaced, *first.left_out]
        self._surrogates = Surrogates(
            key,
            self.originals,
            present={
                view.text
                for source in first.read
                for view in source.reading.root.walk()
                if len(view.text) <= LONGEST_PRESENT
            },
            staying={one.text for one in staying if entities.of_staying(one).kind == "id" and split(one.text)[1]},
            numeric={
                (entity.kind, entity.text)
                for index, value in enumerate(values)
                if value.found.is_number
                for entity in (entities.of(index),)
            },
            is_suspect=lambda kind, text: _is_suspect(kind, text, first.by),
        )
        self._read = {source.leaf.address: source.reading.root for source in first.read}

    def choose(self, index: int, text: str) -> bool:
        """Whether `text` may stand for the entity of this value; then it does."""
        entity = self._entities.choose(index)
        return self._surrogates.choose(entity.kind, entity.text, text, entity.apart)

    @cached_property
    def made(self) -> list[str]:
        """What stands for each value, in their order. Raises NoSurrogate."""
        entities = (self._entities.of(index) for index in range(len(self._values)))
        return [self._surrogates.of(entity.kind, entity.text, entity.apart) for entity in entities]

    def mapping(self) -> tuple[tuple[Kind, str, str], ...]:
        """Kind, original and surrogate, each once; "" for what was left out and stands nowhere else."""
        made = {(*one, surrogate): None for one, surrogate in zip(self._replaced, self.made, strict=True)}
        there = set(self._replaced)
        return (*made, *dict.fromkeys((*one, "") for one in self._left_out if one not in there))

    def edits(self) -> dict[Address, list[Edit]]:
        """What becomes of the raw text of every leaf that changes. An edit is `of` the values that it replaces."""
        edits: dict[Address, list[tuple[View, Edit]]] = defaultdict(list)
        for index, (value, surrogate) in enumerate(zip(self._values, self.made, strict=True)):
            for one in (value.found, *value.covered):
                edit = Edit(start=one.hit.start, end=one.hit.end, replacement=surrogate, of=(index,))
                edits[one.leaf.address].append((one.view, edit))
        return {address: settled(self._read[address], rows) for address, rows in edits.items()}

    def raw(self, address: Address) -> str:
        """The raw text of a leaf."""
        return self._read[address].text

    def before(self) -> list[Occurrence]:
        """The values, as what they are, and after them what stays."""
        return [
            *(self._occurrence(index, value.found.text, named=True) for index, value in enumerate(self._values)),
            *(self._that_stays(one, one.text, named=True) for one in self._staying),
        ]

    def after(self, read_again: Sequence[Source]) -> list[Occurrence]:
        """The same as the redacted document holds them: "" where a surrogate, or what stays, is not to be read.

        The leaves of both documents stand in one order, whatever keys were renamed.
        """
        wanted: dict[Address, set[str]] = defaultdict(set)
        for address, text in self._texts_after():
            wanted[address].add(text)
        held = {
            address: _held(source.reading.root, wanted[address])
            for address, source in zip(self._read, read_again, strict=True)
            if address in wanted
        }
        texts = [text if text in held[address] else "" for address, text in self._texts_after()]
        made, left = texts[: len(self._values)], texts[len(self._values) :]
        return [
            *(self._occurrence(index, text) for index, text in enumerate(made)),
            *(self._that_stays(one, text) for one, text in zip(self._staying, left, strict=True)),
        ]

    def _texts_after(self) -> Iterable[tuple[Address, str]]:
        for value, surrogate in zip(self._values, self.made, strict=True):
            yield value.found.leaf.address, surrogate
        for one in self._staying:
            yield one.leaf.address, one.text

    def _that_stays(self, one: Found, text: str, *, named: bool = False) -> Occurrence:
        return _occurs(self._entities.of_staying(one), one.finding().place, text, named=named, stays=True)

    def _occurrence(self, index: int, text: str, *, named: bool = False) -> Occurrence:
        return _occurs(self._entities.of(index), self.findings[index].place, text, named=named)


def _occurs(entity: Entity, place: Place, text: str, *, named: bool, stays: bool = False) -> Occurrence:
    return Occurrence(
        place=place,
        kind=entity.kind,
        text=text,
        by_hand=entity.by_hand,
        entity=entity.name if named else "",
        stays=stays,
    )


def _held(root: View, texts: set[str]) -> set[str]:
    """Those of the texts that stand in some reading. Linear in the readings, however many texts there are."""
    if len(texts) <= FEW:
        return {text for text in texts if any(text in view.text for view in root.walk())}
    wanted = automaton({text: text for text in texts})
    return {text for view in root.walk() for _, (_, text) in wanted.iter(view.text)}


def _is_suspect(kind: Kind, text: str, by: Detectors) -> bool:
    """Whether the detectors of secrets would take a surrogate for one: it would be blocked wherever the case goes."""
    shown = (text, _SCANNED_AS.format(text)) if kind == "secret" else (text,)
    return any(not hit.kept for one in shown for hit in by.secrets_in(one))
