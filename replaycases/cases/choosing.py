"""Choices of a draft, changed part by part: what somebody else chose in the meantime stays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import drafts, outlines, policies
from replaycases.cases.models import Capture, Draft
from replaycases.cases.policies import SeenAnother
from replaycases.importers.outline import StepLine, reach

JSON = Any
STEPS = ("leave_out", "horizon_after", "horizon_at_call")
"""The parts that say which steps go in."""


def seen_of(choices: Mapping[str, JSON], parts: Iterable[str]) -> str:
    """By what these parts are known as they stand; "" where nothing of them was chosen."""
    said = {name: choices[name] for name in parts if choices.get(name) not in (None, "", [], {})}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest() if said else ""


def choose(actor: User, *, capture: Capture, run: int, parts: Mapping[str, JSON], seen: str | None = None) -> Draft:
    """Set these parts of the choices; None, "" and what is empty takes a part away. `seen` is what `seen_of` said of
    them as the actor looked at them: SeenAnother where others stand there by now. Raises as `drafts.save`."""
    with transaction.atomic():
        policies.require_roles_locked(actor, capture.project, *CAPTURES)
        there = _chosen(capture, run)
        if seen is not None and seen != seen_of(there, parts):
            raise SeenAnother(drafts.CHANGED)
        return drafts.save(actor, capture=capture, run=run, choices={**there, **parts})


def change(
    actor: User, *, capture: Capture, run: int, part: str, into: Callable[[JSON], JSON], seen: str | None = None
) -> Draft:
    """Set this part to what `into` makes of it as it stands (None: nothing was chosen), so that of two people who
    change it at once neither undoes the other. Raises as `choose`, and whatever `into` raises."""
    with transaction.atomic():
        policies.require_roles_locked(actor, capture.project, *CAPTURES)
        made = into(_chosen(capture, run).get(part))
        return choose(actor, capture=capture, run=run, parts={part: made}, seen=seen)


def choose_steps(
    actor: User,
    *,
    capture: Capture,
    run: int,
    shown: Collection[int],
    kept: Collection[int],
    ends_after: int | None,
    seen: str | None = None,
) -> Draft:
    """Of the steps `shown` (numbers from 1) only the `kept` ones stay; those not shown stay as they were. The draft
    ends after step `ends_after`, None for where the recording ends, and before the first step that is kept and lacks
    its answer. Raises ValidationError where nothing would be left and for a step that it could not end after, and as
    `choose` and `outlines.of_run`."""
    access.require(actor, capture.project, *CAPTURES)
    steps = outlines.of_run(capture, run).steps
    with transaction.atomic():
        policies.require_roles_locked(actor, capture.project, *CAPTURES)
        before = {number for number in _chosen(capture, run).get("leave_out", ()) if number not in shown}
        out = (before | (set(shown) - set(kept))) & {line.number for line in steps}
        whole = reach(steps, out)
        if ends_after is not None and not 1 <= ends_after <= whole:
            raise ValidationError({"ends_after": _cannot_end(ends_after, whole, len(steps))})
        left = sum(number not in out for number in range(1, (ends_after or whole) + 1))
        if not left:
            raise ValidationError({"keep": "Nothing would be left. Keep the steps that decided the outcome."})
        horizon = left if ends_after is not None else None
        parts = {"leave_out": sorted(out), "horizon_after": horizon, "horizon_at_call": None}
        return choose(actor, capture=capture, run=run, parts=parts, seen=seen)


def _cannot_end(after: int, whole: int, steps: int) -> str:
    if not 1 <= after <= steps:
        return f"There is no step {after} that the draft could end after."
    return f"Step {whole + 1} lacks its answer: leave it out, or the draft ends before it and not after step {after}."


def ends_after(choices: Mapping[str, JSON], steps: Sequence[StepLine]) -> int | None:
    """The step after which the draft ends: its horizon counts the steps that are left, or the tool calls among them,
    and ends just before that call. None where there is none. `steps` are those that the draft can hold."""
    out = set(choices.get("leave_out", ()))
    left = [line for line in steps if line.number not in out]
    after, call = choices.get("horizon_after"), choices.get("horizon_at_call")
    if after is None and call is not None:
        calls = [at for at, line in enumerate(left) if line.boundary == "tool"]
        after = calls[call - 1] if 1 <= call <= len(calls) else None
    return left[after - 1].number if after is not None and 1 <= after <= len(left) else None


def _chosen(capture: Capture, run: int) -> dict[str, JSON]:
    draft = drafts.of_run(capture, run)
    return drafts.choices_of(draft) if draft is not None else {}
