"""The pipeline: find, settle, replace, and look again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from replaycases.redaction.changes import Change, in_order, seams
from replaycases.redaction.chosen import Chosen
from replaycases.redaction.digests import digests
from replaycases.redaction.dropping import Cut, additions, cut, renamed, with_additions
from replaycases.redaction.entities import Entities
from replaycases.redaction.first_look import IN_FRAME, FirstLook, first_look
from replaycases.redaction.leaves import JSON, Address, KeysCollide, changed, leaves
from replaycases.redaction.manual import ManualRule
from replaycases.redaction.placed import unfit
from replaycases.redaction.places import Finding, Kind
from replaycases.redaction.policy import Policy
from replaycases.redaction.relations import Fact, facts, lost
from replaycases.redaction.residual import SecondLook, is_original, second_look
from replaycases.redaction.scan import Source, scan, sources, sources_again
from replaycases.redaction.staying import staying
from replaycases.redaction.structure import Frame
from replaycases.redaction.surrogates.surrogates import NoSurrogate
from replaycases.redaction.views.edits import Edit, applied


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """One value that was replaced at one place, and what stands there now."""

    finding: Finding
    surrogate: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """A redacted document and all that a reviewer has to know of how it came about.

    `open` is what stands in the way of an approval: rules of people that do not fit any more, places that could not be
    read, values in the frame, suggestions, and what the second look at the redacted document found. `kept` are hits
    that were left as they stand, with why. `facts` are the relations of the replaced values with each other and with
    what was found and stays; `lost` those that the redacted document does not show any more, and an approval is
    impossible while there are any. `changes` are the leaves that changed, in the order of the document; `mapping` is
    what stands for what: kind, original, surrogate, "" for a value that people left out.
    """

    document: JSON = field(repr=False)
    replaced: tuple[Replacement, ...]
    kept: tuple[tuple[Finding, str], ...]
    open: tuple[Finding, ...]
    facts: tuple[Fact, ...]
    lost: tuple[Fact, ...]
    changes: tuple[Change, ...] = ()
    mapping: tuple[tuple[Kind, str, str], ...] = field(default=(), repr=False)


def redact(document: JSON, *, policy: Policy, key: bytes, rules: Sequence[ManualRule] = ()) -> Redaction:
    """The document with every value that a detector finds, or a person marked, replaced by its surrogate.

    `key` is 32 random octets that belong to this document's case alone. The same document, policy, key and rules give
    the same result. A rule that does not fit any more, or cannot be carried out, is open. Raises NoSurrogate: then
    nothing was redacted.
    """
    frame = Frame(document)
    out = cut(document, rules, frame)
    first = first_look(document, frame, out, policy=policy, key=key, rules=rules)
    entities = Entities(first.values)
    first.placed.settle(first.values, entities)
    kinds = {entities.kind(value.found) for value in first.values}
    chosen = Chosen(first, entities, key, staying(first, policy, kinds))
    first.placed.choose(first.values, chosen.choose)
    edits = chosen.edits()
    texts = {address: applied(chosen.raw(address), rows) for address, rows in edits.items()}
    for address, old, new in list(digests(document, frame, texts)):
        edits[address] = [Edit(start=0, end=len(old), replacement=new)]
        texts[address] = new
    result = _with(out.document, texts)
    read_again = sources_again(result, first.read)
    said = additions(result, out, frame, lambda rule: _named(rule, texts, first, policy))
    look = second_look(
        [*read_again, *(source for pointer, value in said for source in sources(value, pointer))],
        first.by,
        originals=chosen.originals,
        surrogates=chosen.made,
        policy=policy,
    )
    before = facts(chosen.before())
    unfitting = [unfit(rule) for rule in (*out.unfit, *first.placed.unfit)]
    kept = first.kept()
    return Redaction(
        document=with_additions(result, said),
        replaced=tuple(
            Replacement(finding=finding, surrogate=surrogate)
            for finding, surrogate in zip(chosen.findings, chosen.made, strict=True)
        ),
        kept=tuple(kept),
        open=tuple(_opened([*unfitting, *first.open()], kept, _left(look, first, texts))),
        facts=before,
        lost=lost(before, facts(chosen.after(read_again))),
        changes=_changes(document, out, first, read_again, edits),
        mapping=chosen.mapping(),
    )


def _with(document: JSON, texts: Mapping[Address, str]) -> JSON:
    try:
        return changed(document, texts)
    except KeysCollide:
        raise NoSurrogate("two members of one object would get one name") from None


def _named(rule: ManualRule, texts: Mapping[Address, str], first: FirstLook, policy: Policy) -> str:
    """The pointer of a member that was left out, in the redacted document: that of its object where its name may be a
    value itself."""
    pointer = renamed(rule.place.pointer, texts)
    parent, _, _ = pointer.rpartition("/")
    found = scan(sources({pointer.rpartition("/")[2]: None}, parent), first.by, policy)
    return parent if found.found or found.blind else pointer


def _left(look: SecondLook, first: FirstLook, texts: Mapping[Address, str]) -> list[Finding]:
    """What the second look found, and what people keep though it does not: another name of the member, or a surrogate
    of the same text, takes nothing from what it is."""
    found = [one.finding() for one in look.open()]
    told = {(finding.place.pointer, finding.place.in_key, finding.value) for finding in found}
    kept = [one.finding() for one in first.by_hand if one.hit.certainty != "suggested"]
    return found + [
        finding
        for finding in kept
        if (renamed(finding.place.pointer, texts), finding.place.in_key, finding.value) not in told
    ]


def _opened(
    first: Iterable[Finding], kept: Iterable[tuple[Finding, str]], left: Iterable[Finding]
) -> Iterable[Finding]:
    """What is open, each place once: what the second look finds again was told by the first. What is the frame's own is
    not, unless it is a value that was replaced elsewhere."""
    first = list(dict.fromkeys(first))
    yield from first
    seen = {finding.place for finding in first}
    own = {finding.place for finding, why in kept if why == IN_FRAME}
    for finding in left:
        if finding.place not in seen and (finding.place not in own or is_original(finding)):
            seen.add(finding.place)
            yield finding


def _changes(
    document: JSON, out: Cut, first: FirstLook, read_again: Sequence[Source], edits: Mapping[Address, Sequence[Edit]]
) -> tuple[Change, ...]:
    made = [
        Change(
            pointer=again.leaf.pointer,
            source=source.leaf.pointer,
            in_key=source.leaf.kind == "key",
            seams=seams(edits[source.leaf.address], first.values),
        )
        for source, again in zip(first.read, read_again, strict=True)
        if source.leaf.address in edits
    ]
    dropped = [rule.place.pointer for rule in out.dropped]
    order = {leaf.address: at for at, leaf in enumerate(leaves(document))} if dropped else {}
    return in_order(made, dropped, order)
