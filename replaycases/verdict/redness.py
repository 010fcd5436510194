"""Is the old side red by itself, before there is anything to compare it with?"""

from __future__ import annotations

from replaycases.fixture.model import Fixture
from replaycases.verdict import rows
from replaycases.verdict.comparability import Refusal
from replaycases.verdict.labels import Label
from replaycases.verdict.sides import FEWEST_RESULTS, Side, side_of

# What decides on the old side within the verdict's own table, in its order.
_OF_OLD: tuple[rows.Row, ...] = (
    rows.not_comparable,
    rows.environment_unavailable,
    rows.adapter_error,
    rows.stale,
    rows.varied,
    rows.old_undetermined,
    rows.not_reproduced,
    rows.old_compared_nothing,
)


def red(fixture: Fixture, old: Side, refused: list[Refusal]) -> bool | None:
    """True if every boundary check is violated in every run of `old`, by the rule of the verdict itself; False if its
    runs agree on something else; None where that is not decided: too few runs, runs that differ, or one that cannot be
    read. `refused` are the refusals of this side."""
    if len(old.read) < FEWEST_RESULTS:
        return None
    decision = rows.first_of(_OF_OLD, rows.Pair(fixture=fixture, old=old, new=side_of("new", []), refused=(*refused,)))
    if decision is None:
        return True
    return False if decision.label is Label.NOT_REPRODUCED else None
