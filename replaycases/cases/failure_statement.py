"""The failure statement: three named parts, each of which must say something that can be decided.

Only what is empty, too short or a known empty phrase is refused. Words are never asked for: a statement in any
language and script passes if it says as much as three words do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

FEWEST_WORDS = 3
# In scripts without spaces between words, so many letters are taken for one word.
LETTERS_OF_A_WORD = 2

_UNSPACED = re.compile(r"CJK|HIRAGANA|KATAKANA|BOPOMOFO|YI SYLLABLE|THAI|LAO|KHMER|MYANMAR|TIBETAN|JAVANESE|BALINESE")
_REFERENCE = re.compile(r"https?://\S+|#?\d+|[a-z][a-z0-9]*-\d+")
# Words that point somewhere else, words that judge, and words that say nothing by themselves.
_POINTING = "see cf refer ticket incident issue jira slack link above below attached attachment described"
_JUDGING = """
bad wrong incorrect poor terrible awful broken broke failed fails failing unacceptable weird strange odd buggy happened
occurred work works working worked
"""
_EMPTY = """
a an and again all as at be but by details did didn't do does doesn't don't error errors everything for good gave got
had has have here how i in is isn't it it's its just no not nothing of ok on or our please problem properly quite really
reply response right simply so some something still that the their them there these they thing things this to too
totally very was wasn't we went were what which with you agent ai answer answers assistant bot llm model output outputs
result results system n/a na none tbd todo unknown
"""
_POINTS, _JUDGES = frozenset(_POINTING.split()), frozenset(_JUDGING.split())
_SAYS_NOTHING = _POINTS | _JUDGES | frozenset(_EMPTY.split())


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of the statement. `asks` is the question it answers, `example` the form of a good one."""

    name: str
    asks: str
    example: str


PARTS: Mapping[str, Part] = {
    "trigger": Part(
        name="Trigger",
        asks="what happened to the workflow",
        example="The refund lookup timed out after it was sent.",
    ),
    "prohibited_outcome": Part(
        name="Prohibited outcome",
        asks="which claim or effect must never follow",
        example="The reply says that the refund was completed.",
    ),
    "deciding_evidence": Part(
        name="Deciding evidence",
        asks="where one can see that it happened",
        example="The final message, and the recorded error of call 2.",
    ),
}


def faults(trigger: str, prohibited_outcome: str, deciding_evidence: str) -> dict[str, str]:
    """What is missing, by part: a sentence that names it and shows the form of a good one. Empty if nothing is."""
    said = {"trigger": trigger, "prohibited_outcome": prohibited_outcome, "deciding_evidence": deciding_evidence}
    found = {name: _fault(text) for name, text in said.items()}
    return {name: _sentence(PARTS[name], fault) for name, fault in found.items() if fault}


def _sentence(part: Part, fault: str) -> str:
    return f"{part.name}: {fault} Say {part.asks}. For example: “{part.example}”"


def _fault(text: str) -> str:
    words = _words(text)
    if not words:
        return "nothing is said."
    if all(word in _SAYS_NOTHING or _REFERENCE.fullmatch(word) for word in words):
        if any(word in _POINTS or _REFERENCE.fullmatch(word) for word in words):
            return "this only points somewhere else."
        if any(word in _JUDGES for word in words):
            return "this judges and does not say what is meant."
    if _size(words) < FEWEST_WORDS:
        return "this is too short to be decided."
    return ""


def _words(text: str) -> list[str]:
    """What stands between spaces and holds a letter or a digit, without the punctuation around it."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    bare = (re.sub(r"^[^\w#]+|[^\w]+$", "", word) for word in plain.split())
    return [word for word in bare if any(character.isalnum() for character in word)]


def _size(words: list[str]) -> int:
    """How much is said, in words; one that is repeated counts once."""
    size = 0
    for word in dict.fromkeys(words):
        unspaced = sum(bool(_UNSPACED.match(unicodedata.name(letter, ""))) for letter in word)
        size += max(1, unspaced // LETTERS_OF_A_WORD)
    return size
