"""The first divergence in words, with the place in the table to which it leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.verdict.manifest import Manifest
from replaycases.web import words
from replaycases.web.call_rows import call_name
from replaycases.web.rows import Section

HEADING = 40
KINDS = {
    "unexpected_tool": "another tool is called",
    "arguments": "the arguments differ",
    "extra_call": "a call too many",
    "order": "the calls come in another order",
    "serving": "the model's settings differ",
    "prompt_delta": "the prompt differs",
    "policy": "a policy or template differs",
    "model_exhausted": "more model calls than recorded",
    "retrieval": "the retrieval differs",
    "human": "the question to a person differs",
    "unconsumed": "a recorded call is missing",
    "adapter": "the adapter failed",
    "crash": "the workflow crashed",
}


@dataclass(frozen=True, kw_only=True)
class FirstDivergence:
    """`left` and `right` name what is set against each other: old and new, or the recording and one of them.
    `sides` is None where neither has a value (a crash). `anchor` is the id of the row that shows it; "" without one.
    """

    title: str
    pointer: str
    left: str
    right: str
    sides: tuple[words.Shown, words.Shown] | None
    anchor: str
    message: str
    remedy: str


def first_divergence(
    found: Mapping[str, Any], old: Manifest, new: Manifest, table: Sequence[Section]
) -> FirstDivergence:
    """`found` is the verdict's `first_divergence`; new's own one comes first, then old's, then where the two part."""
    left, right = _against(old, new)
    return FirstDivergence(
        title=_title(found, old, new),
        pointer=found["pointer"],
        left=left,
        right=right,
        sides=_sides(found),
        anchor=_anchor(found, table),
        message=_sentence(found["message"]),
        remedy=_sentence(found["remedy"]),
    )


def _against(old: Manifest, new: Manifest) -> tuple[str, str]:
    if new["first_divergence"] is not None:
        return "recorded", "new"
    return ("recorded", "old") if old["first_divergence"] is not None else ("old", "new")


def _sides(found: Mapping[str, Any]) -> tuple[words.Shown, words.Shown] | None:
    """The value of each side; null and nothing cannot be told apart here, so both read as nothing."""
    texts = words.as_texts(found["expected"], found["actual"])
    if texts == ("null", "null"):
        return None
    return words.differing(*("nothing" if text == "null" else text for text in texts))


def _title(found: Mapping[str, Any], old: Manifest, new: Manifest) -> str:
    what = KINDS.get(found["kind"], str(found["kind"]).replace("_", " "))
    if found["kind"] == "finish":
        return _parted_at_the_end(found, new)
    if found["seq"] is None:
        return what
    tool = _tool(found["seq"], old, new)
    return f"at event {found['seq']}{f' {tool}' if tool else ''}, {what}"


def _parted_at_the_end(found: Mapping[str, Any], new: Manifest) -> str:
    """ "after call 3 refund.lookup, status resolved → unconfirmed"."""
    calls = new["calls"]
    place = f"after call {len(calls)} {call_name(calls[-1])}" if calls else "without a call"
    field = found["pointer"].removeprefix("/outcome/")
    if not field:
        return f"{place}, the reports differ"
    before, after = (_short(found[side]) for side in ("expected", "actual"))
    return f"{place}, {field} {f'{before} → {after}' if before and after else 'differs'}"


def _short(value: Any) -> str:
    """A value that fits into a heading, in words; "" for one that does not."""
    if isinstance(value, list | dict):
        return ""
    text = value if isinstance(value, str) else "nothing" if value is None else words.as_text(value)
    return text if len(text) <= HEADING and text.isprintable() else ""


def _tool(seq: int, *manifests: Manifest) -> str:
    return next((call_name(call) for manifest in manifests for call in manifest["calls"] if call["seq"] == seq), "")


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}." if message and not message.endswith(".") else message


def _anchor(found: Mapping[str, Any], table: Sequence[Section]) -> str:
    rows = [row for section in table for row in section.rows if row.anchor]
    anchors = {row.anchor for row in rows}
    for wanted in _places(found):
        if wanted in anchors:
            return wanted
    unmatched = (row.anchor for row in rows if row.anchor.startswith("step-at-"))
    return next(unmatched, next((row.anchor for row in rows if row.differs), ""))


def _places(found: Mapping[str, Any]) -> Iterator[str]:
    if found["kind"] == "finish":
        yield f"outcome-{found['pointer'].removeprefix('/outcome/').split('/')[0]}"
    elif found["seq"] is not None:
        yield f"step-{found['seq']}"
        yield f"event-{found['seq']}"
