"""The rows of a table that reads old | what happened | new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from replaycases.web import words

Kind = Literal["equal", "changed", "only_old", "only_new", "ignored", "downstream"]

SIGNS: Mapping[Kind, tuple[str, str]] = {
    "equal": ("=", "equal"),
    "changed": ("~", "changed"),
    "only_old": ("−", "only old"),
    "only_new": ("+", "only new"),
    "ignored": ("·", "ignored"),
    "downstream": ("…", "downstream"),
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One side of a row. `state` is a word with a look of its own (held, violated, true …); `hole` says in words why
    the side has nothing."""

    text: words.Shown | None = None
    state: object = ""
    note: str = ""
    hole: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """`anchor` is the element's id ("step-4"); `always` rows are shown among the differences even if they are equal,
    as `short` where there is one."""

    name: str
    kind: Kind
    old: Cell
    new: Cell
    also: str = ""
    anchor: str = ""
    prose: bool = False
    always: bool = False
    short: Row | None = None

    @property
    def sign(self) -> str:
        return SIGNS[self.kind][0]

    @property
    def word(self) -> str:
        return SIGNS[self.kind][1]

    @property
    def differs(self) -> bool:
        return self.kind in ("changed", "only_old", "only_new")

    @property
    def css(self) -> str:
        quiet = {"ignored": "ign", "downstream": "down"}
        return "chg" if self.differs else quiet.get(self.kind, "")


@dataclass(frozen=True, kw_only=True)
class Section:
    """`hidden` counts the equal rows that `only_differences` left out, `more` those past a page's length."""

    id: str
    title: str
    note: str
    rows: tuple[Row, ...]
    hidden: int = 0
    more: int = 0

    def only_differences(self) -> Section:
        """Without equal rows, and without the ignored fields of calls that are not shown."""
        kept = tuple(row.short or row for row in self.rows if row.differs or row.always)
        return replace(self, rows=kept, hidden=len(self.rows) - len(kept))

    def first(self, count: int) -> Section:
        return replace(self, rows=self.rows[:count], more=max(0, len(self.rows) - count))


def compared(name: str, old: str, new: str, **more: Any) -> Row:
    """A row of two texts, the differing words marked."""
    if old == new:
        text = words.whole(old)
        return Row(name=name, kind="equal", old=Cell(text=text), new=Cell(text=text), **more)
    left, right = words.differing(old, new)
    return Row(name=name, kind="changed", old=Cell(text=left), new=Cell(text=right), **more)
