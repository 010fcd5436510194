"""Secrets by the rules of gitleaks, run on RE2 in windows round the keywords that each rule names."""

from __future__ import annotations

import math
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import ahocorasick  # it ships no types

from replaycases.fixture.patterns import compile_pattern
from replaycases.redaction.detectors.base import Context, Hit
from replaycases.redaction.folding import encodable, folded

BEFORE, AFTER = 160, 1024
"""Characters round a keyword that its rules read."""

LONG = frozenset({"private-key", "kubernetes-secret-yaml"})
"""Rules whose secrets have no bound in length: they read on to the end of the text."""

_ALLOWED = "the rule file allows it"
_PLAIN = "too regular to be a secret"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule: a pattern, the group that holds the secret, and what keeps a match from being one."""

    id: str
    pattern: Any
    group: int | None
    entropy: float
    keywords: tuple[str, ...]
    allowed: tuple[Any, ...] = field(repr=False)
    allowed_matches: tuple[Any, ...] = field(repr=False)
    stopwords: tuple[str, ...] = field(repr=False)

    def hits(self, text: str, start: int, end: int) -> Iterator[Hit]:
        """The rule's hits that lie in `text` between `start` and `end`."""
        for match in self.pattern.finditer(text[start:end]):
            group = self._group(match)
            first, last = match.span(group)
            yield Hit(
                kind="secret",
                detector=f"rule:{self.id}",
                start=start + first,
                end=start + last,
                kept=self._kept(match[0], match[group]),
            )

    def _group(self, match: Any) -> int:
        """The group that holds the secret: the rule's own, else the first that took part, else the whole match."""
        if self.group is not None:
            return self.group
        return next((group for group, text in enumerate(match.groups(), 1) if text), 0)

    def _kept(self, match: str, secret: str) -> str:
        if entropy(secret) < self.entropy:
            return _PLAIN
        if any(pattern.search(secret) for pattern in self.allowed):
            return _ALLOWED
        if any(pattern.search(match) for pattern in self.allowed_matches):
            return _ALLOWED
        lower = secret.lower()
        return _ALLOWED if any(word in lower for word in self.stopwords) else ""


class Rules:
    """The rule file as one detector."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        by_keyword: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            for keyword in rule.keywords:
                by_keyword[keyword].append(rule)
        self._keywords = ahocorasick.Automaton()
        for keyword, named in by_keyword.items():
            self._keywords.add_word(keyword, (len(keyword), tuple(named)))
        self._keywords.make_automaton()

    def hits(self, text: str, context: Context) -> Iterator[Hit]:
        """Hits of every rule one of whose keywords stands in the text."""
        plain = encodable(text)
        windows: dict[str, list[tuple[int, int]]] = {}
        rules: dict[str, Rule] = {}
        for end, (length, named) in self._keywords.iter(folded(text)):
            for rule in named:
                rules[rule.id] = rule
                _widen(windows.setdefault(rule.id, []), end + 1 - length, end + 1, rule, len(text))
        for rule_id, spans in windows.items():
            for start, end in spans:
                yield from rules[rule_id].hits(plain, start, end)


def _widen(spans: list[tuple[int, int]], start: int, end: int, rule: Rule, length: int) -> None:
    start = max(start - BEFORE, 0)
    end = length if rule.id in LONG else min(end + AFTER, length)
    if spans and start <= spans[-1][1]:
        spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
    else:
        spans.append((start, end))


def entropy(text: str) -> float:
    """Shannon's entropy of the characters of `text`, in bits."""
    if not text:
        return 0.0
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


@cache
def gitleaks() -> Rules:
    """The rules that come with the package."""
    data = tomllib.loads(files(__package__).joinpath("gitleaks", "gitleaks.toml").read_text("utf-8"))
    allowed = tuple(compile_pattern(pattern) for pattern in data["allowlist"]["regexes"])
    stopwords = tuple(data["allowlist"]["stopwords"])
    return Rules(_rule(row, allowed, stopwords) for row in data["rules"] if "regex" in row)


def _rule(row: dict[str, Any], allowed: tuple[Any, ...], stopwords: tuple[str, ...]) -> Rule:
    lists = [entry for entry in row.get("allowlists", ()) if "paths" not in entry]
    patterns = {
        target: tuple(
            compile_pattern(pattern)
            for entry in lists
            if entry.get("regexTarget", "secret") == target
            for pattern in entry.get("regexes", ())
        )
        for target in ("secret", "match")
    }
    return Rule(
        id=row["id"],
        pattern=compile_pattern(row["regex"]),
        group=row.get("secretGroup"),
        entropy=row.get("entropy", 0.0),
        keywords=tuple(keyword.lower() for keyword in row["keywords"]),
        allowed=allowed + patterns["secret"],
        allowed_matches=patterns["match"],
        stopwords=stopwords + tuple(word for entry in lists for word in entry.get("stopwords", ())),
    )
